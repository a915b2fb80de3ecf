/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard calls: the calls of a function, read from the recorded control flow. */
#include <cmds/ask/calls_list.h>
#include <cmds/base/cmds.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <replayer/answers/activations.h>
#include <replayer/answers/function_names.h>
#include <replayer/answers/tally.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *to)
{
	fprintf(
	    to,
	    "usage: lizard calls [options] RECORDING FUNCTION...\n\n"
	    "Lists each call of FUNCTION: number, thread, caller, depth, from, to, length in\n"
	    "bytes of markers, and how it ended. Nothing is run: the answer is read from the\n"
	    "recorded control flow. `jump_forward FROM` in lizard-gdb goes there.\n\n"
	    "  -c, --count             print their number only\n"
	    "      --by caller|thread  print the number for each of these\n"
	    "      --longest N         the N longest ones, longest first\n"
	    "      --limit N           at most N lines (default: all)\n"
	    "      --at POS            those that run at this instant\n"
	    "      --args              with arguments and what is returned, as GDB prints them:\n"
	    "                          it goes to each call and reads them, some milliseconds "
	    "each\n"
	    "      --names             the functions that there are, instead of "
	    "calls\n" LZ_ASKING_HELP);
}

struct wishes {
	struct lz_calls_list list;
	bool count, names;
	const char *by, *at;
};

/* ---- numbers ---- */

struct counting {
	struct wishes *w;
	struct lz_tally by;
};

static int count_one(void *arg, const struct lz_activation *one)
{
	struct counting *c = arg;

	return lz_tally_add(&c->by, strcmp(c->w->by, "caller") ? one->thread : one->caller, 1);
}

static int print_share(struct counting *c, const struct lz_tally_row *row)
{
	const struct lz_asked *a = &c->w->list.asking.asked;
	const bool by_caller = !strcmp(c->w->by, "caller");
	const uint32_t key = (uint32_t)row->key;

	if (c->w->list.asking.json) {
		json_t *o = json_object();
		json_object_set_new(o, c->w->by,
		                    by_caller ? lz_json_text(lz_asked_name(a, key))
		                              : json_integer(lz_asked_tid(a, key)));
		json_object_set_new(o, "calls", json_integer((json_int_t)row->n));
		return lz_json_print(o);
	}
	if (by_caller)
		lz_print(stdout, "%12" PRIu64 "  %s\n", row->n, lz_asked_short_name(a, key));
	else
		printf("%12" PRIu64 "  thread %u\n", row->n, lz_asked_tid(a, key));
	return 0;
}

static int print_number(const struct wishes *w, uint64_t n)
{
	if (!w->list.asking.json) {
		printf("%" PRIu64 "\n", n);
		return 0;
	}
	json_t *o = json_object();
	json_object_set_new(o, "calls", json_integer((json_int_t)n));
	return lz_json_print(o);
}

static int count(struct wishes *w, const uint8_t *wanted)
{
	struct lz_asked *a = &w->list.asking.asked;
	uint64_t n;

	return lz_activations_count(a, wanted, &n) < 0 ? -1 : print_number(w, n);
}

static int count_none(void *arg)
{
	const struct wishes *w = arg;

	return w->count && !w->by ? print_number(w, 0) : 1;
}

static int count_shares(struct wishes *w, const uint8_t *wanted)
{
	struct counting c = {.w = w};
	int rc = lz_activations_begun(&w->list.asking.asked, wanted, count_one, &c);

	lz_tally_sort(&c.by);
	for (size_t i = 0; rc == 0 && i < c.by.n; i++)
		rc = print_share(&c, &c.by.v[i]);
	lz_tally_free(&c.by);
	return rc;
}

/* ---- names ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int print_name(const struct wishes *w, const char *name)
{
	if (w->list.asking.json)
		return lz_json_print(json_pack("{so}", "function", lz_json_text(name)));
	lz_print(stdout, "%s\n", name);
	return 0;
}

/* Each once: it may be in several files, and a file in several places. */
static int print_names(const struct wishes *w)
{
	const struct lz_asked *a = &w->list.asking.asked;
	const size_t n = lz_stream_n_fns(a->stream);
	const char **names = calloc(n + 1, sizeof(*names));
	int rc = 0;

	if (!names)
		return lz_fail("out of memory for %zu functions", n);
	for (size_t i = 0; i < n; i++)
		names[i] = lz_asking_name(&w->list.asking, (uint32_t)i);
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; rc == 0 && i < n; i++)
		if (!i || strcmp(names[i], names[i - 1]) != 0)
			rc = print_name(w, names[i]);
	free(names);
	return rc;
}

/* ---- the question ---- */

static int ask(void *arg, char **names)
{
	struct wishes *w = arg;
	struct lz_asked *a = &w->list.asking.asked;
	uint8_t *wanted = NULL;
	int rc = w->at ? lz_asked_offset(a, w->at, &w->list.at) : 0;

	if (w->names)
		return print_names(w);

	for (; rc == 0 && *names; names++)
		rc = lz_functions_named(a, *names, &wanted);
	if (rc == 0)
		rc = w->by      ? count_shares(w, wanted)
		     : w->count ? count(w, wanted)
		                : lz_calls_list(&w->list, wanted);
	free(wanted);
	return rc;
}

/* ---- the options ---- */

static int parse_option(void *arg, int opt)
{
	struct wishes *w = arg;

	switch (opt) {
	case 'c': w->count = true; return 0;
	case 'B':
		w->by = optarg;
		return !strcmp(optarg, "caller") || !strcmp(optarg, "thread")
		           ? 0
		           : lz_fail("--by takes caller or thread, not `%s`", optarg);
	case 'L':
		if (lz_asking_number("--longest", optarg, &w->list.longest) < 0)
			return -1;
		return w->list.longest ? 0 : lz_fail("--longest counts from 1");
	case 'N': return lz_asking_number("--limit", optarg, &w->list.limit);
	case 'A': w->at = optarg; return 0;
	case 'V': w->list.values = true; return 0;
	case 'M': w->names = true; return 0;
	default: return 1;
	}
}

/* Of N words. What is only counted is not listed. */
static bool is_usable(const void *arg, int n)
{
	const struct wishes *w = arg;
	const bool counts = w->count || w->by;
	const bool lists = w->list.values || w->at || w->list.longest;

	return w->names ? n == 1 && !counts && !lists : n >= 2 && !(counts && lists);
}

int lz_cmd_calls(int argc, char **argv)
{
	static const struct option options[] = {LZ_ASKING_OPTIONS,
	                                        {"count", no_argument, NULL, 'c'},
	                                        {"by", required_argument, NULL, 'B'},
	                                        {"longest", required_argument, NULL, 'L'},
	                                        {"limit", required_argument, NULL, 'N'},
	                                        {"at", required_argument, NULL, 'A'},
	                                        {"args", no_argument, NULL, 'V'},
	                                        {"names", no_argument, NULL, 'M'},
	                                        {0}};
	struct wishes w = {.list = {.limit = UINT64_MAX, .at = UINT64_MAX}};
	const struct lz_asking_command c = {
	    usage, LZ_ASKING_LETTERS "c", options, parse_option, &w, is_usable, ask, count_none};

	return lz_asking_main(&w.list.asking, argc, argv, &c);
}
