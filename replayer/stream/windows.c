/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <common/base/array.h>
#include <lizard/error.h>
#include "replayer/stream/windows.h"

enum {
	LOADER_BUSY = 1 << 16
}; /* bytes of markers between what a dlopen() does and its nearest system call, at most */

/* Activations with open windows. */
struct open_windows {
	struct {
		uint64_t owner;
		uint32_t newest; /* 1 + index, 0: none */
		bool used;
	} * v;
	size_t n, room; /* room: 0 or a power of 2 */
};

struct finder {
	struct lz_stream *s;
	const struct lz_stream_threads *threads;
	uint32_t thread;
	const struct lz_target *t;
	size_t n;
	uint64_t from; /* gaps that end before it do not count */
	struct lz_windows *out;
	struct open_windows open;
};

static size_t place(const struct open_windows *o, uint64_t owner)
{
	size_t i = (owner * 0x9e3779b97f4a7c15ULL >> 20) & (o->room - 1);

	while (o->v[i].used && o->v[i].owner != owner)
		i = (i + 1) & (o->room - 1);
	return i;
}

static int grow(struct open_windows *o)
{
	struct open_windows more = {.n = o->n, .room = o->room ? o->room * 2 : 1024};

	more.v = calloc(more.room, sizeof(*more.v));
	if (!more.v)
		return lz_fail("out of memory for a jump");
	for (size_t i = 0; i < o->room; i++)
		if (o->v[i].used)
			more.v[place(&more, o->v[i].owner)] = o->v[i];
	free(o->v);
	*o = more;
	return 0;
}

/* NULL: there is none, or with ADD no memory. */
static uint32_t *newest_open(struct open_windows *o, uint64_t owner, bool add)
{
	if (add && 2 * o->n >= o->room && grow(o) < 0)
		return NULL;
	if (!o->room)
		return NULL;
	size_t i = place(o, owner);

	if (!o->v[i].used) {
		if (!add)
			return NULL;
		o->n++;
		o->v[i].owner = owner;
		o->v[i].used = true;
	}
	return &o->v[i].newest;
}

static bool member(const uint32_t *set, uint32_t n, uint32_t id)
{
	uint32_t at = lz_lower_bound(i, n, set[i] < id);

	return at < n && set[at] == id;
}

static bool may_come(const struct lz_target *t, uint32_t a, uint32_t b)
{
	return !t->may || t->may(t->may_arg, a, b);
}

/* Marker A just before it, in the same activation: can control be at T? */
static bool fits_before(const struct lz_target *t, uint32_t a)
{
	if (t->loose)
		return may_come(t, a, LZ_TO_ANY);
	if (!t->block)
		return false;
	if (a == LZ_LAST_LANDING || t->after)
		return true;
	return (t->before && a == t->before) || member(t->block->pre, t->block->n_pre, a);
}

static bool fits_after(const struct lz_target *t, uint32_t b)
{
	if (!t->block)
		return false;
	if (t->before)
		return true;
	return (t->after && b == t->after) || member(t->block->post, t->block->n_post, b);
}

/* Between markers A and B. */
static bool fits(const struct lz_target *t, uint32_t a, uint32_t b)
{
	return t->loose ? may_come(t, a, b) : fits_before(t, a) && fits_after(t, b);
}

static int push(struct finder *f, uint64_t from, uint64_t to, uint64_t owner, bool open)
{
	struct lz_windows *o = f->out;
	uint32_t *newest = NULL;

	if (to <= f->from)
		return 0;
	if (lz_reserve(o->w, o->cap, o->n + 1) < 0)
		return lz_fail("out of memory for a jump");
	if (open && !(newest = newest_open(&f->open, owner, true)))
		return -1;
	o->w[o->n++] = (struct lz_window){from, to, owner, open, newest ? *newest : 0, false};
	if (newest)
		*newest = (uint32_t)o->n;
	return 0;
}

static bool can_be_at(const struct finder *f, const struct lz_act *top)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->t[i].fn == top->fn && fits_before(&f->t[i], top->last))
			return true;
	return false;
}

/* What a thread ran between its last marker and the beginning of its turn TURN, in which it has
 * not written any up to there: the ends of earlier turns, and whole ones. */
static int push_earlier(struct finder *f, uint32_t turn, const struct lz_act *top)
{
	for (;;) {
		uint64_t end;

		turn = f->threads->turns->v[turn].before;
		if (turn == LZ_NO_TURN)
			return 0;
		end = lz_turn_end(f->threads, turn);
		if (push(f, end, end + 1, lz_act_id(top), true))
			return -1;
		if (f->threads->turns->v[turn].marker < end)
			return 0;
	}
}

