/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of C++ functions, made readable; hostile ones are left as they are. */
#include "tests/unit/suite.h"
#include "replayer/program/cxx_names.h"

#include <common/base/cleanup.h>
#include <stdio.h>
#include <string.h>

START_TEST(names_are_made_readable)
{
	lz_auto_free char *name = lz_cxx_demangled("_Z4mostIiET_S0_S0_");

	ck_assert_str_eq(name, "int most<int>(int, int)");
	lz_cxx_shorten(name);
	ck_assert_str_eq(name, "most<int>");
	ck_assert_ptr_null(lz_cxx_demangled("main"));
	ck_assert_ptr_null(lz_cxx_demangled("_Znonsense"));
}
END_TEST

/* Each part takes a pointer to a function of two of the part before: twice as long with each. */
static void double_often(char *name, size_t room, unsigned parts)
{
	static const char digit[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t n = (size_t)snprintf(name, room, "_Z1fPFvvE");

	for (unsigned i = 0; i < parts; i++) {
		char part[8] = {digit[2 * i % 36]};

		if (2 * i >= 36)
			snprintf(part, sizeof(part), "%c%c", digit[2 * i / 36], digit[2 * i % 36]);
		n += (size_t)snprintf(name + n, room - n, "PFvS%s_S%s_E", part, part);
	}
}

START_TEST(a_name_that_doubles_is_left)
{
	char text[600];

	double_often(text, sizeof(text), 5);
	lz_auto_free char *some = lz_cxx_demangled(text);
	ck_assert_ptr_nonnull(some);
	ck_assert_uint_gt(strlen(some), 1000);
	/* 45,000 bytes */
	double_often(text, sizeof(text), 10);
	ck_assert_ptr_null(lz_cxx_demangled(text));
	/* eleven megabytes; twenty parts more would be a million times as long */
	double_often(text, sizeof(text), 18);
	ck_assert_ptr_null(lz_cxx_demangled(text));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cxx_names");
	TCase *t = tcase_create("cxx_names");

	tcase_add_test(t, names_are_made_readable);
	tcase_add_test(t, a_name_that_doubles_is_left);
	suite_add_tcase(s, t);
	return run_suite(s);
}
