/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard output: what the program wrote, with instants and call stacks. */
#include <cmds/ask/asking.h>
#include <cmds/base/cmds.h>
#include <cmds/ask/output_raw.h>
#include <common/base/array.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <ctype.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <regex.h>
#include <replayer/answers/written_search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *to)
{
	fprintf(
	    to,
	    "usage: lizard output [options] RECORDING\n\n"
	    "Prints each piece that the program wrote to its standard output and error: the\n"
	    "instant behind it, the descriptor, the text, and who was active, innermost first.\n"
	    "The run is replayed for the text.\n\n"
	    "      --fd N              to this descriptor instead; may be given again\n"
	    "  -g, --grep PATTERN      only pieces that match this regular expression, with what\n"
	    "                          earlier pieces have of the same line\n"
	    "      --raw               the bytes alone, as they were written\n"
	    "      --no-stacks         not who was active: that takes a pass over the markers\n"
	    "      --limit N           at most N pieces\n"
	    "      --last N            the last N pieces\n" LZ_ASKING_HELP);
}

enum { FDS = 64, LINE = 4096, ENOUGH = -3 };

struct wishes {
	struct lz_asking asking;
	uint32_t fd[FDS];
	size_t n_fds;
	bool grep;
	regex_t pattern;
	bool raw, bare; /* bare: without call stacks */
	uint64_t limit, last, shown;
	struct lz_written_list list;
};

/* ---- text ---- */

/* Of the present piece. */
struct shown {
	const uint8_t *bytes;
	size_t n;
	const struct lz_written_line *line; /* NULL: no pattern */
	const regmatch_t *match;
};

/* As C has it in a string. NULL: no memory. */
static char *escaped(const uint8_t *bytes, size_t n)
{
	static const char plain[] = "\n\t\r\\\"", letter[] = "ntr\\\"";
	char *text = malloc(4 * n + 1), *at = text;

	for (size_t i = 0; text && i < n; i++) {
		const char *known = bytes[i] ? strchr(plain, bytes[i]) : NULL;
		if (known)
			at += sprintf(at, "\\%c", letter[known - plain]);
		else if (bytes[i] < ' ' || bytes[i] == 0x7f)
			at += sprintf(at, "\\x%02x", bytes[i]);
		else
			*at++ = (char)bytes[i];
	}
	if (text)
		*at = 0;
	return text;
}

/* JSON strings end at a 0. */
static json_t *text_json(const uint8_t *bytes, size_t n)
{
	char *text = malloc(4 * n + 1), *at = text;

	for (size_t i = 0; text && i < n; i++) {
		if (bytes[i])
			*at++ = (char)bytes[i];
		else
			at += sprintf(at, "\\x00");
	}
	if (text)
		*at = 0;
	json_t *v = text ? lz_json_text(text) : NULL;
	free(text);
	return v;
}

/* The line with the match, as far as it is written. */
static json_t *line_json(const struct shown *p)
{
	const size_t so = (size_t)p->match->rm_so, eo = (size_t)p->match->rm_eo;
	const uint8_t *text = p->line->text;
	const uint8_t *before = so ? memrchr(text, '\n', so) : NULL;
	const uint8_t *behind = memchr(text + eo, '\n', p->line->n - eo);
	size_t from = before ? (size_t)(before + 1 - text) : 0;
	size_t to = behind ? (size_t)(behind - text) : p->line->n;

	if (eo - from > LINE)
		from = so;
	if (to - from > LINE)
		to = from + LINE;
	return text_json(text + from, to - from);
}

/* ---- printing it ---- */

static int print_json(const struct wishes *w, const struct lz_event *ev, const struct lz_written *p,
                      const struct shown *t)
{
	const struct lz_asked *a = &w->asking.asked;
	json_t *o = json_object(), *stack = json_array();
	char at[LZ_EVENT_INSTANT];

	json_object_set_new(o, "number", json_integer((json_int_t)w->shown));
	json_object_set_new(o, "event", json_integer((json_int_t)ev->index));
	json_object_set_new(o, "thread", json_integer(ev->tid));
	json_object_set_new(o, "position", json_string(lz_event_instant(ev, at)));
	json_object_set_new(o, "fd", json_integer(p->fd));
	json_object_set_new(o, "bytes", json_integer((json_int_t)ev->result));
	json_object_set_new(o, "text", text_json(t->bytes, t->n));
	if (t->line)
		json_object_set_new(o, "line", line_json(t));
	if (w->bare)
		return lz_json_print(o);
	for (uint32_t i = 0; i < p->n; i++)
		json_array_append_new(stack, lz_json_text(lz_asked_name(a, p->stack[i])));
	json_object_set_new(o, "stack", stack);
	json_object_set_new(o, "depth", json_integer((json_int_t)p->depth));
	return lz_json_print(o);
}

static int print_text(const struct wishes *w, const struct lz_event *ev, const struct lz_written *p,
                      const struct shown *t)
{
	const struct lz_asked *a = &w->asking.asked;
	char at[LZ_EVENT_INSTANT], *text = escaped(t->bytes, t->n);

	if (!text)
		return lz_fail("out of memory for what the program wrote");
	lz_print(stdout, "%6" PRIu64 "  %s  %" PRIu32 "  \"%s\"%s", w->shown,
	         lz_event_instant(ev, at), p->fd, text, (uint64_t)ev->result > t->n ? "..." : "");
	free(text);
	for (uint32_t i = 0; i < p->n; i++)
		lz_print(stdout, "%s%s", i ? " < " : "  ", lz_asked_short_name(a, p->stack[i]));
	printf(p->depth > p->n ? " < ...\n" : "\n");
	return 0;
}

