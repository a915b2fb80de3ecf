/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What GDB's `skip` names, compared as GDB does. */
#include "tests/unit/suite.h"
#include "replayer/program/skips.h"

#include <stdio.h>
#include <string.h>

/* The entry's words with hexadecimal patterns. */
static struct lz_skips *made(const char *files, const char *file, const char *functions,
                             const char *function)
{
	char text[400];
	size_t n = (size_t)snprintf(text, sizeof(text), "%s:", files);

	for (; *file; file++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%02x", (unsigned char)*file);
	n += (size_t)snprintf(text + n, sizeof(text) - n, ":%s:", functions);
	for (; *function; function++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%02x", (unsigned char)*function);
	return lz_skips_new(text);
}

static bool skips(const char *files, const char *file, const char *functions, const char *function,
                  const char *name, const char *path)
{
	struct lz_skips *s = made(files, file, functions, function);

	ck_assert_ptr_nonnull(s);
	const bool has = lz_skips_has(s, name, path);
	lz_skips_free(s);
	return has;
}

START_TEST(functions_are_compared)
{
	ck_assert(skips("file", "", "function", "f", "f", NULL));
	ck_assert(!skips("file", "", "function", "f", "ff", NULL));
	ck_assert(!skips("file", "", "function", "ff", "f", NULL));
	ck_assert(skips("file", "", "function", "a::f", "a::f(int)", NULL));
	ck_assert(skips("file", "", "function", "a::f( int )", "a::f(int)", NULL));
	ck_assert(!skips("file", "", "function", "a::f(long)", "a::f(int)", NULL));
	ck_assert(skips("file", "", "regexp", "^std::(vector|map)<.*>::operator.]",
	                "std::vector<int, std::allocator<int> >::operator[](unsigned long)", NULL));
	ck_assert(!skips("file", "", "regexp", "^vector", "std::vector<int>::size()", NULL));
}
END_TEST

START_TEST(files_are_compared)
{
	ck_assert(skips("file", "b.c", "function", "", "f", "/a/b.c"));
	ck_assert(!skips("file", "b.c", "function", "", "f", "/a/bb.c"));
	ck_assert(skips("file", "a/b.c", "function", "", "f", "/x/a/b.c"));
	ck_assert(skips("glob", "*.h", "function", "", "f", "/usr/include/b.h"));
	ck_assert(!skips("glob", "*.h", "function", "", "f", "/usr/include/b.c"));
	ck_assert(skips("glob", "/usr/*/b.h", "function", "", "f", "/usr/include/b.h"));
	ck_assert(!skips("glob", "/usr/*", "function", "", "f", "/usr/include/b.h"));
	ck_assert(!skips("file", "b.c", "function", "", "f", NULL));
}
END_TEST

START_TEST(both_must_fit)
{
	ck_assert(skips("file", "b.c", "function", "f", "f", "/a/b.c"));
	ck_assert(!skips("file", "b.c", "function", "f", "g", "/a/b.c"));
	ck_assert(!skips("file", "b.c", "function", "f", "f", "/a/c.c"));
}
END_TEST

START_TEST(nonsense_is_refused)
{
	static const char *const texts[] = {"x",
	                                    "file",
	                                    "file:",
	                                    "file:61",
	                                    "file:61:function",
	                                    "file:6:function:61",
	                                    "file:zz:function:",
	                                    "file:00:function:",
	                                    "file::regexp:28",
	                                    "file::function:61x",
	                                    "file::function:61 glob"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		ck_assert_msg(!lz_skips_new(texts[i]), "%s is taken", texts[i]);
	struct lz_skips *s = lz_skips_new(" file::function:61  glob:2a:regexp:62 ");
	ck_assert_ptr_nonnull(s);
	ck_assert(lz_skips_has(s, "a", NULL));
	ck_assert(lz_skips_has(s, "bb", "c"));
	ck_assert(!lz_skips_has(s, "bb", NULL));
	lz_skips_free(s);
}
END_TEST

START_TEST(each_list_has_its_number)
{
	struct lz_skips *a = lz_skips_new("file::function:61"),
	                *b = lz_skips_new("file::function:61");

	ck_assert_uint_ne(lz_skips_number(a), 0);
	ck_assert_uint_ne(lz_skips_number(a), lz_skips_number(b));
	ck_assert_uint_eq(lz_skips_number(NULL), 0);
	ck_assert(lz_skips_is(a, "file::function:61"));
	ck_assert(!lz_skips_is(a, "file::function:62"));
	ck_assert(!lz_skips_is(NULL, ""));
	lz_skips_free(a);
	lz_skips_free(b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("skips");
	TCase *t = tcase_create("skips");

	tcase_add_test(t, functions_are_compared);
	tcase_add_test(t, files_are_compared);
	tcase_add_test(t, both_must_fit);
	tcase_add_test(t, nonsense_is_refused);
	tcase_add_test(t, each_list_has_its_number);
	suite_add_tcase(s, t);
	return run_suite(s);
}