/* The gap belongs to activation TOP, whose next own marker is not known yet. */
static int note_gap(struct finder *f, const struct lz_act *top, const struct lz_mark *m,
                    uint64_t end)
{
	uint32_t turn;

	if (!can_be_at(f, top))
		return 0;
	turn = lz_turn_before(f->threads, m->offset + 1);
	if (f->threads->turns->v[turn].marker == m->from && push_earlier(f, turn, top))
		return -1;
	return push(f, m->from, end, lz_act_id(top), true);
}

/* Activation TOP has written its next own marker B: its open windows are settled. */
static void settle(struct finder *f, const struct lz_act *top, uint32_t b, bool any)
{
	struct lz_windows *o = f->out;
	bool can = any;
	uint32_t *newest = newest_open(&f->open, lz_act_id(top), false);

	if (!newest || !*newest)
		return;
	for (size_t i = 0; i < f->n && !can; i++)
		can = f->t[i].fn == top->fn && fits(&f->t[i], top->last, b);
	for (uint32_t i = *newest; i; i = o->w[i - 1].older) {
		o->w[i - 1].open = false;
		if (!can)
			o->w[i - 1].to = o->w[i - 1].from; /* none */
	}
	*newest = 0;
	while (o->n && o->w[o->n - 1].to == o->w[o->n - 1].from)
		o->n--;
}

static bool may_begin(const struct lz_target *t, uint8_t code)
{
	return code != LZ_ENTER || may_come(t, LZ_FROM_CALL, LZ_SET_ENTER);
}

/* Behind the exit of TOP, which has written CODE. */
static bool may_follow(const struct lz_target *t, const struct lz_act *top, uint8_t code)
{
	if (t->loose && !t->epilogue && !t->apart)
		return code == LZ_TAIL || top->tail || may_come(t, top->last, LZ_SET_EXIT);
	return t->epilogue || t->apart || t->loose;
}

static int mark(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct finder *f = arg;
	struct lz_act *top = lz_decoder_top(d);
	uint64_t end = m->offset + lz_marker_size(m->code);
	bool exits = m->code == LZ_EXIT || m->code == LZ_TAIL;

	if (f->thread != LZ_NO_THREAD && f->thread != d->thread)
		return 0;
	if (top && note_gap(f, top, m, end))
		return -1;
	if (m->code == LZ_ENTER || m->code == LZ_LANDING) {
		uint32_t fn = lz_decoder_fn(d, m->entry, m->offset);

		for (size_t i = 0; i < f->n; i++) {
			const struct lz_target *t = &f->t[i];
			bool here = m->code == LZ_ENTER ? t->prologue : t->landing;

			if (t->fn == fn && (here || (t->loose && may_begin(t, m->code))) &&
			    push(f, m->from, end, 0, false))
				return -1;
		}
		if (m->code == LZ_ENTER)
			return 0;
	}
	if (!top)
		return 0;
	if (m->code == LZ_LANDING)
		settle(f, top, 0, true);
	else
		settle(f, top, exits ? LZ_SET_EXIT : m->id, m->code == LZ_TAIL || top->tail);
	for (size_t i = 0; i < f->n && exits; i++)
		if (f->t[i].fn == top->fn && may_follow(&f->t[i], top, m->code))
			return push(f, end, end + 1, 0, false); /* the gap behind the exit */
	return 0;
}

