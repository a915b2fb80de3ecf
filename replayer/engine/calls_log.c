/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events become the log from which calls are answered (replayer/stub). */
#include "replayer/engine/calls.h"
#include <lizard/error.h>
#include <lizard/marker.h>
#include <lizard/restore.h>
#include <lizard/syscalls.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { TAKEN_MOST = 256 << 10 };

static size_t up8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* ---- which calls ---- */

bool lz_calls_is_plain(const struct lz_event *ev)
{
	return ev->kind == LZ_EV_SYSCALL && !ev->flags && !ev->has_regs && !ev->xstate_len &&
	       ev->nr <= UINT16_MAX && ev->nr != SYS_clone && ev->nr != SYS_clone3 &&
	       ev->nr != SYS_prlimit64 && ev->nr != SYS_setrlimit &&
	       !lz_hello_version(ev->nr, ev->args);
}

/* Of the program's data. */
static bool is_data(struct lz_engine *e, uint64_t addr, uint64_t len)
{
	const struct lz_vma *v = lz_calls_mapping(e, addr);

	return v && len <= v->end - addr && !(v->prot & PROT_EXEC);
}

/* How many bytes it takes that are compared; UINT64_MAX: that is not done here. */
static uint64_t taken_by(struct lz_engine *e, const struct lz_event *ev)
{
	if (!e->calls.compare_taken || !ev->has_taken)
		return 0;
	if (ev->nr != SYS_write && ev->nr != SYS_pwrite64 && ev->nr != SYS_sendto)
		return UINT64_MAX;
	return ev->result > 0 && ev->result <= TAKEN_MOST && (uint64_t)ev->result <= ev->args[2] &&
	               is_data(e, ev->args[1], (uint64_t)ev->result)
	           ? (uint64_t)ev->result
	           : UINT64_MAX;
}

bool lz_calls_can_answer(struct lz_engine *e, const struct lz_event *ev)
{
	return lz_calls_is_plain(ev) && ev->tid == lz_turns_tid(e) &&
	       taken_by(e, ev) != UINT64_MAX &&
	       !(e->calls.looks && e->calls.looks(e->calls.arg, ev)) && lz_calls_can_do(e, ev);
}

/* ---- the log ---- */

/* The recorded markers that are still to be written to the buffer at hand. */
struct markers {
	struct lz_engine *e;
	uint8_t *bytes;
	size_t len, room;         /* known so far; in the buffer */
	bool all;                 /* no more are stored, or to be had */
	uint64_t start, at, last; /* AT: how far they have been parsed; the last one before it */
};

static void begin_markers(struct lz_engine *e, struct markers *m)
{
	const uint64_t off = e->marker - e->buffer.start;

	*m = (struct markers){.e = e, .bytes = e->calls.c->markers, .last = UINT64_MAX};
	m->start = m->at = e->marker;
	if (e->buffer.base && off < LZ_BUFFER_GUARD)
		m->room = (size_t)(LZ_BUFFER_GUARD - off);
}

/* Few are needed where few calls can be answered: pieces that get longer. */
static void read_more(struct markers *m)
{
	size_t n = m->len ? m->len : 64;

	if (n > m->room - m->len)
		n = m->room - m->len;
	int64_t got = lz_engine_recorded(m->e, m->start + m->len, m->bytes + m->len, n);
	m->all = got < (int64_t)n || !n;
	m->len += got > 0 ? (size_t)got : 0;
}

/* Towards UPTO, as far as the bytes are known. False: no marker ends there. */
static bool parse_to(struct markers *m, uint64_t upto)
{
	while (m->at < upto) {
		if (m->at - m->start == m->len && !m->all)
			read_more(m);
		if (m->at - m->start >= m->len)
			return true;
		unsigned size = lz_marker_size(m->bytes[m->at - m->start]);
		if (!size || size > upto - m->at)
			return false;
		m->last = m->at;
		m->at += size;
	}
	return true;
}

