/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard grep: calls by where they are made. */
#include <cmds/ask/asking.h>
#include <cmds/base/cmds.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <replayer/answers/paths.h>
#include <stdio.h>

static void usage(FILE *to)
{
	fprintf(to,
	        "usage: lizard grep [options] RECORDING PATH\n\n"
	        "Lists the calls that PATH describes, by words with blanks between them:\n\n"
	        "  'f > g'                 calls of g while f is active\n"
	        "  'f >> g'                calls of g by f itself\n"
	        "  'f > g without h i'     ... with neither h nor i active in between\n"
	        "  'f then g'              calls of g that begin later than a call of f\n\n"
	        "      --within N          at most N bytes of markers behind the first function\n"
	        "  -c, --count             print their number only\n"
	        "      --limit N           at most N lines\n" LZ_ASKING_HELP);
}

struct wishes {
	struct lz_asking asking;
	uint64_t within, limit, found;
	bool count;
};

enum { ENOUGH = -2, NAMES = 64 };

static int print_json(const struct wishes *w, const struct lz_path_match *m)
{
	const struct lz_asked *a = &w->asking.asked;
	const uint32_t tid = lz_asked_tid(a, m->thread);
	json_t *o = json_object(), *path = json_array();
	char at[LZ_INSTANT_TEXT];

	json_object_set_new(o, "number", json_integer((json_int_t)w->found));
	json_object_set_new(o, "thread", json_integer(tid));
	json_object_set_new(o, "from", json_string(lz_asked_instant(tid, m->from, at)));
	json_object_set_new(o, "position", json_string(lz_asked_instant(tid, m->at, at)));
	json_object_set_new(o, "length", json_integer((json_int_t)(m->at - m->from)));
	for (size_t i = 0; i < m->n; i++)
		json_array_append_new(path, lz_json_text(lz_asked_name(a, m->fn[i])));
	json_object_set_new(o, "path", path);
	return lz_json_print(o);
}

/* Of a long one the ends. */
static void print_path(const struct lz_asked *a, const struct lz_path_match *m)
{
	for (size_t i = 0; i < m->n; i++) {
		if (m->n > NAMES && i == NAMES / 2) {
			printf(" > ...");
			i = m->n - NAMES / 2;
		}
		lz_print(stdout, "%s%s", i ? " > " : "", lz_asked_short_name(a, m->fn[i]));
	}
}

static int on_match(void *arg, const struct lz_path_match *m)
{
	struct wishes *w = arg;
	const struct lz_asked *a = &w->asking.asked;
	const uint32_t tid = lz_asked_tid(a, m->thread);
	char from[LZ_INSTANT_TEXT], at[LZ_INSTANT_TEXT];

	if (w->found >= w->limit || ferror(stdout))
		return ENOUGH;
	w->found++;
	if (w->count)
		return 0;
	if (w->asking.json)
		return print_json(w, m);
	lz_print(stdout, "%8" PRIu64 "  %s  from %s  length %" PRIu64 "  ", w->found,
	         lz_asked_instant(tid, m->at, at), lz_asked_instant(tid, m->from, from),
	         m->at - m->from);
	print_path(a, m);
	putchar('\n');
	return 0;
}

static int print_count(const struct wishes *w)
{
	json_t *o;

	if (!w->asking.json) {
		printf("%" PRIu64 "\n", w->found);
		return 0;
	}
	o = json_object();
	json_object_set_new(o, "calls", json_integer((json_int_t)w->found));
	return lz_json_print(o);
}

static int ask(void *arg, char **words)
{
	struct wishes *w = arg;
	struct lz_path p;

	if (lz_path_parse(&w->asking.asked, words[0], &p) < 0)
		return -1;
	int rc = lz_path_search(&w->asking.asked, &p, w->within, on_match, w);
	lz_path_free(&p);
	rc = rc == ENOUGH ? 0 : rc;
	return rc == 0 && w->count ? print_count(w) : rc;
}

static int parse_option(void *arg, int opt)
{
	struct wishes *w = arg;

	switch (opt) {
	case 'W': return lz_asking_number("--within", optarg, &w->within);
	case 'c': w->count = true; return 0;
	case 'N': return lz_asking_number("--limit", optarg, &w->limit);
	default: return 1;
	}
}

static bool is_usable(const void *arg, int n)
{
	(void)arg;
	return n == 2;
}

int lz_cmd_grep(int argc, char **argv)
{
	static const struct option options[] = {LZ_ASKING_OPTIONS,
	                                        {"within", required_argument, NULL, 'W'},
	                                        {"count", no_argument, NULL, 'c'},
	                                        {"limit", required_argument, NULL, 'N'},
	                                        {0}};
	struct wishes w = {.within = UINT64_MAX, .limit = UINT64_MAX};
	const struct lz_asking_command c = {
	    usage, LZ_ASKING_LETTERS "c", options, parse_option, &w, is_usable, ask, NULL};

	return lz_asking_main(&w.asking, argc, argv, &c);
}
