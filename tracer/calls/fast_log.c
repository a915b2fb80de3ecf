/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log of calls that the program has made without a stop: each becomes an event like any other.
 * The log is the program's memory: nothing in it is trusted. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"

#include <lizard/error.h>
#include <string.h>
#include <sys/syscall.h>
#include <zlib.h>

struct entry {
	struct lz_call_record r; /* copied */
	const uint8_t *bytes;    /* in the log */
	uint32_t n;
};

static int broken(const char *what)
{
	return lz_fail("the log of system calls is broken: %s; has the program stored there?",
	               what);
}

/* The stream offset; the pointer is in the present buffer, and does not go back. */
static int offset_of(struct lz_tracer *t, const struct lz_call_record *r, uint64_t *marker)
{
	struct lz_stream *s = &t->s;
	uint64_t at = s->mem ? r->marker - s->base : 0;

	*marker = s->start + at;
	if (at > LZ_BUFFER_GUARD || *marker < t->last_marker)
		return broken("a marker's offset");
	if (at <= s->parsed)
		return 0;
	if (lz_self_check_boundary(t, (uint32_t)at) < 0)
		return -1;
	s->parsed = (uint32_t)at;
	return 0;
}

static int add_out(struct lz_tracer *t, struct entry *e, uint64_t addr, uint64_t len)
{
	if (!addr || !len)
		return 0;
	if (len > e->n)
		return broken("an output's length");
	int ret = lz_build_write(t, addr, e->bytes, len);
	e->bytes += len;
	e->n -= (uint32_t)len;
	return ret;
}

static int add_outs(struct lz_tracer *t, struct entry *e)
{
	const struct lz_syscall *row = lz_syscall(e->r.nr);

	for (int i = 0; i < LZ_SYS_OUTS && row->out[i].kind; i++) {
		const struct lz_sys_out *o = &row->out[i];
		uint64_t len = o->size;

		if (o->kind == LZ_OUT_RET)
			len = (uint64_t)e->r.result;
		if (o->kind == LZ_OUT_RET && len > e->r.args[o->b])
			return broken("a result");
		if (add_out(t, e, e->r.args[o->a], len) < 0)
			return -1;
	}
	return 0;
}

/* The argument that points to what the call takes; -1: none. */
static int taken_arg(uint64_t nr)
{
	return nr == SYS_write || nr == SYS_pwrite64 ? 1 : -1;
}

static int add_taken(struct lz_tracer *t, struct entry *e, int arg)
{
	uint64_t len = (uint64_t)e->r.result;

	if (len > e->n || len > LZ_FAST_TAKEN)
		return broken("a result");
	if (len && lz_taken_is_own(t, e->r.args[arg], len)) {
		t->b.ev.has_taken = true;
		t->b.ev.taken = (uint32_t)crc32_z(0, e->bytes, len);
	}
	return 0;
}

/* The stub has left it to us, at once. */
static int capture(struct lz_tracer *t, const struct lz_call_record *r)
{
	struct lz_call *c = &t->cur->call, was = *c;

	*c = (struct lz_call){.nr = r->nr, .ip = r->ip, .row = lz_syscall(r->nr)};
	memcpy(c->args, r->args, sizeof(c->args));
	int ret = lz_capture(t, r->result);
	*c = was;
	return ret;
}

static int add_effects(struct lz_tracer *t, struct entry *e)
{
	int arg = taken_arg(e->r.nr);

	if (e->r.flags & LZ_CALL_UNREAD)
		return capture(t, &e->r);
	if (e->r.result < 0)
		return 0;
	if (e->r.nr == SYS_close && t->shared && e->r.args[0] < LZ_FDS)
		t->shared->fd[e->r.args[0]] = LZ_FD_UNKNOWN;
	return arg < 0 ? add_outs(t, e) : add_taken(t, e, arg);
}

static int add_event(struct lz_tracer *t, struct entry *e, uint64_t time)
{
	uint64_t marker;

	if (!lz_fast_may(e->r.nr))
		return broken("a call's number");
	if (offset_of(t, &e->r, &marker) < 0)
		return -1;
	lz_build_at(t, LZ_EV_SYSCALL, e->r.ip, marker, time);
	t->b.ev.nr = e->r.nr;
	memcpy(t->b.ev.args, e->r.args, sizeof(t->b.ev.args));
	t->b.ev.result = e->r.result;
	return add_effects(t, e) < 0 ? -1 : lz_build_commit(t);
}

int lz_fast_drain(struct lz_tracer *t)
{
	struct lz_fast *f = &t->fast;

	if (!f->page)
		return 0;
	uint32_t head = __atomic_load_n(&f->page->head, __ATOMIC_ACQUIRE);
	uint64_t time = head == f->taken ? 0 : lz_elapsed(t);

	if (head > LZ_CALL_LOG || head < f->taken)
		return broken("its length");
	while (f->taken < head) {
		struct entry e;
		uint32_t left = head - f->taken;

		if (left < sizeof(e.r))
			return broken("its end");
		memcpy(&e.r, f->page->log + f->taken, sizeof(e.r));
		if (e.r.len < sizeof(e.r) || e.r.len > left || e.r.len % 8)
			return broken("a length");
		e.bytes = f->page->log + f->taken + sizeof(e.r);
		e.n = e.r.len - (uint32_t)sizeof(e.r);
		f->taken += e.r.len;
		f->n_taken++;
		if (add_event(t, &e, time) < 0)
			return -1;
	}
	return 0;
}