/* By what the stub sees how many markers are written. Of those that are not stored the last byte
 * is looked at: if it is a zero the call has a stop. */
static bool put_markers(const struct lz_engine *e, struct markers *m, const struct lz_event *ev,
                        struct lz_logged_call *to)
{
	const uint64_t off = ev->marker - e->buffer.start;

	to->free = to->written = 0;
	if (!e->buffer.base)
		return ev->marker == e->marker;
	if (ev->marker < e->marker || off >= LZ_BUFFER_GUARD || !parse_to(m, ev->marker))
		return false;
	to->free = e->buffer.base + off;
	if (m->at < ev->marker)
		to->written = to->free - 1;
	else if (m->last != UINT64_MAX)
		to->written = e->buffer.base + (m->last - e->buffer.start);
	return true;
}

/* So much room is left; 0: no more calls are put there. */
static size_t room(const struct lz_calls *c)
{
	/* a turn is two */
	return c->n + 2 > LZ_LOGGED_MAX ? 0 : LZ_CALL_LOG_LEN - (c->n ? c->call[c->n - 1].end : 0);
}

/* Of either, with its steps behind it. */
static void begin_head(struct lz_logged_call *head, const struct lz_event *ev, size_t len)
{
	const struct lz_syscall *row = lz_syscall(ev->nr);

	head->nr = (uint16_t)ev->nr;
	head->len = (uint32_t)len;
	head->n_args = (uint8_t)(row && row->n_args < 6 ? row->n_args : 6);
	head->site = ev->ip;
	head->result = ev->result;
	memcpy(head->args, ev->args, sizeof(head->args));
}

/* 1; 0: there is no room, or it cannot be answered; -1. */
static int put(struct lz_engine *e, struct markers *m, const struct lz_event *ev)
{
	struct lz_calls *c = e->calls.c;
	const uint32_t at = c->n ? c->call[c->n - 1].end : 0;
	struct lz_logged_call head = {0};
	struct lz_steps steps = {0};

	if (!lz_calls_can_answer(e, ev))
		return 0;
	const uint64_t taken = taken_by(e, ev);
	lz_calls_put_steps(c, &steps, ev);
	const size_t len = sizeof(head) + steps.len + up8(taken);
	if (len > room(c) || !put_markers(e, m, ev, &head))
		return 0;
	begin_head(&head, ev, len);
	head.n_steps = (uint8_t)steps.n;
	head.takes = ev->args[1];
	head.take_len = taken;
	memcpy(c->log->log + at, &head, sizeof(head));
	if (!lz_calls_put_steps(c, &(struct lz_steps){.to = c->log->log + at + sizeof(head)}, ev))
		return 0;
	c->call[c->n++] = (struct lz_logged){
	    .end = at + (uint32_t)len,
	    .take_at = at + (uint32_t)(len - up8(taken)),
	    .take_len = (uint32_t)taken,
	    .crc = ev->taken,
	    .ip = ev->ip,
	    .marker = ev->marker,
	    .time_ns = ev->time_ns,
	    .maps = ev->n_ops,
	};
	c->maps |= ev->n_ops;
	return lz_calls_go_ahead(e, ev) < 0 ? -1 : 1;
}

