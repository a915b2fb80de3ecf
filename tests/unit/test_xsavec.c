/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The image of an xsavec against the one that the processor makes. */
#include "tests/unit/suite.h"

#include <check.h>
#include <cpuid.h>
#include <string.h>
#include <lizard/randinsn.h>
#include <lizard/xsave_parts.h>
#include <lizard/xsavec.h>

enum { ROOM = 16384, LEGACY = 512, HEADER_END = 576, ALL = 0xe7 /* x87, SSE, AVX, AVX-512 */ };

typedef uint8_t area[ROOM] __attribute__((aligned(64)));

static uint64_t xcr0(void)
{
	uint32_t a, d;

	__asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	return a | (uint64_t)d << 32;
}

static bool has_xsavec(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE &&
	       __get_cpuid_count(0xd, 1, &a, &b, &c, &d) && a & 2;
}

static void where(unsigned i, unsigned *size, unsigned *at)
{
	unsigned c, d;

	*at = i == 0 ? 32 : 160;
	*size = i == 0 ? 128 : 256;
	if (i > 1)
		__get_cpuid_count(0xd, i, size, at, &c, &d);
}

/* Registers as in STATE; what xsavec and xsave make of them. Those of this program come back. */
static void save_both(const uint8_t *state, uint64_t mask, uint8_t *compact, uint8_t *standard)
{
	static area own;

	__asm__ volatile("xsave (%[own])\n"
	                 "xrstor (%[state])\n"
	                 "xsavec (%[compact])\n"
	                 "xsave (%[standard])\n"
	                 "xrstor (%[own])\n"
	                 :
	                 : "a"((uint32_t)mask), "d"((uint32_t)(mask >> 32)), [own] "r"(own),
	                   [state] "r"(state), [compact] "r"(compact), [standard] "r"(standard)
	                 : "memory");
}

/* Components of SET hold something, the others zeroes. All count as in use. */
static void make_state(uint8_t *state, uint64_t mask, uint64_t set)
{
	static const uint16_t fcw = 0x37f;
	static const uint32_t mxcsr = 0x1f80;

	memset(state, 0, ROOM);
	memcpy(state, &fcw, sizeof(fcw));
	state[4] = 0xff; /* all x87 registers are full */
	memcpy(state + 24, &mxcsr, sizeof(mxcsr));
	memcpy(state + LEGACY, &mask, sizeof(mask));
	for (unsigned i = 0; i < 8; i++) {
		unsigned size, at;

		if (!(mask >> i & 1))
			continue;
		where(i, &size, &at);
		for (unsigned k = 0; k < size; k++)
			if (set >> i & 1 && (i || k % 16 < 10))
				state[at + k] = (uint8_t)(17 * i + k % 61 + 1);
	}
}

static bool same_components(const uint8_t *a, const uint8_t *b, uint64_t mask)
{
	for (unsigned i = 0; i < 8; i++) {
		unsigned size, at;

		where(i, &size, &at);
		if (mask >> i & 1 && memcmp(a + at, b + at, size) != 0)
			return false;
	}
	return true;
}

static void check_one(uint64_t mask, uint64_t set)
{
	static area state, compact, standard, image, again, unused;
	struct lz_xsavec_part part[LZ_XSAVEC_PARTS];
	uint64_t x = xcr0(), made[2], wanted[2];

	mask &= x;
	set &= mask;
	make_state(state, mask, set);
	memset(compact, 0, ROOM); /* as its user does */
	memset(standard, 0, ROOM);
	save_both(state, mask, compact, standard);
	memcpy(standard + 464, &x, sizeof(x));
	memcpy(standard + LEGACY, &x, sizeof(x)); /* by chance all of them are in use */

	static uint8_t buf[LZ_XSAVEC_ROOM];
	int n = lz_xsavec_image(standard, ROOM, mask, buf, part);
	ck_assert_int_gt(n, 0);
	memset(image, 0, ROOM);
	for (int i = 1; i < n; i++)
		ck_assert_uint_ge(part[i].at, part[i - 1].at + part[i - 1].len);
	for (int i = 0; i < n; i++)
		memcpy(image + part[i].at, buf + part[i].at, part[i].len);

	memcpy(made, image + LEGACY, sizeof(made));
	memcpy(wanted, compact + LEGACY, sizeof(wanted));
	ck_assert_uint_eq(made[1], wanted[1]);
	ck_assert_uint_eq(made[0] & ~1ULL, set & ~1ULL);
	ck_assert_uint_eq(wanted[0] & set, set);
	/* what holds zeroes was stored by the processor or not: zeroes in either case, but MXCSR; x87's pointers differ */
	memset(image + 6, 0, 26);
	memset(compact + 6, 0, 26);
	ck_assert_mem_eq(image, compact, LEGACY);
	ck_assert_mem_eq(image + HEADER_END, compact + HEADER_END, ROOM - HEADER_END);

	for (int i = 0; i < n; i++)
		memcpy(image + part[i].at, buf + part[i].at, part[i].len);
	memset(again, 0, ROOM);
	save_both(image, mask, unused, again);
	ck_assert(same_components(standard, again, mask));
}

START_TEST(as_the_processor)
{
	if (!has_xsavec())
		return;
	for (uint64_t set = 0; set <= ALL; set++) {
		check_one(ALL & ~1ULL, set);
		check_one(ALL, set | 1);
		check_one(set & ~1ULL, ALL);
	}
}
END_TEST

/* Other flags than at first are in use even if no register is. */
static uint64_t save_over(const uint8_t *state, uint64_t mask, uint8_t fill, uint8_t *compact)
{
	static area standard;
	uint64_t stored;

	memset(compact, fill, ROOM);
	save_both(state, mask, compact, standard);
	memcpy(&stored, compact + LEGACY, sizeof(stored));
	return stored;
}

