#include "tests/unit/suite.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
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

int main(void)
{
	Suite *s = suite_create("error");
	TCase *t = tcase_create("text");

	tcase_add_test(t, fail_sets_the_text);
	tcase_add_test(t, errno_is_named);
	tcase_add_test(t, context_goes_before);
	suite_add_tcase(s, t);
	return run_suite(s);
}
