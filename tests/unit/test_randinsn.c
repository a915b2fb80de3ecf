/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rdrand and rdseed as the assembler writes them, with every register in every width. */
#include "tests/unit/suite.h"

#include <check.h>
#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <lizard/randinsn.h>

/* clang-format off */
__asm__(".pushsection .rodata\n"
	".globl rand_code, rand_code_end\n"
	"rand_code:\n"
	".irp insn, rdrand, rdseed\n"
	"	.irp reg, ax, cx, dx, bx, sp, bp, si, di, r8w, r9w, r10w, r11w, r12w, r13w, r14w, r15w\n"
	"		\\insn %\\reg\n"
	"	.endr\n"
	"	.irp reg, eax, ecx, edx, ebx, esp, ebp, esi, edi, r8d, r9d, r10d, r11d, r12d, r13d, r14d, r15d\n"
	"		\\insn %\\reg\n"
	"	.endr\n"
	"	.irp reg, rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15\n"
	"		\\insn %\\reg\n"
	"	.endr\n"
	".endr\n"
	"rand_code_end:\n"
	".popsection\n");
/* clang-format on */
extern const uint8_t rand_code[], rand_code_end[];

START_TEST(test_decode)
{
	const uint8_t *p = rand_code;
	struct lz_rand_insn in;

	for (int i = 0; i < 96; i++, p += in.len) {
		ck_assert(lz_rand_decode(p, (size_t)(rand_code_end - p), false, &in));
		ck_assert_int_eq(in.reg, i % 16);
		ck_assert_int_eq(in.bits, 16 << i / 16 % 3);
		ck_assert_int_eq(in.seed, i >= 48);
		ck_assert_int_eq(p[in.at], LZ_RAND_OPCODE);
		for (size_t len = 0; len < in.len; len++)
			ck_assert(!lz_rand_decode(p, len, false, &in));
		ck_assert(!lz_rand_decode(p, LZ_RAND_MAX, true, &in));
		ck_assert(lz_rand_decode(p, LZ_RAND_MAX, false, &in));
	}
	ck_assert_ptr_eq(p, rand_code_end);
}
END_TEST

START_TEST(test_armed)
{
	size_t len = (size_t)(rand_code_end - rand_code);
	uint8_t *armed = malloc(len), copy[LZ_RAND_MAX];
	FILE *file = tmpfile();
	struct lz_rand_insn in, other;

	ck_assert(armed && file);
	memcpy(armed, rand_code, len);
	for (size_t i = 0; i < len; i += in.len) {
		ck_assert(lz_rand_decode(armed + i, len - i, false, &in));
		armed[i + in.at] = LZ_RAND_ARMED;
		ck_assert(lz_rand_decode(armed + i, len - i, true, &other));
		ck_assert_int_eq(in.reg, other.reg);
		ck_assert_int_eq(in.len, other.len);
	}
	/* What is a move to a debug register in the file, too, stays one. */
	memcpy(copy, rand_code, sizeof(copy));
	ck_assert(lz_rand_decode(copy, sizeof(copy), false, &in));
	copy[in.at] = LZ_RAND_ARMED;
	fwrite(copy, 1, in.len, file);
	fwrite(rand_code + in.len, 1, len - in.len, file);
	fflush(file);
	lz_insn_disarm(armed, len, fileno(file), 0);
	ck_assert_int_eq(memcmp(armed, copy, in.len), 0);
	ck_assert_int_eq(memcmp(armed + in.len, rand_code + in.len, len - in.len), 0);
	fclose(file);
	free(armed);
}
END_TEST

START_TEST(test_cpuid)
{
	/* A clts of the file's, an armed cpuid, one of which only the end was read, an argument. */
	const uint8_t file[] = {0xa2, 0x0f, 0x06, 0x0f, 0xa2, 0xb0, 0xa2},
	              armed[] = {0x06, 0x0f, 0x06, 0x0f, 0x06, 0xb0, 0x06};
	uint8_t code[sizeof(armed)];
	FILE *f = tmpfile();

	ck_assert(f && fwrite(file, sizeof(file), 1, f) == 1 && fflush(f) == 0);
	memcpy(code, armed, sizeof(code));
	ck_assert(lz_insn_maybe_armed(code, sizeof(code)));
	lz_insn_disarm(code, sizeof(code), fileno(f), 0);
	ck_assert_mem_eq(code, file, sizeof(code) - 1);
	ck_assert_uint_eq(code[6], 0x06);
	ck_assert(!lz_insn_maybe_armed(file + 4, 3));
	fclose(f);
}
END_TEST

START_TEST(test_done)
{
	static const struct lz_rand_insn half = {.len = 4, .bits = 16, .reg = 5},
	                                 word = {.len = 3, .bits = 32, .reg = 15};
	struct user_regs_struct r = {
	    .rbp = 0x1111222233334444, .r15 = ~0ULL, .rip = 100, .eflags = 0x8d5};
	unsigned a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_RDRND))
		return;
	lz_rand_do(&half, &r);
	ck_assert_int_eq(r.rbp >> 16, 0x111122223333);
	ck_assert_int_eq(r.rip, 104);
	ck_assert_int_eq(r.eflags & ~1ULL, 0);
	lz_rand_do(&word, &r);
	ck_assert_int_eq(r.r15 >> 32, 0);
	ck_assert_int_eq(r.rip, 107);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("randinsn");
	TCase *t = tcase_create("randinsn");

	tcase_add_test(t, test_decode);
	tcase_add_test(t, test_armed);
	tcase_add_test(t, test_cpuid);
	tcase_add_test(t, test_done);
	suite_add_tcase(s, t);
	return run_suite(s);
}
