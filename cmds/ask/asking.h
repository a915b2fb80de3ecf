/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the commands have in common that ask a recording about its control flow. */
#ifndef LIZARD_CMDS_ASKING_H
#define LIZARD_CMDS_ASKING_H

#include <cmds/base/options.h>
#include <regex.h>
#include <replayer/answers/asked.h>
#include <stdio.h>

struct lz_asking {
	struct lz_asked asked;
	bool json;
	const char *process, *thread, *from, *to; /* as they were given, or NULL */
};

/* Rows of a table of long options, and the letters, that all of them take. */
#define LZ_ASKING_OPTIONS                                                                          \
	{"help", no_argument, NULL, 'h'}, {"process", required_argument, NULL, 'p'},               \
	    {"thread", required_argument, NULL, 't'}, {"from", required_argument, NULL, 'F'},      \
	    {"to", required_argument, NULL, 'T'},                                                  \
	{                                                                                          \
		"json", no_argument, NULL, 'J'                                                     \
	}
#define LZ_ASKING_LETTERS "hp:t:"
/* What --help says of them. */
#define LZ_ASKING_HELP                                                                             \
	"  -p, --process PID|NAME  of this process (`lizard ps` shows them)\n"                     \
	"  -t, --thread TID        of this thread only\n"                                          \
	"      --from POS          from this instant on: start, 25%%, THREAD:MARKER, or what\n"    \
	"                          `when` prints\n"                                                \
	"      --to POS            up to this instant\n"                                           \
	"      --json              one JSON object a line\n"

/* What a command has of its own. */
struct lz_asking_command {
	void (*usage)(FILE *to);
	const char *letters; /* all of them: LZ_ASKING_LETTERS and more */
	const struct option *longs;
	/* 0; -1: its argument is not right, lz_error() says why; 1: it has no such option. NULL:
	 * it has none. */
	int (*option)(void *arg, int opt);
	void *arg;
	/* Of one that lz_asking_main() runs. May it have these options and N words? */
	bool (*usable)(const void *arg, int n);
	/* Answers. WORDS are those behind the recording, NULL-terminated. 0; -1: lz_error(). */
	int (*ask)(void *arg, char **words);
	/* NULL, or answers where no function that the words name ever ran. 1: ask() has to. */
	int (*none)(void *arg);
};
/* Takes the options, opens the recording, which is the first word, and has the command answer. The
 * exit status. */
int lz_asking_main(struct lz_asking *a, int argc, char **argv, const struct lz_asking_command *c);
/* Takes all options. -1: go on; else the exit status. */
int lz_asking_options(struct lz_asking *a, int argc, char **argv,
                      const struct lz_asking_command *c);
/* Is there nothing but a recording? */
bool lz_asking_alone(const void *arg, int n);
/* Opens what the user calls RECORDING, and the piece that the options name. */
int lz_asking_open(struct lz_asking *a, const char *recording);
/* Has FN write into the file PATH (-: to stdout). */
int lz_asking_write(const char *path, int (*fn)(void *arg, FILE *to), void *arg);
/* What the answer calls a function: in JSON the linker's name, else what people write. */
const char *lz_asking_name(const struct lz_asking *a, uint32_t fn);
/* Says what the answer leaves out. */
void lz_asking_tell_missing(const struct lz_asking *a);
/* The exit status: STATUS, or 1 if something is missing, which is said. Closes it. */
int lz_asking_finish(struct lz_asking *a, int status);

/* The extended regular expression given to the present option: compiled into *TO, which had one before
 * if it is not the first one, *GIVEN. 0, or -1: it is none, which is said. */
int lz_asking_pattern(regex_t *to, bool *given);
/* A number given to an option; -1: it is none, which is said. */
int lz_asking_number(const char *option, const char *text, uint64_t *n);

#endif
