/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <cmds/base/options.h>
#include <common/base/print.h>

/* Does WORD, with two dashes, abbreviate the name of O? */
static bool may_be(const char *word, const struct option *o)
{
	return strncmp(o->name, word + 2, strcspn(word + 2, "=")) == 0;
}

/* WORD is none of LONGS. */
static void say_wrong(const char *word, const struct option *longs)
{
	int n = 0;

	for (const struct option *o = longs; o->name; o++)
		n += may_be(word, o);
	lz_print(stderr, "%soption '%s'%s", n ? "" : "unrecognized ", word,
	         n > 1 ? " is ambiguous; it may be"
	         : n   ? " takes no argument"
	               : "");
	for (const struct option *o = longs; n > 1 && o->name; o++)
		if (may_be(word, o))
			lz_print(stderr, " --%s", o->name);
	fputc('\n', stderr);
}

/* Of the command that is called NAME. */
static void say_command(const char *name)
{
	lz_print(stderr, "%s%s: ", strstr(name, "lizard") ? "" : "lizard ", name);
}

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
	bool is_long = strncmp(word, "--", 2) == 0;

	letter[1] = (char)optopt;
	say_command(argv[0]);
	if (c == ':')
		lz_print(stderr, "option '%s' requires an argument\n", is_long ? word : letter);
	else if (is_long)
		say_wrong(word, longs);
	else
		lz_print(stderr, "unrecognized option '%s'\n", letter);
	return '?';
}
