/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard marks: the instants that the program itself has noted. */
#include <cmds/ask/asking.h>
#include <cmds/base/cmds.h>
#include <common/base/array.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <lizard/mark.h>
#include <regex.h>
#include <replayer/answers/event_piece.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *to)
{
	fprintf(
	    to,
	    "usage: lizard marks [options] RECORDING\n\n"
	    "Prints the marks that the program has made by lizard_mark() of <lizard.h>: number,\n"
	    "the instant behind it, text.\n\n"
	    "  -g, --grep PATTERN      only those that match this regular expression\n"
	    "      --limit N           at most N of them\n"
	    "      --last N            the last N of them\n" LZ_ASKING_HELP);
}

enum { ENOUGH = -3 };

struct numbered {
	uint64_t event, number;
};

struct wishes {
	struct lz_asking asking;
	regex_t pattern;
	bool grep;
	uint64_t limit, last;
	struct lz_event_piece piece;
	uint64_t number, shown;
	/* for --last: a ring, whose next entry is at N % LAST when it is full */
	struct numbered *v;
	size_t n, room;
};

/* ---- printing ---- */

static int print(struct wishes *w, const struct lz_event *ev, uint64_t number, const char *text)
{
	char at[LZ_EVENT_INSTANT];

	if (w->shown++ >= w->limit || ferror(stdout))
		return ENOUGH;
	if (!w->asking.json) {
		lz_print(stdout, "%6" PRIu64 "  %s  %s\n", number, lz_event_instant(ev, at), text);
		return 0;
	}
	json_t *o = json_object();
	json_object_set_new(o, "number", json_integer((json_int_t)number));
	json_object_set_new(o, "event", json_integer((json_int_t)ev->index));
	json_object_set_new(o, "thread", json_integer(ev->tid));
	json_object_set_new(o, "position", json_string(lz_event_instant(ev, at)));
	json_object_set_new(o, "time_ns", json_integer((json_int_t)ev->time_ns));
	json_object_set_new(o, "text", lz_json_text(text));
	return lz_json_print(o);
}

static int keep(struct wishes *w, const struct lz_event *ev, uint64_t number)
{
	const struct numbered one = {ev->index, number};

	if (w->n < w->last && lz_reserve(w->v, w->room, w->n + 1) < 0)
		return lz_fail("out of memory for marks");
	w->v[w->n++ % w->last] = one;
	return 0;
}

static int print_kept(struct wishes *w)
{
	char text[LIZARD_MARK_MOST + 1];
	size_t i = w->n > w->last ? w->n - w->last : 0;
	int rc = 0;

	for (; rc == 0 && i < w->n; i++) {
		const struct numbered *one = &w->v[i % w->last];
		const struct lz_event *ev = lz_reader_event(w->asking.asked.reader, one->event);
		if (!ev || !lz_mark_text(ev, text))
			return ev ? lz_fail("event %" PRIu64 " has changed", one->event) : -1;
		rc = print(w, ev, one->number, text);
	}
	return rc;
}

/* ---- asking ---- */

static int on_mark(void *arg, const struct lz_event *ev, const char *text)
{
	struct wishes *w = arg;
	const struct lz_asked *a = &w->asking.asked;

	w->number++;
	if (ev->index < w->piece.from || (a->tid && ev->tid != a->tid) ||
	    (w->grep && regexec(&w->pattern, text, 0, NULL, 0) != 0))
		return 0;
	return w->last == UINT64_MAX ? print(w, ev, w->number, text) : keep(w, ev, w->number);
}

static int ask(void *arg, char **words)
{
	struct wishes *w = arg;
	struct lz_asked *a = &w->asking.asked;

	(void)words;
	if (lz_event_piece(a, w->asking.from, w->asking.to, &w->piece) < 0)
		return -1;
	/* numbers are those of the whole recording */
	int rc = w->last && w->limit ? lz_marks_each(a->reader, 0, w->piece.to, on_mark, w) : 0;
	if (rc == 0 && w->n)
		rc = print_kept(w);
	free(w->v);
	return rc == ENOUGH ? 0 : rc;
}

/* ---- the command ---- */

static int parse_option(void *arg, int opt)
{
	struct wishes *w = arg;

	switch (opt) {
	case 'g': return lz_asking_pattern(&w->pattern, &w->grep);
	case 'N': return lz_asking_number("--limit", optarg, &w->limit);
	case 'L': return lz_asking_number("--last", optarg, &w->last);
	default: return 1;
	}
}

int lz_cmd_marks(int argc, char **argv)
{
	static const struct option options[] = {LZ_ASKING_OPTIONS,
	                                        {"grep", required_argument, NULL, 'g'},
	                                        {"limit", required_argument, NULL, 'N'},
	                                        {"last", required_argument, NULL, 'L'},
	                                        {0}};
	struct wishes w = {.limit = UINT64_MAX, .last = UINT64_MAX};
	const struct lz_asking_command c = {usage, LZ_ASKING_LETTERS "g:", options, parse_option,
	                                    &w,    lz_asking_alone,        ask,     NULL};
	const int status = lz_asking_main(&w.asking, argc, argv, &c);

	if (w.grep)
		regfree(&w.pattern);
	return status;
}