static int by_from(const void *a, const void *b)
{
	const struct lz_window *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Sorts, and joins what overlaps. */
static void tidy(struct lz_windows *o)
{
	size_t n = 0;

	if (o->n)
		qsort(o->w, o->n, sizeof(*o->w), by_from);
	for (size_t i = 0; i < o->n; i++) {
		if (o->w[i].to == o->w[i].from)
			continue;
		if (n && o->w[i].from < o->w[n - 1].to) {
			if (o->w[i].to > o->w[n - 1].to)
				o->w[n - 1].to = o->w[i].to;
		} else {
			o->w[n++] = o->w[i];
		}
	}
	o->n = n;
}

/* ---- where threads are switched ---- */

/* Is the marker at stream offset AT, of which BYTES are the first, one before which a target can
 * have been arrived at that is not of the activation that ran? */
static bool begins_target(struct finder *f, const uint8_t *bytes, uint64_t at)
{
	struct lz_decoder *d = lz_stream_decoder(f->s);
	uint32_t entry, fn;

	if (bytes[0] != LZ_ENTER && bytes[0] != LZ_LANDING)
		return false;
	memcpy(&entry, bytes + 1, sizeof(entry));
	fn = d->resolve(d->arg, entry, at);
	for (size_t i = 0; i < f->n && fn != LZ_FN_NONE; i++)
		if (f->t[i].fn == fn && (f->t[i].loose || f->t[i].prologue || f->t[i].landing))
			return true;
	return false;
}

/* Is a target in the function that has the address IP after EVENT events? */
static bool is_in(struct finder *f, uint64_t ip, uint64_t event)
{
	const uint32_t fn = lz_stream_fn_at(f->s, ip, event);

	for (size_t i = 0; i < f->n && fn != LZ_FN_NONE; i++)
		if (f->t[i].fn == fn)
			return true;
	return false;
}

/* A handler begins, and where another one begins at once, or the first push has met the end of
 * the stack, the function's own entry marker does not come next. So it is where a signal came in
 * front of a function's entry marker. */
static int note_signals(struct finder *f, struct lz_modules *m, uint64_t to)
{
	size_t n, first;
	const struct lz_delivery *v = lz_modules_deliveries(m, &n);

	first = lz_lower_bound(i, n, v[i].marker < f->from);
	for (size_t k = first; k < n && v[k].marker < to; k++) {
		bool here = is_in(f, v[k].ip, v[k].event);

		for (size_t i = 0; i < f->n && !here; i++)
			here = f->t[i].addr == v[k].handler || f->t[i].addr == v[k].ip;
		if (here && push(f, v[k].marker, v[k].marker + 1, 0, false))
			return -1;
	}
	return 0;
}

/* A handler has returned to a function that may have written its exit marker before. */
static int note_handler_returns(struct finder *f, struct lz_modules *m, uint64_t to)
{
	size_t n, first;
	const struct lz_handler_return *v = lz_modules_handler_returns(m, &n);

	first = lz_lower_bound(i, n, v[i].marker < f->from);
	for (size_t k = first; k < n && v[k].marker < to; k++)
		if (is_in(f, v[k].ip, v[k].event) &&
		    push(f, v[k].marker, v[k].marker + 1, 0, false))
			return -1;
	return 0;
}

/* The first turn behind TURN in which its thread writes a marker. */
static uint32_t next_writing(const struct lz_stream_threads *t, uint32_t turn, uint64_t len)
{
	do {
		turn = t->turns->v[turn].after;
	} while (turn != LZ_NO_TURN && t->turns->v[turn].marker == lz_turn_end(t, turn));
	return turn != LZ_NO_TURN && t->turns->v[turn].marker < len ? turn : LZ_NO_TURN;
}

/* A thread may have been switched away from in front of an entry marker that it writes when it
 * runs again. */
static int note_switches(struct finder *f, struct lz_reader *r, uint64_t to)
{
	const struct lz_stream_threads *t = f->threads;

	for (uint32_t i = lz_turn_before(t, f->from) + 1; i < t->turns->n; i++) {
		uint64_t at = t->turns->v[i].marker;
		uint32_t next;
		uint8_t bytes[5];

		if (at >= to)
			break;
		if (f->thread != LZ_NO_THREAD && t->number[i - 1] != f->thread)
			continue;
		next = next_writing(t, i - 1, lz_stream_len(f->s));
		if (next == LZ_NO_TURN ||
		    lz_reader_markers(r, lz_reader_meta(r)->tid, t->turns->v[next].marker, bytes,
		                      sizeof(bytes)) != sizeof(bytes))
			continue;
		if (begins_target(f, bytes, t->turns->v[next].marker) &&
		    push(f, at, at + 1, 0, false))
			return -1;
	}
	return 0;
}

/* A thread may have been switched away from anywhere in a function: also behind its exit marker, before
 * it was back in the caller. Then it goes on there in a later turn. */
static int note_goings_on(struct finder *f, uint64_t to)
{
	const struct lz_stream_threads *t = f->threads;

	for (uint32_t i = lz_turn_before(t, f->from) + 1; i < t->turns->n; i++) {
		const struct lz_turn *v = &t->turns->v[i];

		if (v->marker >= to)
			break;
		if ((f->thread == LZ_NO_THREAD || t->number[i] == f->thread) && v->ip &&
		    is_in(f, v->ip, v->event) && push(f, v->marker, v->marker + 1, 0, false))
			return -1;
	}
	return 0;
}

/* Threads that do not run when the decoder comes to TO: what they ran since their last marker. */
static int note_waiting(struct finder *f, struct lz_decoder *d, uint64_t to)
{
	for (uint32_t i = 0; i < f->threads->n; i++) {
		struct lz_act *acts = i == d->thread ? d->acts : NULL;
		size_t n = i == d->thread ? d->n : 0;
		uint32_t turn;
		uint64_t end;

		if (f->thread != LZ_NO_THREAD && f->thread != i)
			continue;
		if (i != d->thread && i < d->n_stacks) {
			acts = d->stack[i].acts;
			n = d->stack[i].n;
		}
		turn = lz_stream_thread_turn_before(f->threads, i, to);
		if (!n || turn == LZ_NO_TURN || !can_be_at(f, &acts[n - 1]))
			continue;
		end = lz_turn_end(f->threads, turn);
		if (end >= to)
			continue; /* in the gap at TO, or later */
		if (push(f, end, end + 1, lz_act_id(&acts[n - 1]), true))
			return -1;
		if (f->threads->turns->v[turn].marker == end && push_earlier(f, turn, &acts[n - 1]))
			return -1;
	}
	return 0;
}

/* Is it only arrived at where an activation begins? */
static bool at_beginning(const struct lz_target *t)
{
	return t->prologue && !t->loose && !t->block && !t->epilogue && !t->landing;
}

static bool may_run(struct lz_stream *s, uint32_t block, const struct lz_target *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (t[i].fn == LZ_FN_NONE)
			continue;
		if (at_beginning(&t[i]) ? lz_stream_began(s, block, t[i].fn)
		                        : lz_stream_ran(s, block, t[i].fn))
			return true;
	}
	return false;
}