/* What is told to be stored, and need not be: MXCSR, and what lies between x87's registers of ten bytes. */
static bool may_be_left(unsigned at, uint64_t stored)
{
	return (at >= 24 && at < 32 && !(stored & 2)) || (at >= 32 && at < 160 && at % 16 >= 10);
}

/* What is stored over two patterns is the same in both. */
static void check_parts(uint64_t mask, uint64_t set)
{
	static struct lz_xsave_component component[LZ_XSAVE_COMPONENTS];
	static area state, one, other;
	struct lz_xsavec_part part[LZ_XSAVEC_PARTS];
	uint64_t header[2];

	mask &= xcr0();
	make_state(state, mask, set & mask);
	if (save_over(state, mask, 0x5a, one) != save_over(state, mask, 0xa5, other))
		return; /* by chance */
	memcpy(header, one + LEGACY, sizeof(header));
	lz_xsavec_components(component);
	uint32_t n = lz_xsave_parts(component, header[0], header[1], part), at = 0;
	ck_assert_uint_eq(header[1], mask | 1ULL << 63);
	unsigned wrong = 0;
	for (uint32_t i = 0; i < n; i++) {
		for (; at < part[i].at; at++)
			wrong += one[at] == other[at];
		for (; at < part[i].at + part[i].len; at++)
			wrong += one[at] != other[at] && !may_be_left(at, header[0]);
	}
	for (; at < ROOM; at++)
		wrong += one[at] == other[at];
	ck_assert_msg(!wrong, "%#lx: %u bytes are told wrong", header[0], wrong);
}

START_TEST(parts)
{
	if (!has_xsavec())
		return;
	for (uint64_t set = 0; set <= ALL; set += 3) {
		check_parts(ALL & ~1ULL, set);
		check_parts(ALL, set | 1);
		check_parts(set & ~1ULL, ALL);
	}
}
END_TEST

START_TEST(flags)
{
	static area xstate;
	static uint8_t image[LZ_XSAVEC_ROOM];
	struct lz_xsavec_part part[LZ_XSAVEC_PARTS];
	uint64_t x = 3, in_use;
	uint32_t mxcsr = 0x1f80;

	for (int other = 0; other < 2; other++, mxcsr ^= 0x8000) {
		memset(xstate, 0, sizeof(xstate));
		memcpy(xstate + 464, &x, sizeof(x));
		memcpy(xstate + 24, &mxcsr, sizeof(mxcsr));
		ck_assert_int_eq(lz_xsavec_image(xstate, LEGACY + 64, 2, image, part),
		                 other ? 3 : 1);
		memcpy(&in_use, image + LEGACY, sizeof(in_use));
		ck_assert_uint_eq(in_use, other ? 2 : 0);
	}
}
END_TEST

START_TEST(instructions)
{
	static const uint8_t near[] = {0x0f, 0xc7, 0x64, 0x24, 0xc0},
	                     far[] = {0x0f, 0xc7, 0xa4, 0x24, 0x40, 0x01, 0, 0},
	                     other[] = {0x0f, 0xc7, 0x67, 0x24, 0x40},
	                     wide[] = {0x48, 0x0f, 0xc7, 0x64, 0x24, 0x40};
	const struct user_regs_struct r = {.rsp = 0x1000, .rax = ~0ULL, .rdx = 1ULL << 32 | 2};
	struct lz_xsavec in;
	uint8_t armed[sizeof(near)];

	ck_assert(lz_xsavec_decode(near, sizeof(near), false, &in));
	ck_assert_uint_eq(in.len, 5);
	ck_assert_uint_eq(lz_xsavec_addr(&in, &r), 0x1000 - 0x40);
	ck_assert(lz_xsavec_decode(far, sizeof(far), false, &in));
	ck_assert_uint_eq(in.len, 8);
	ck_assert_uint_eq(lz_xsavec_addr(&in, &r), 0x1140);
	ck_assert_uint_eq(lz_xsavec_mask(&r), 0x2ffffffffULL);
	ck_assert(!lz_xsavec_decode(near, 4, false, &in));
	ck_assert(!lz_xsavec_decode(far, 7, false, &in));
	ck_assert(!lz_xsavec_decode(other, sizeof(other), false, &in));
	ck_assert(!lz_xsavec_decode(wide, sizeof(wide), false, &in));
	memcpy(armed, near, sizeof(near));
	ck_assert(!lz_xsavec_decode(armed, sizeof(armed), true, &in));
	armed[in.at] = LZ_RAND_ARMED;
	ck_assert(lz_xsavec_decode(armed, sizeof(armed), true, &in));
	ck_assert(!lz_xsavec_decode(armed, sizeof(armed), false, &in));
}
END_TEST

START_TEST(nonsense)
{
	static uint8_t xstate[HEADER_END], image[LZ_XSAVEC_ROOM];
	struct lz_xsavec_part part[LZ_XSAVEC_PARTS];

	ck_assert_int_eq(lz_xsavec_image(xstate, HEADER_END - 1, 0xee, image, part), -1);
	memset(xstate, 0xff, sizeof(xstate));
	ck_assert_int_eq(lz_xsavec_image(xstate, sizeof(xstate), ~0ULL, image, part), -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("xsavec");
	TCase *t = tcase_create("xsavec");

	tcase_add_test(t, as_the_processor);
	tcase_add_test(t, parts);
	tcase_add_test(t, flags);
	tcase_add_test(t, instructions);
	tcase_add_test(t, nonsense);
	suite_add_tcase(s, t);
	return run_suite(s);
}
