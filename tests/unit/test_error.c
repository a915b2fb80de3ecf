/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/suite.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>

START_TEST(fail_sets_the_text)
{
	ck_assert_int_eq(lz_fail("file %s: cut at %d", "events", 17), -1);
	ck_assert_str_eq(lz_error(), "file events: cut at 17");
}
END_TEST

START_TEST(errno_is_named)
{
	errno = ENOENT;
	ck_assert_int_eq(lz_fail_errno("open %s", "meta"), -1);
	ck_assert_str_eq(lz_error(), "open meta: No such file or directory");
}
END_TEST

START_TEST(context_goes_before)
{
	lz_fail("bad length");
	ck_assert_int_eq(lz_fail_in("events, frame %d", 3), -1);
	ck_assert_str_eq(lz_error(), "events, frame 3: bad length");
}
END_TEST

START_TEST(terminals_are_not_steered)
{
	lz_fail("cannot open %s", "a\033]0;owned\a \302\2331m \303\251\177\tb\nc");
	ck_assert_str_eq(lz_error(),
	                 "cannot open a\\x1b]0;owned\\x07 \\xc2\\x9b1m \303\251\\x7f\\x09b\nc");
	errno = ENOENT;
	lz_fail_errno("%s", "\b");
	ck_assert_str_eq(lz_error(), "\\x08: No such file or directory");
	lz_fail_in("\r%d", 7);
	ck_assert_str_eq(lz_error(), "\\x0d7: \\x08: No such file or directory");
}
END_TEST

START_TEST(long_ones_are_cut)
{
	char text[5000];

	memset(text, 1, sizeof text - 1);
	text[sizeof text - 1] = 0;
	lz_fail("%s", text);
	ck_assert_uint_gt(strlen(lz_error()), 1000);
	ck_assert_uint_eq(strlen(lz_error()) % 4, 0);
	lz_fail_in("%s", text);
	ck_assert_uint_gt(strlen(lz_error()), 1000);
	ck_assert_uint_lt(strlen(lz_error()), 2048);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("error");
	TCase *t = tcase_create("text");

	tcase_add_test(t, fail_sets_the_text);
	tcase_add_test(t, errno_is_named);
	tcase_add_test(t, context_goes_before);
	tcase_add_test(t, terminals_are_not_steered);
	tcase_add_test(t, long_ones_are_cut);
	suite_add_tcase(s, t);
	return run_suite(s);
}