static void watch_for(const struct lz_target *t, uint8_t *watch)
{
	if (!at_beginning(t))
		watch[t->fn] = LZ_WATCH_ALL;
	else if (!watch[t->fn])
		watch[t->fn] = LZ_WATCH_BEGIN;
}

/* The stretches beside the loader's system calls, between offsets FROM and TO; markers may lie
 * in between, as of a malloc() of the program's own. */
static int beside_loader_calls(struct finder *f, struct lz_modules *m, uint64_t to)
{
	size_t n;
	const uint64_t *at = lz_modules_loader_calls(m, &n);

	for (size_t i = 0; i < n; i++) {
		uint64_t start = at[i] > LOADER_BUSY ? at[i] - LOADER_BUSY : 0;
		uint64_t end = at[i] + LOADER_BUSY;

		if (end <= f->from || start >= to)
			continue;
		if (start < f->from)
			start = f->from;
		if (end > to && to < lz_stream_len(f->s))
			end = to; /* the rest is the next block's */
		if (push(f, start, end, 0, false))
			return -1;
		f->out->w[f->out->n - 1].rough = true;
	}
	return 0;
}

int lz_find_windows(struct lz_stream *s, struct lz_modules *m, uint32_t block, uint64_t from,
                    uint64_t to, uint32_t thread, const struct lz_target *t, size_t n,
                    struct lz_windows *out)
{
	struct finder f = {s, lz_stream_threads(s), thread, t, n, from, out, {0}};
	uint8_t *watch = calloc(lz_stream_n_fns(s) + 1, 1);
	bool anywhere = false, hook = false;
	int rc = 0;

	out->n = 0;
	if (!watch)
		return lz_fail("out of memory for a jump");
	for (size_t i = 0; i < n; i++) {
		hook |= t[i].hook;
		if (t[i].fn == LZ_FN_NONE)
			anywhere |= !t[i].hook;
		else
			watch_for(&t[i], watch);
	}
	if (!anywhere && may_run(s, block, t, n)) {
		rc = lz_stream_decode(s, block, to, watch, mark, &f);
		if (!rc)
			rc = note_waiting(&f, lz_stream_decoder(s), to);
	}
	if (!rc && !anywhere)
		rc = note_switches(&f, lz_stream_reader(s), to) < 0 || note_goings_on(&f, to) < 0 ||
		             note_signals(&f, m, to) < 0 || note_handler_returns(&f, m, to) < 0
		         ? -1
		         : 0;
	free(watch);
	free(f.open.v);
	if (!rc && hook)
		rc = beside_loader_calls(&f, m, to);
	if (rc < 0)
		return -1;
	if (anywhere || lz_stream_oddities(s)) {
		out->n = 0;
		rc = push(&f, from, to < lz_stream_len(s) ? to : UINT64_MAX, 0, false);
	} else if (to >= lz_stream_len(s)) {
		/* Behind the last marker there is none to close the gap. */
		rc = push(&f, lz_stream_len(s), UINT64_MAX, 0, false);
	}
	tidy(out);
	return rc;
}
