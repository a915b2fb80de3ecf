/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>
#include <cmds/options.h>
#include <common/print.h>

int lz_option(int argc, char **argv, const char *letters, const struct option *longs)
{
	const char *order = *letters == '+' ? "+" : "";
	char all[64], letter[3] = "-";

	opterr = 0;
	/* the colon has it tell a missing argument from the rest */
	snprintf(all, sizeof all, "%s:%s", order, letters + strlen(order));
	int c = getopt_long(argc, argv, all, longs, NULL);

	if (c != ':' && c != '?')
		return c;
	const char *word = argv[optind - 1];

	letter[1] = (char)optopt;
	if (strncmp(word, "--", 2) != 0)
		word = letter;
	if (c == ':')
		lz_print(stderr, "%s: option '%s' requires an argument\n", argv[0], word);
	else
		lz_print(stderr, "%s: unrecognized option '%s'\n", argv[0], word);
	return '?';
}
