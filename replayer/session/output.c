/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program writes to its standard output and error. The bytes are not recorded: they are in its memory at each
 * call. */
#include "replayer/session/output.h"
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 10, MOST_WRITES = 4096, LOOK_BACK = 200000 };

static bool is_output(const struct lz_event *ev)
{
	uint32_t fd;

	return lz_written_to(ev, &fd) && (fd == 1 || fd == 2);
}

/* ---- what runs pass by ---- */

static int to_fd(void *arg, const uint8_t *bytes, size_t n)
{
	if (write(*(int *)arg, bytes, n) < 0)
		lz_debug("what the program writes is not shown");
	return 0;
}

static void forget(struct lz_output *o, size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++) {
		o->bytes -= o->v[i].len;
		free(o->v[i].bytes);
	}
	memmove(o->v + first, o->v + first + n, (o->n - first - n) * sizeof(*o->v));
	o->n -= n;
}

struct end {
	struct lz_output_piece *piece;
	uint64_t skip; /* bytes in front of it */
};

static int append(void *arg, const uint8_t *bytes, size_t n)
{
	struct end *end = arg;
	struct lz_output_piece *p = end->piece;
	const size_t skipped = end->skip < n ? (size_t)end->skip : n;

	end->skip -= skipped;
	n -= skipped;
	if (!n)
		return 0;
	uint8_t *more = realloc(p->bytes, p->len + n);
	if (!more)
		return 1;
	memcpy(more + p->len, bytes + skipped, n);
	p->bytes = more;
	p->len += n;
	return 0;
}

static int add(struct lz_output *o, struct lz_engine *e, const struct lz_event *ev)
{
	struct lz_output_piece p = {.event = ev->index, .fd = (uint32_t)ev->args[0]};
	struct lz_output_piece *v = realloc(o->v, (o->n + 1) * sizeof(*v));

	if (!v)
		return lz_fail("out of memory for what the program wrote");
	struct end end = {&p, ev->result > MOST_BYTES ? (uint64_t)ev->result - MOST_BYTES : 0};

	lz_written_each(ev, (struct lz_arrival *)e, append, &end);
	o->v = v;
	o->v[o->n++] = p;
	o->bytes += p.len;
	return 0;
}

/* In the order of events, so what a run passes by once more is that of the last time. */
static void keep(struct lz_output *o, struct lz_engine *e, const struct lz_event *ev)
{
	while (o->n && o->v[o->n - 1].event >= ev->index)
		forget(o, o->n - 1, 1);
	if (add(o, e, ev) < 0)
		lz_debug("%s", lz_error());
	if (o->bytes > 2 * MOST_BYTES || o->n > 2 * MOST_WRITES)
		forget(o, 0, o->n / 2);
}

bool lz_session_looks(void *s, const struct lz_event *ev)
{
	const struct lz_session *of = s;

	return (of->opt.echo_fd >= 0 || of->keeps_output) && is_output(ev);
}

void lz_session_passes(struct lz_session *s, const struct lz_event *ev)
{
	if (!lz_session_looks(s, ev))
		return;
	if (s->opt.echo_fd >= 0)
		lz_written_each(ev, (struct lz_arrival *)s->e, to_fd, &s->opt.echo_fd);
	if (s->keeps_output)
		keep(&s->passed, s->e, ev);
}

void lz_session_keep_output(struct lz_session *s)
{
	s->keeps_output = true;
}

/* ---- what was written in a part of the run ---- */

/* The calls in the events from FROM on that come before the present, the last one first. */
static size_t find(struct lz_session *s, uint64_t from, uint64_t v[MOST_WRITES], bool *cut)
{
	struct lz_reader *r = lz_session_reader(s);
	uint64_t first = lz_reader_first_event(r), i = s->pos.event, bytes = 0;
	size_t n = 0;

	if (from < first)
		from = first;
	if (i > LOOK_BACK && i - LOOK_BACK > from) {
		from = i - LOOK_BACK;
		*cut = true;
	}
	while (i > from) {
		const struct lz_event *ev = lz_reader_event(r, --i);

		if (!ev || !is_output(ev))
			continue;
		if (ev->result > MOST_BYTES)
			*cut = true;
		bytes += ev->result > MOST_BYTES ? MOST_BYTES : (uint64_t)ev->result;
		if (n == MOST_WRITES || (n && bytes > MOST_BYTES)) {
			*cut = true;
			break;
		}
		v[n++] = i;
	}
	return n;
}

/* Takes the bytes of a call that a run has passed by. */
static bool take_kept(struct lz_session *s, struct lz_output *to, uint64_t event)
{
	struct lz_output *from = &s->passed;
	size_t low = 0, high = from->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (from->v[middle].event < event)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == from->n || from->v[low].event != event)
		return false;
	struct lz_output_piece *v = realloc(to->v, (to->n + 1) * sizeof(*v));

	if (!v)
		return false;
	to->v = v;
	to->v[to->n++] = from->v[low];
	to->bytes += from->v[low].len;
	from->bytes -= from->v[low].len;
	from->v[low].bytes = NULL;
	from->v[low].len = 0;
	return true;
}

/* A call that a move has leapt over is replayed, in a copy *E of the process that goes from one to the next. */
static int take_replayed(struct lz_session *s, struct lz_output *to, struct lz_engine **e,
                         uint64_t event)
{
	const struct lz_event *ev = lz_reader_event(lz_session_reader(s), event);
	int ret = 0;

	if (!ev)
		return -1;
	uint64_t marker = ev->marker;

	if (!*e)
		*e = lz_session_engine_at(s, event + 1, marker, &ret);
	else
		ret = lz_engine_to_gap(*e, event + 1, marker);
	ev = lz_reader_event(lz_session_reader(s), event);
	return *e && !ret && ev ? add(to, *e, ev) : -1;
}

int lz_session_output(struct lz_session *s, uint64_t from, struct lz_output *o)
{
	uint64_t *calls = malloc(MOST_WRITES * sizeof(*calls));
	struct lz_engine *e = NULL;

	*o = (struct lz_output){0};
	if (!calls)
		return lz_fail("out of memory for what the program wrote");
	lz_session_begin(s);
	size_t n = find(s, from, calls, &o->cut);

	while (n--)
		if (!take_kept(s, o, calls[n]) && take_replayed(s, o, &e, calls[n]) < 0) {
			o->cut = true;
			break;
		}
	lz_engine_free(e);
	free(calls);
	lz_output_free(&s->passed);
	return 0;
}

void lz_output_free(struct lz_output *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->v[i].bytes);
	free(o->v);
	*o = (struct lz_output){0};
}
