/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What bs and prev remember: an answer is that of its goal only, and many goals do not make one wrong. */
#include "tests/unit/suite.h"

#include <check.h>
#include <replayer/navigate/result_cache.h>

static const struct lz_pos goal = {7, 1, 20, 300, 0x5555};
static const struct lz_pos to = {7, 2, 19, 290, 0x4444};

START_TEST(nothing_kept)
{
	struct lz_results a = {0};

	ck_assert_ptr_null(lz_results_find(&a, &goal));
	lz_results_free(&a);
}
END_TEST

START_TEST(of_its_goal_only)
{
	struct lz_results a = {0};
	struct lz_pos other[5] = {goal, goal, goal, goal, goal};

	other[0].tid++;
	other[1].n++;
	other[2].event++;
	other[3].marker++;
	other[4].ip++;
	lz_results_keep(&a, &goal, &to);
	ck_assert_ptr_nonnull(lz_results_find(&a, &goal));
	ck_assert_mem_eq(lz_results_find(&a, &goal), &to, sizeof(to));
	for (size_t i = 0; i < 5; i++)
		ck_assert_ptr_null(lz_results_find(&a, &other[i]));
	lz_results_free(&a);
}
END_TEST

START_TEST(many)
{
	struct lz_results a = {0};
	size_t known = 0;

	for (uint64_t i = 0; i < 20 * LZ_RESULTS; i++) {
		struct lz_pos g = {1, 1, i / 50, i, 0x401000 + i % 777}, t = {1, 1, 0, i, 0};

		lz_results_keep(&a, &g, &t);
		ck_assert_uint_eq(lz_results_find(&a, &g)->marker, i);
	}
	for (uint64_t i = 0; i < 20 * LZ_RESULTS; i++) {
		struct lz_pos g = {1, 1, i / 50, i, 0x401000 + i % 777};
		const struct lz_pos *p = lz_results_find(&a, &g);

		if (!p)
			continue;
		ck_assert_uint_eq(p->marker, i);
		known++;
	}
	ck_assert_uint_le(known, LZ_RESULTS);
	ck_assert_uint_gt(known, LZ_RESULTS / 2);
	lz_results_free(&a);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("result_cache");
	TCase *t = tcase_create("result_cache");

	tcase_add_test(t, nothing_kept);
	tcase_add_test(t, of_its_goal_only);
	tcase_add_test(t, many);
	suite_add_tcase(s, t);
	return run_suite(s);
}
