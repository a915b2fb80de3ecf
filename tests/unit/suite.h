/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the main() of every unit test ends with. */
#ifndef LIZARD_TEST_SUITE_H
#define LIZARD_TEST_SUITE_H

#include <check.h>

/* Runs S, says what failed (CK_VERBOSITY for more), and gives the exit status. */
static int run_suite(Suite *s)
{
	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}

#endif
