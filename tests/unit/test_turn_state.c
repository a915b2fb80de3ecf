/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a thread has of the processor, when the replayed program has exchanged it by itself: the program can
 * write to all of that, and may not have what is everybody's. */
#include "tests/unit/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "replayer/engine/calls.h"

/* Of xsave's standard format, on a processor with protection keys. */
enum { LEGACY = 416, HAD = 512, AVX_AT = 576, AVX_LEN = 256, PKRU_AT = 2688, LEN = 2696 };
enum { X87 = 1, SSE = 2, AVX = 4, PKRU = 1 << 9, ELSE = 1 << 12 };

static struct lz_calls *c;
static uint8_t to[LEN], from[LZ_TURN_XSAVE];

static void put_had(uint8_t *state, uint64_t had)
{
	memcpy(state + HAD, &had, sizeof(had));
}

static uint64_t got_had(void)
{
	uint64_t had;

	memcpy(&had, to + HAD, sizeof(had));
	return had;
}

static void begin(void)
{
	c = calloc(1, sizeof(*c));
	ck_assert(c != NULL);
	c->parts = X87 | SSE | AVX;
	c->part[2] = (struct lz_part){AVX_AT, AVX_LEN};
	memset(to, 0x11, sizeof(to));
	memset(from, 0x99, sizeof(from));
	put_had(to, X87 | PKRU);
}

static void expect_bytes(uint32_t at, uint32_t end, uint8_t what)
{
	for (uint32_t i = at; i < end; i++)
		ck_assert_msg(to[i] == what, "byte %u is %#x", i, to[i]);
}

START_TEST(merged)
{
	put_had(from, UINT64_MAX);
	lz_turns_merge(c, to, LEN, from);
	expect_bytes(0, LEGACY, 0x99);
	expect_bytes(LEGACY, HAD, 0x11);
	expect_bytes(HAD + 8, AVX_AT, 0x11);
	expect_bytes(AVX_AT, AVX_AT + AVX_LEN, 0x99);
	expect_bytes(AVX_AT + AVX_LEN, LEN, 0x11);
	ck_assert_uint_eq(got_had(), X87 | SSE | AVX | PKRU);
}
END_TEST

/* Nothing but a rounding mode differs: the vector registers are there. */
START_TEST(as_they_begin)
{
	put_had(from, PKRU | ELSE);
	lz_turns_merge(c, to, LEN, from);
	ck_assert_uint_eq(got_had(), SSE | PKRU);
	memcpy(from + 24, &(uint32_t){0x1f80}, 4);
	put_had(to, ELSE);
	lz_turns_merge(c, to, LEN, from);
	ck_assert_uint_eq(got_had(), ELSE);
}
END_TEST

/* The kernel's is shorter. */
START_TEST(short_one)
{
	put_had(from, AVX);
	lz_turns_merge(c, to, AVX_AT + AVX_LEN - 1, from);
	expect_bytes(AVX_AT, LEN, 0x11);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("turn_state");
	TCase *t = tcase_create("state");

	tcase_add_checked_fixture(t, begin, NULL);
	tcase_add_test(t, merged);
	tcase_add_test(t, as_they_begin);
	tcase_add_test(t, short_one);
	suite_add_tcase(s, t);
	return run_suite(s);
}
