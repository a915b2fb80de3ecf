/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program writes to its standard output and error. The bytes are not recorded: they are in its memory at each
 * call. */
#include "replayer/session/output.h"
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 10, MOST_WRITES = 4096, LOOK_BACK = 200000, VECTORS = 64 };

static bool is_output(const struct lz_event *ev)
{
	return ev->kind == LZ_EV_SYSCALL && (ev->nr == SYS_write || ev->nr == SYS_writev) &&
	       (ev->args[0] == 1 || ev->args[0] == 2) && ev->result > 0;
}

/* ---- the bytes of a call ---- */

struct bytes {
	void (*take)(void *arg, const uint8_t *bytes, size_t n);
	void *arg;
	uint64_t skip, left; /* of what the call wrote */
};

static void pass_range(struct lz_engine *e, struct bytes *b, uint64_t addr, uint64_t len)
{
	uint8_t piece[16384];
	uint64_t skipped = b->skip < len ? b->skip : len;

	b->skip -= skipped;
	addr += skipped;
	len -= skipped;
	for (uint64_t n; len && b->left; addr += n, len -= n, b->left -= n) {
		n = len < b->left ? len : b->left;
		n = lz_engine_read(e, addr, piece, n < sizeof(piece) ? n : sizeof(piece));
		if (!n)
			return;
		b->take(b->arg, piece, n);
	}
}

static void pass_bytes(struct lz_engine *e, const struct lz_event *ev, struct bytes b)
{
	struct iovec v[VECTORS];
	size_t n = ev->args[2] < VECTORS ? (size_t)ev->args[2] : VECTORS;

	b.left = (uint64_t)ev->result - b.skip;
	if (ev->nr == SYS_write) {
		pass_range(e, &b, ev->args[1], (uint64_t)ev->result);
		return;
	}
	n = lz_engine_read(e, ev->args[1], v, n * sizeof(*v)) / sizeof(*v);
	for (size_t i = 0; i < n; i++)
		pass_range(e, &b, (uint64_t)(uintptr_t)v[i].iov_base, v[i].iov_len);
}

/* ---- what runs pass by ---- */

static void to_fd(void *arg, const uint8_t *bytes, size_t n)
{
	if (write(*(int *)arg, bytes, n) < 0)
		lz_debug("what the program writes is not shown");
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

static void append(void *arg, const uint8_t *bytes, size_t n)
{
	struct lz_output_piece *p = arg;
	uint8_t *more = realloc(p->bytes, p->len + n);

	if (!more)
		return;
	memcpy(more + p->len, bytes, n);
	p->bytes = more;
	p->len += n;
}

static int add(struct lz_output *o, struct lz_engine *e, const struct lz_event *ev)
{
	struct lz_output_piece p = {.event = ev->index, .fd = (uint32_t)ev->args[0]};
	struct lz_output_piece *v = realloc(o->v, (o->n + 1) * sizeof(*v));

	if (!v)
		return lz_fail("out of memory for what the program wrote");
	uint64_t skip = ev->result > MOST_BYTES ? (uint64_t)ev->result - MOST_BYTES : 0;

	pass_bytes(e, ev, (struct bytes){.take = append, .arg = &p, .skip = skip});
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

void lz_session_passes(struct lz_session *s, const struct lz_event *ev)
{
	if ((s->opt.echo_fd < 0 && !s->keeps_output) || !is_output(ev))
		return;
	if (s->opt.echo_fd >= 0)
		pass_bytes(s->e, ev, (struct bytes){.take = to_fd, .arg = &s->opt.echo_fd});
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
