/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/suite.h"

#include <check.h>
#include <common/base/nearest.h>
#include <string.h>

static const char *nearest(const char *word)
{
	static const char *const names[] = {"read", "readv", "write", "getpid", "getppid", "brk"};
	static struct lz_nearest n;

	n = (struct lz_nearest){.word = word};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		lz_nearest_see(&n, names[i]);
	return n.name;
}

START_TEST(mistakes_are_seen_through)
{
	ck_assert_str_eq(nearest("raed"), "read");
	ck_assert_str_eq(nearest("READ"), "read");
	ck_assert_str_eq(nearest("redv"), "readv");
	ck_assert_str_eq(nearest("writte"), "write");
	ck_assert_str_eq(nearest("wrote"), "write");
	ck_assert_str_eq(nearest("brj"), "brk");
	ck_assert_str_eq(nearest("getpip"), "getpid");
	ck_assert_str_eq(nearest("getppod"), "getppid");
}
END_TEST

START_TEST(others_are_not_guessed)
{
	char word[3 * LZ_NEAREST_NAME];

	ck_assert_str_eq(nearest(""), "");
	ck_assert_str_eq(nearest("br"), "");
	ck_assert_str_eq(nearest("open"), "");
	ck_assert_str_eq(nearest("rite_to"), "");
	memset(word, 'a', sizeof(word) - 1);
	word[sizeof(word) - 1] = 0;
	ck_assert_str_eq(nearest(word), "");
	struct lz_nearest n = {.word = "read"};
	lz_nearest_see(&n, word);
	ck_assert_str_eq(n.name, "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("nearest");
	TCase *t = tcase_create("nearest");

	tcase_add_test(t, mistakes_are_seen_through);
	tcase_add_test(t, others_are_not_guessed);
	suite_add_tcase(s, t);
	return run_suite(s);
}
