/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where r15 is the marker pointer: pieces of machine code. */
#include <common/process/pointer_here.h>

#include "tests/unit/code_at.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <string.h>

static bool here(const uint8_t *bytes, size_t n, size_t at)
{
	struct code c = {bytes, n};

	return lz_pointer_here(read_code, &c, START + at);
}
#define HERE(code, at) here(code, sizeof(code), at)

#define PAYLOAD 0x41, 0xc7, 0x47, 0x01, 0x05, 0, 0, 0 /* movl $5, 1(%r15) */
#define STORE 0x41, 0xc6, 0x07, 0xf2
#define NARROW 0x66, 0x41, 0x83, 0xc7, 0x05
#define WIDE 0x66, 0x49, 0x83, 0xc7, 0x05
#define NOP 0x90
#define RET 0xc3
#define CALL 0xe8, 0, 0, 0, 0
#define JMP(by) 0xeb, (uint8_t)(by)
#define JNZ(by) 0x75, (uint8_t)(by)
#define POP_R15 0x41, 0x5f
#define LOAD 0x64, 0x4c, 0x8b, 0x3c, 0x25, 0xf8, 0xff, 0xff, 0xff /* mov %fs:-8, %r15 */
#define INC_R15D 0x41, 0xff, 0xc7
#define USE 0x4c, 0x89, 0xf8 /* mov %r15, %rax */

START_TEST(to_a_marker)
{
	const uint8_t straight[] = {NOP, USE, PAYLOAD, STORE, WIDE};
	const uint8_t branches[] = {NOP, JNZ(1), NOP, JMP(1), RET, STORE, NARROW};
	/* a loop whose marker is behind the jump back, and no marker behind the loop */
	const uint8_t back[] = {STORE, WIDE, NOP, JNZ(-12), NOP, RET};

	ck_assert(HERE(straight, 0));
	ck_assert(HERE(straight, 1));
	ck_assert(HERE(straight, 4));
	ck_assert(HERE(straight, 12));
	ck_assert(HERE(branches, 0));
	ck_assert(HERE(branches, 1));
	ck_assert(HERE(branches, 4));
	ck_assert(!HERE(branches, 6));
	ck_assert(HERE(back, 9));
	ck_assert(HERE(back, 10));
	ck_assert(!HERE(back, 12));
}
END_TEST

START_TEST(in_a_marker)
{
	const uint8_t narrow[] = {STORE, NARROW, RET}, wide[] = {STORE, WIDE, RET};
	const uint8_t later[] = {NOP, WIDE, STORE};

	ck_assert(HERE(narrow, 4));
	ck_assert(HERE(wide, 4));
	ck_assert(!HERE(wide, 9));
	ck_assert(!HERE(later, 0));
}
END_TEST

START_TEST(loaded_before)
{
	const uint8_t load[] = {NOP, LOAD, STORE, WIDE};
	const uint8_t pop[] = {NOP, POP_R15, STORE, WIDE};
	const uint8_t half[] = {NOP, INC_R15D, STORE, WIDE};
	const uint8_t call[] = {NOP, CALL, STORE, WIDE};

	ck_assert(!HERE(load, 0));
	ck_assert(HERE(load, 10));
	ck_assert(!HERE(pop, 0));
	ck_assert(!HERE(half, 0));
	ck_assert(!HERE(call, 0));
	ck_assert(HERE(call, 6));
}
END_TEST

START_TEST(not_known)
{
	const uint8_t invalid[] = {NOP, 0x06, STORE};
	const uint8_t itself[] = {JMP(-2), STORE};
	const uint8_t table[] = {NOP, 0xff, 0xe0, STORE};
	const uint8_t ends[] = {NOP};

	ck_assert(!HERE(invalid, 0));
	ck_assert(!HERE(itself, 0));
	ck_assert(!HERE(table, 0));
	ck_assert(!HERE(ends, 0));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pointer_here");
	TCase *c = tcase_create("pointer_here");

	tcase_add_test(c, to_a_marker);
	tcase_add_test(c, in_a_marker);
	tcase_add_test(c, loaded_before);
	tcase_add_test(c, not_known);
	suite_add_tcase(s, c);
	return run_suite(s);
}
