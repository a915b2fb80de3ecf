/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/written_search.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>

struct searching {
	const struct lz_written_search *of;
	struct lz_session *s;
	struct lz_written_lines lines;
	size_t next, from, to;         /* calls of the list */
	struct lz_written_line *begun; /* only this line is read, as far as it has begun; NULL */
	bool finds;                    /* matches are kept, and not told */
	struct {
		size_t *v, n, room;
	} found;
	uint64_t done; /* calls, as far as progress is shown */
};

static const struct lz_written *call(const struct searching *g, size_t i)
{
	return &g->of->list->v[i];
}

/* ---- one visit ---- */

static bool is_wanted(void *arg, const struct lz_event *ev)
{
	const struct searching *g = arg;
	const size_t i = lz_lower_bound(k, g->to, call(g, k)->event < ev->index);

	return i >= g->from && i < g->to && call(g, i)->event == ev->index &&
	       (!g->begun || g->begun->fd == call(g, i)->fd);
}

static int tell(struct searching *g, const struct lz_event *ev, struct lz_arrival *memory,
                const struct lz_written_line *line, const regmatch_t *m)
{
	if (!g->finds)
		return g->of->fn(g->of->arg, g->next, ev, memory, line, m);
	if (lz_reserve(g->found.v, g->found.room, g->found.n + 1) < 0)
		return -1;
	g->found.v[g->found.n++] = g->next;
	return 0;
}

static int on_event(void *arg, const struct lz_event *ev, struct lz_arrival *memory)
{
	struct searching *g = arg;
	regmatch_t m;

	while (g->next < g->to && call(g, g->next)->event < ev->index)
		g->next++;
	if (g->next >= g->to)
		return 0;
	if (!g->of->pattern)
		return tell(g, ev, memory, NULL, NULL);
	struct lz_written_line *line = lz_written_line(&g->lines, call(g, g->next)->fd);
	int rc = line ? lz_written_each(ev, memory, lz_written_line_take, line) : -1;
	if (rc < 0)
		return rc;
	rc = !g->begun && lz_written_line_match(line, g->of->pattern, &m)
	         ? tell(g, ev, memory, line, &m)
	         : 0;
	lz_written_line_over(line);
	return rc;
}

static int look(void *arg)
{
	struct searching *g = arg;
	const uint64_t now = g->next > g->from ? g->next - g->from : 0;
	const uint64_t more = now > g->done ? now - g->done : 0;

	if (g->begun)
		return lz_work_done(&g->of->a->work, 0);
	g->done += more;
	return lz_work_done(&g->of->a->work, more);
}

static int visit(struct searching *g, size_t from, size_t to)
{
	const struct lz_visit v = {.from = call(g, from)->event,
	                           .to = call(g, to - 1)->event + 1,
	                           .wants = is_wanted,
	                           .fn = on_event,
	                           .look = look,
	                           .arg = g};

	g->next = g->from = from;
	g->to = to;
	g->done = 0;
	return lz_session_visit(g->s, &v);
}

/* ---- lines that earlier calls have begun ---- */

/* N calls of the descriptor before number I, fewer if these are all that is needed: then *ENOUGH. The line
 * begins with the first one if there is none before it. */
static size_t calls_before(struct searching *g, struct lz_written_line *line, size_t i, uint64_t n,
                           bool *enough)
{
	struct lz_reader *r = g->of->a->reader;
	uint64_t bytes = 0;
	size_t first = i;

	while (i && n && bytes < LZ_WRITTEN_BEFORE) {
		if (call(g, --i)->fd != line->fd)
			continue;
		const struct lz_event *ev = lz_reader_event(r, call(g, i)->event);
		bytes += ev && ev->result > 0 ? (uint64_t)ev->result : 0;
		first = i;
		n--;
	}
	line->begins = !i;
	*enough = !i || bytes >= LZ_WRITTEN_BEFORE;
	return first;
}

/* Most programs write whole lines, so few calls are looked at first. */
static int read_begun(struct searching *g, uint32_t fd, size_t i)
{
	struct lz_written_line *line = lz_written_line(&g->lines, fd);
	bool enough = false;
	int rc = 0;

	if (!line)
		return -1;
	for (uint64_t n = 1; rc == 0 && !enough; n *= 4) {
		const size_t first = calls_before(g, line, i, n, &enough);
		line->n = line->old = 0;
		if (first == i)
			break;
		g->begun = line;
		rc = visit(g, first, i);
		enough |= line->begins;
	}
	g->begun = NULL;
	return rc;
}

static int pass(struct searching *g, size_t from, size_t to)
{
	int rc = 0;

	if (from >= to)
		return 0;
	for (size_t i = 0; rc == 0 && g->of->pattern && i < g->of->n_fds; i++)
		rc = read_begun(g, g->of->fds[i], from);
	return rc ? rc : visit(g, from, to);
}

/* ---- backwards ---- */

/* Where a piece begins that ends before number TO and has INTERVALS between checkpoints. */
static size_t piece_before(struct searching *g, size_t from, size_t to, uint64_t intervals)
{
	struct lz_reader *r = g->of->a->reader;
	const struct lz_written *last = call(g, to - 1);
	const uint32_t ck = lz_reader_checkpoint_before(r, last->event, last->marker);
	const struct lz_checkpoint *c =
	    ck >= intervals ? lz_reader_checkpoint(r, (uint32_t)(ck - intervals + 1)) : NULL;

	if (!c)
		return from;
	const size_t i = lz_lower_bound(k, to, call(g, k)->event < c->pos.event);
	return i < from ? from : i < to ? i : to - 1;
}

static int find_last(struct searching *g, size_t from, size_t to, uint64_t n, size_t *first)
{
	int rc = 0;

	*first = to;
	for (uint64_t intervals = 1; rc == 0 && n && to > from; intervals *= 2) {
		const size_t begin = piece_before(g, from, to, intervals);
		g->found.n = 0;
		rc = pass(g, begin, to);
		if (g->found.n)
			*first = g->found.v[g->found.n > n ? g->found.n - n : 0];
		n -= g->found.n < n ? g->found.n : n;
		to = begin;
	}
	return rc;
}

/* ---- a search ---- */

static int begin(struct searching *g, uint64_t n)
{
	const struct lz_session_options o = {.echo_fd = -1};

	lz_work_begin(&g->of->a->work, "replaying", n);
	g->s = lz_session_open(lz_reader_dir(g->of->a->reader), &o);
	return g->s ? 0 : -1;
}

static int end(struct searching *g, int rc)
{
	struct lz_asked *a = g->of->a;

	lz_session_close(g->s);
	lz_written_lines_free(&g->lines);
	free(g->found.v);
	a->partial = rc == LZ_VISIT_INTERRUPTED;
	if (!a->partial)
		lz_work_end(&a->work);
	return a->partial ? 0 : rc;
}

int lz_written_pass(const struct lz_written_search *of, size_t from, size_t to)
{
	struct searching g = {.of = of};
	int rc = begin(&g, to - from);

	return end(&g, rc ? rc : pass(&g, from, to));
}

int lz_written_last(const struct lz_written_search *of, size_t from, size_t to, uint64_t n,
                    size_t *first)
{
	struct searching g = {.of = of, .finds = true};
	int rc = begin(&g, to - from);

	return end(&g, rc ? rc : find_last(&g, from, to, n, first));
}
