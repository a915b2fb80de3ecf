/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard hunt: records a program until a run fails, and keeps that one. */
#include "cmds/hunt.h"
#include "cmds/base/cmds.h"
#include "cmds/base/options.h"
#include "cmds/trace_summary.h"

#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <common/base/shell.h>
#include <common/base/text.h>
#include <errno.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char help[] =
    "usage: lizard hunt [options] [--] PROG [ARGS]\n\n"
    "Records PROG again and again, until a run fails. That recording is kept, the others are\n"
    "removed. The program's input is empty.\n\n"
    "  -n, --runs N           how often at most (100)\n"
    "      --chaos[=SEED]     let threads take turns by chance: each run by another seed, at "
    "random or\n"
    "                         from SEED on\n"
    "      --keep failure|signal\n"
    "                         which runs fail: those with another status than 0 (failure, the\n"
    "                         default), or those that a signal ends\n"
    "      --follow all|parent|PATTERN\n"
    "                         record children too, as lizard-trace does\n"
    "  -o, --output DIR       write the recording to DIR, new or empty\n"
    "      --pack DIR         pack the recording into a file in DIR\n"
    "      --echo             show what the program writes, on standard error\n"
    "      --json             print the result as a JSON object\n"
    "  -q, --quiet            say nothing on standard error\n"
    "  -h, --help             this text\n\n"
    "Exit status: 0 if a run failed; 1 if none did; 2 if used wrongly; 125 if recording failed;\n"
    "128+N if signal N ended the hunt.\n";

enum { NONE_FAILED = 1, USED_WRONGLY = 2, NOT_RECORDED = 125 };

struct options {
	struct lz_hunt hunt;
	bool json, quiet;
};

/* ---- the result ---- */

static int print_json(const struct lz_repeat *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "runs", json_integer((json_int_t)r->runs));
	json_object_set_new(o, "failed", json_boolean(r->failed));
	json_object_set_new(o, "run", r->failed ? json_incref(r->run) : json_null());
	return lz_json_print(o);
}

static void say_failed(const struct lz_repeat *r)
{
	const char *dir = json_string_value(json_object_get(r->run, "recording"));
	const char *pack = json_string_value(json_object_get(r->run, "pack"));
	const json_t *signo = json_object_get(r->run, "signal");
	const json_t *status = json_object_get(r->run, "exit_status");
	const json_t *seed = json_object_get(r->run, "seed");
	lz_auto_free char *word = lz_shell_word(dir ? lz_trace_name(dir) : "");
	char how[LZ_TEXT];
	int end = json_is_integer(signo) ? (int)json_integer_value(signo)
	                                 : W_EXITCODE(json_integer_value(status) & 0xff, 0);

	lz_print(stderr, "lizard: run %lu failed: %s; recorded %s\n", r->runs,
	         lz_text_ending(end, how), dir ? dir : "?");
	if (json_is_integer(seed))
		lz_print(stderr, "lizard: the threads' turns come again with --chaos=%" PRIu64 "\n",
		         (uint64_t)json_integer_value(seed));
	if (pack)
		lz_print(stderr, "lizard: packed %s\n", pack);
	lz_print(stderr, "lizard: next: lizard-gdb %s%s\n", json_is_integer(signo) ? "-e " : "",
	         word ? word : "");
}

static int hunt(struct options *o)
{
	struct lz_repeat *r = &o->hunt.repeat;

	if (lz_hunt(&o->hunt) < 0) {
		const bool has_said = !r->run && r->status && !o->hunt.echo;

		lz_warn("%s%s", lz_error(), has_said ? ": --echo shows what it says" : "");
		return NOT_RECORDED;
	}
	if (r->failed && !o->quiet)
		say_failed(r);
	if (!r->failed && !o->quiet)
		lz_repeat_say_none(r);
	if (o->json && print_json(r) < 0)
		lz_warn("%s", lz_error());
	if (r->signo)
		return 128 + r->signo;
	return r->failed ? 0 : NONE_FAILED;
}

/* ---- the command ---- */

enum { OPT_CHAOS = 256, OPT_KEEP, OPT_FOLLOW, OPT_PACK, OPT_ECHO, OPT_JSON };

static int number(const char *text, const char *what, uint64_t *to)
{
	char *end;

	errno = 0;
	*to = strtoull(text, &end, 10);
	if (!errno && end != text && !*end && *text != '-' && *to && *to <= INT64_MAX)
		return 0;
	lz_warn("%s is a number from 1 up, not '%s'", what, text);
	return -1;
}

static int set_keep(struct lz_hunt *h)
{
	h->keep = optarg;
	if (strcmp(optarg, "failure") == 0 || strcmp(optarg, "signal") == 0)
		return 0;
	lz_warn("--keep is failure or signal, not '%s'", optarg);
	return -1;
}

static int set_option(struct options *o, int c)
{
	struct lz_hunt *h = &o->hunt;
	uint64_t n;

	switch (c) {
	case 'n': return number(optarg, "-n", &n) < 0 ? -1 : (h->repeat.most = n, 0);
	case OPT_CHAOS: h->chaos = true; return optarg ? number(optarg, "--chaos", &h->seed) : 0;
	case OPT_KEEP: return set_keep(h);
	case OPT_FOLLOW: h->follow = optarg; return 0;
	case 'o': h->output = optarg; return 0;
	case OPT_PACK: h->pack = optarg; return 0;
	case OPT_ECHO: h->echo = true; return 0;
	case OPT_JSON: o->json = true; return 0;
	case 'q': o->quiet = true; return 0;
	}
	fputs(help, stderr);
	return -1;
}

int lz_cmd_hunt(int argc, char **argv)
{
	static const struct option options[] = {{"runs", required_argument, NULL, 'n'},
	                                        {"chaos", optional_argument, NULL, OPT_CHAOS},
	                                        {"keep", required_argument, NULL, OPT_KEEP},
	                                        {"follow", required_argument, NULL, OPT_FOLLOW},
	                                        {"output", required_argument, NULL, 'o'},
	                                        {"pack", required_argument, NULL, OPT_PACK},
	                                        {"echo", no_argument, NULL, OPT_ECHO},
	                                        {"json", no_argument, NULL, OPT_JSON},
	                                        {"quiet", no_argument, NULL, 'q'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	struct options o = {.hunt = {.keep = "failure", .repeat.most = 100}};
	int c;

	while ((c = lz_option(argc, argv, "+n:o:qh", options)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (set_option(&o, c) < 0)
			return USED_WRONGLY;
	}
	if (optind == argc) {
		fputs(help, stderr);
		return USED_WRONGLY;
	}
	o.hunt.argv = argv + optind;
	int status = hunt(&o);

	json_decref(o.hunt.repeat.run);
	return lz_finish_output(0) ? NOT_RECORDED : status;
}
