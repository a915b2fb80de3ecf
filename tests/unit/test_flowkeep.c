/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which blocks of markers are stored. */
#include "tests/unit/suite.h"

#include <check.h>
#include <common/recording/flowkeep.h>

enum { MIB = 1 << 20, PACKS = 4, NOW = 0 };

/* As if recording had begun so many seconds ago. */
static void begin(struct lz_flow_keep *k, enum lz_flow flow, uint64_t seconds)
{
	lz_flow_keep_begin(k, flow, 1ull << 31);
	k->begun -= seconds * 1000000000;
}

/* MIBS of markers come, by blocks; returns how many of them were stored. */
static unsigned come(struct lz_flow_keep *k, unsigned mibs)
{
	unsigned stored = 0;

	for (unsigned i = 0; i < mibs; i++) {
		if (!lz_flow_keep_stores(k, 0, false)) {
			lz_flow_keep_hashed(k, i, MIB);
			continue;
		}
		lz_flow_keep_stored(k, MIB, MIB / PACKS);
		stored++;
	}
	return stored;
}

/* The same in an interval of so many seconds. */
static unsigned pass(struct lz_flow_keep *k, uint64_t seconds, unsigned mibs)
{
	const unsigned stored = come(k, mibs);

	k->begun -= seconds * 1000000000;
	lz_flow_keep_checkpoint(k);
	return stored;
}

START_TEST(a_short_run_is_stored)
{
	struct lz_flow_keep k;

	begin(&k, LZ_FLOW_AUTO, NOW);
	ck_assert_uint_eq(come(&k, 30), 30);
	ck_assert_uint_eq(k.hashed_from, UINT64_MAX);
}
END_TEST

START_TEST(a_fast_one_is_not)
{
	struct lz_flow_keep k;

	begin(&k, LZ_FLOW_AUTO, NOW);
	come(&k, 400);
	ck_assert_uint_le(k.on_disk, 9 * MIB);
	ck_assert_uint_ne(k.hashed_from, UINT64_MAX);
}
END_TEST

START_TEST(an_interval_is_stored_as_a_whole)
{
	struct lz_flow_keep k;

	begin(&k, LZ_FLOW_AUTO, NOW);
	pass(&k, 1, 400);
	ck_assert_uint_eq(pass(&k, 3, 400), 0); /* 24 MiB may come, 100 would */
	ck_assert_uint_eq(pass(&k, 12, 400), 0);
	ck_assert_uint_eq(come(&k, 760), 760); /* the budget is 136 */
}
END_TEST

START_TEST(a_slow_one_is_stored)
{
	struct lz_flow_keep k;

	begin(&k, LZ_FLOW_AUTO, NOW);
	for (int second = 0; second < 100; second++) {
		ck_assert_uint_eq(pass(&k, 1, 25), 25); /* 6.25 MiB on disk */
	}
}
END_TEST

START_TEST(the_mean_is_bounded)
{
	struct lz_flow_keep k;
	unsigned stored = 0;

	begin(&k, LZ_FLOW_AUTO, NOW);
	for (int second = 0; second < 100; second++) {
		stored += pass(&k, 1, 400); /* 100 MiB on disk */
	}
	ck_assert_uint_le(k.on_disk, (8 + 8 * 100 + 100) * (uint64_t)MIB);
	ck_assert_uint_ge(stored, 5 * 400);
}
END_TEST

START_TEST(what_is_asked_for_counts)
{
	struct lz_flow_keep k;

	begin(&k, LZ_FLOW_FULL, NOW);
	ck_assert_uint_eq(come(&k, 1000), 1000);
	begin(&k, LZ_FLOW_HASH, NOW);
	ck_assert_uint_eq(come(&k, 10), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("flowkeep");
	TCase *t = tcase_create("flowkeep");

	tcase_add_test(t, a_short_run_is_stored);
	tcase_add_test(t, a_fast_one_is_not);
	tcase_add_test(t, an_interval_is_stored_as_a_whole);
	tcase_add_test(t, a_slow_one_is_stored);
	tcase_add_test(t, the_mean_is_bounded);
	tcase_add_test(t, what_is_asked_for_counts);
	suite_add_tcase(s, t);
	return run_suite(s);
}
