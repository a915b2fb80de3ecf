/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where control arrives once between two markers: pieces of machine code. */
#include <common/process/arrive_once.h>

#include "tests/unit/code_at.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <string.h>

static bool once(const uint8_t *bytes, size_t n, size_t at)
{
	struct code c = {bytes, n};

	return lz_arrives_once(read_code, &c, START + at);
}
#define ONCE(code, at) once(code, sizeof(code), at)

#define MARKER 0x41, 0xc6, 0x07, 0x01, 0x66, 0x49, 0x83, 0xc7, 0x01
#define DEC_MEMORY 0x48, 0xff, 0x0f /* decq (%rdi) */
#define NOP 0x90
#define RET 0xc3
#define JMP(by) 0xeb, (uint8_t)(by)
#define JNZ(by) 0x75, (uint8_t)(by)

START_TEST(straight)
{
	const uint8_t to_marker[] = {NOP, NOP, MARKER, JMP(-13)};
	const uint8_t to_return[] = {NOP, 0xe8, 0, 0, 0, 0, RET};
	const uint8_t to_call[] = {NOP, 0x0f, 0x05, JMP(-5)};
	const uint8_t to_table[] = {NOP, 0xff, 0xe0};

	ck_assert(ONCE(to_marker, 0));
	ck_assert(ONCE(to_marker, 1));
	ck_assert(ONCE(to_return, 0));
	ck_assert(ONCE(to_call, 0));
	ck_assert(ONCE(to_table, 0));
}
END_TEST

START_TEST(loops)
{
	/* nop; 1: decq (%rdi); jnz 1b; nop; MARKER */
	const uint8_t loop[] = {NOP, DEC_MEMORY, JNZ(-5), NOP, MARKER};
	const uint8_t itself[] = {JMP(-2)};
	const uint8_t marked[] = {NOP, DEC_MEMORY, MARKER, JNZ(-14), RET};
	/* the way back is behind a jump forward: jnz 2f; RET; 2: jmp START */
	const uint8_t around[] = {NOP, JNZ(1), RET, JMP(-6)};

	ck_assert(ONCE(loop, 0));
	ck_assert(!ONCE(loop, 1));
	ck_assert(!ONCE(loop, 4));
	ck_assert(ONCE(loop, 6));
	ck_assert(!ONCE(itself, 0));
	ck_assert(ONCE(marked, 1));
	ck_assert(!ONCE(around, 0));
	ck_assert(ONCE(around, 3));
}
END_TEST

START_TEST(not_known)
{
	const uint8_t invalid[] = {NOP, 0x06};
	const uint8_t ends[] = {NOP, NOP};
	static uint8_t far[4096];

	ck_assert(!ONCE(invalid, 0));
	ck_assert(!ONCE(ends, 0));
	memset(far, NOP, sizeof(far));
	far[sizeof(far) - 1] = RET;
	ck_assert(!ONCE(far, 0));
	ck_assert(ONCE(far, sizeof(far) - 100));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("arrive_once");
	TCase *c = tcase_create("arrive_once");

	tcase_add_test(c, straight);
	tcase_add_test(c, loops);
	tcase_add_test(c, not_known);
	suite_add_tcase(s, c);
	return run_suite(s);
}