/* The same of event I, a switch, and the one behind it. */
static int put_turn(struct lz_engine *e, struct markers *m, uint64_t i)
{
	struct lz_calls *c = e->calls.c;
	const uint32_t at = c->n ? c->call[c->n - 1].end : 0;
	struct lz_logged_call head = {.turn = 1};
	struct lz_steps steps = {0};
	struct lz_logged_turn turn;
	struct lz_logged end;

	const int can = lz_turns_can(e, i, &end, &turn);
	const struct lz_event *ev = can > 0 ? lz_reader_event(e->rp->reader, i) : NULL;
	if (!ev)
		return can > 0 ? -1 : can;
	lz_calls_put_steps(c, &steps, ev);
	const size_t len = sizeof(head) + sizeof(turn) + steps.len;
	if (len > room(c) || !put_markers(e, m, ev, &head))
		return 0;
	begin_head(&head, ev, len);
	head.n_steps = (uint8_t)steps.n;
	memcpy(c->log->log + at, &head, sizeof(head));
	memcpy(c->log->log + at + sizeof(head), &turn, sizeof(turn));
	steps = (struct lz_steps){.to = c->log->log + at + sizeof(head) + sizeof(turn)};
	if (!lz_calls_put_steps(c, &steps, ev))
		return 0;
	end.end = at + (uint32_t)len;
	c->call[c->n++] = (struct lz_logged){.end = end.end,
	                                     .ip = ev->ip,
	                                     .marker = ev->marker,
	                                     .time_ns = ev->time_ns,
	                                     .leaves = true,
	                                     .from = turn.from,
	                                     .to = turn.to,
	                                     .nr = ev->nr};
	c->call[c->n++] = end;
	lz_turns_logged(e, &turn, ev->nr, ev->ip);
	return 1;
}

/* The event behind the last one comes at a stop that it makes itself, so that nothing is to be
 * waited for from the last one on. */
static int put_events(struct lz_engine *e)
{
	struct lz_calls *c = e->calls.c;
	const uint64_t end = e->rp->end.event;
	const uint64_t until = e->calls.until < end ? e->calls.until : end;
	struct markers m;

	begin_markers(e, &m);
	c->n = c->done = 0;
	c->maps = false;
	c->first = e->event;
	c->buffer_start = e->buffer.start;
	lz_turns_fill(e);
	lz_calls_kept_begin(c);
	for (uint64_t i = e->event; i < until; i++) {
		const struct lz_event *ev = lz_reader_event(e->rp->reader, i);

		if (!ev)
			return -1;
		if (lz_event_async(ev) && c->n)
			c->n -= c->call[c->n - 1].comes ? 2 : 1;
		if (lz_event_async(ev) || i + 1 == until)
			break;
		const bool turns = ev->kind == LZ_EV_SWITCH;
		if (turns && i + 2 >= until)
			break;
		const int ret = turns ? put_turn(e, &m, i) : put(e, &m, ev);
		if (ret <= 0)
			return ret;
		i += turns;
	}
	return 0;
}

static int make_log(struct lz_engine *e)
{
	int ret = put_events(e);

	lz_space_free(&e->calls.c->ahead);
	lz_turns_filled(e);
	if (ret < 0 || !e->calls.c->maps || e->proc.stub->can_bar)
		return ret;
	if (lz_engine_leave_call(e) < 0 || lz_engine_flush(e) < 0 ||
	    (ret = lz_stub_can_bar(&e->proc)) < 0)
		return -1;
	return ret ? 0 : make_log(e);
}

/* Is what is in the log still right? */
static bool is_at_hand(const struct lz_engine *e)
{
	const struct lz_calls *c = e->calls.c;

	return c->n && e->event >= c->first && e->event - c->first < c->n &&
	       c->buffer_start == e->buffer.start;
}

uint64_t lz_calls_last(const struct lz_engine *e)
{
	return e->calls.c && is_at_hand(e) ? e->calls.c->first + e->calls.c->n : e->event;
}

/* From the first call on that is not done. */
static void set_bounds(struct lz_engine *e)
{
	struct lz_calls *c = e->calls.c;

	c->log->next = c->done ? c->call[c->done - 1].end : 0;
	c->log->end = c->n ? c->call[c->n - 1].end : 0;
}

int lz_calls_fill(struct lz_engine *e)
{
	struct lz_calls *c = e->calls.c;
	int ret = 0;

	if (lz_engine_in_kernel(e) || e->trapped) {
		c->n = c->done = 0;
	} else if (is_at_hand(e) && lz_turns_follow(e, (uint32_t)(e->event - c->first))) {
		c->done = (uint32_t)(e->event - c->first);
	} else {
		ret = make_log(e);
		e->next.event = UINT64_MAX;
	}
	set_bounds(e);
	return ret;
}