static int print(const struct wishes *w, const struct lz_event *ev, const struct lz_written *p,
                 const struct shown *t)
{
	return w->asking.json ? print_json(w, ev, p, t) : print_text(w, ev, p, t);
}

/* Without a pattern nobody has read what the call wrote. */
static int print_unread(const struct wishes *w, const struct lz_event *ev,
                        struct lz_arrival *memory, const struct lz_written *p)
{
	struct lz_written_line all = {0};
	int rc = lz_written_each(ev, memory, lz_written_line_take, &all);

	if (rc >= 0)
		rc = print(w, ev, p, &(struct shown){all.text, all.n, NULL, NULL});
	free(all.text);
	return rc;
}

static int on_piece(void *arg, size_t i, const struct lz_event *ev, struct lz_arrival *memory,
                    const struct lz_written_line *line, const regmatch_t *m)
{
	struct wishes *w = arg;
	const struct lz_written *p = &w->list.v[i];
	int rc;

	if (w->shown == w->limit || ferror(stdout))
		return ENOUGH;
	w->shown++;
	if (w->raw)
		rc = lz_written_each(ev, memory, lz_output_raw, NULL);
	else if (line)
		rc = print(w, ev, p,
		           &(struct shown){line->text + line->old, line->n - line->old, line, m});
	else
		rc = print_unread(w, ev, memory, p);
	return rc == 0 && w->shown == w->limit ? ENOUGH : rc;
}

/* ---- asking ---- */

static int search(struct wishes *w, size_t from)
{
	struct lz_asked *a = &w->asking.asked;
	const struct lz_written_search s = {.a = a,
	                                    .list = &w->list,
	                                    .fds = w->fd,
	                                    .n_fds = w->n_fds,
	                                    .pattern = w->grep ? &w->pattern : NULL,
	                                    .fn = on_piece,
	                                    .arg = w};
	const size_t to = w->list.n;
	int rc = 0;

	if (w->last < to - from && !w->grep)
		from = to - w->last;
	else if (w->last < to - from)
		rc = lz_written_last(&s, from, to, w->last, &from);
	if (rc == 0 && !w->raw && !w->bare && !a->partial)
		rc = lz_written_stacks(a, &w->list, from);
	if (rc == 0 && from < to && !a->partial)
		rc = lz_written_pass(&s, from, to);
	return rc == ENOUGH ? 0 : rc;
}

static int ask(void *arg, char **words)
{
	struct wishes *w = arg;
	struct lz_asked *a = &w->asking.asked;
	struct lz_event_piece p;

	(void)words;
	if (!w->n_fds) {
		w->fd[w->n_fds++] = 1;
		w->fd[w->n_fds++] = 2;
	}
	if (lz_event_piece(a, w->asking.from, w->asking.to, &p) < 0)
		return -1;
	const uint64_t from = p.from;
	/* a line may have begun before */
	if (w->grep)
		p.from = lz_reader_first_event(a->reader);
	int rc = lz_written_find(a, &p, w->fd, w->n_fds, &w->list);
	if (rc == 0 && !a->partial)
		rc = search(w, lz_lower_bound(i, w->list.n, w->list.v[i].event < from));
	lz_written_free(&w->list);
	return rc;
}

/* ---- the command ---- */

static int add_fd(struct wishes *w)
{
	uint64_t fd;

	if (lz_asking_number("--fd", optarg, &fd) < 0)
		return -1;
	if (fd > INT32_MAX || w->n_fds == FDS)
		return lz_fail("--fd takes a descriptor, at most %d times, not `%s`", FDS, optarg);
	w->fd[w->n_fds++] = (uint32_t)fd;
	return 0;
}

static int parse_option(void *arg, int opt)
{
	struct wishes *w = arg;

	switch (opt) {
	case 'f': return add_fd(w);
	case 'g': return lz_asking_pattern(&w->pattern, &w->grep);
	case 'R': w->raw = true; return 0;
	case 'B': w->bare = true; return 0;
	case 'N': return lz_asking_number("--limit", optarg, &w->limit);
	case 'L': return lz_asking_number("--last", optarg, &w->last);
	default: return 1;
	}
}

int lz_cmd_output(int argc, char **argv)
{
	static const struct option options[] = {LZ_ASKING_OPTIONS,
	                                        {"fd", required_argument, NULL, 'f'},
	                                        {"grep", required_argument, NULL, 'g'},
	                                        {"raw", no_argument, NULL, 'R'},
	                                        {"no-stacks", no_argument, NULL, 'B'},
	                                        {"limit", required_argument, NULL, 'N'},
	                                        {"last", required_argument, NULL, 'L'},
	                                        {0}};
	struct wishes w = {.limit = UINT64_MAX, .last = UINT64_MAX};
	const struct lz_asking_command c = {usage, LZ_ASKING_LETTERS "g:", options, parse_option,
	                                    &w,    lz_asking_alone,        ask,     NULL};

	return lz_asking_main(&w.asking, argc, argv, &c);
}
