/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One event at a time: its writes and mapping changes are gathered here. */
#include "tracer/log/log.h"

#include <common/base/array.h>
#include <common/base/bytes.h>
#include <lizard/error.h>
#include <string.h>

void lz_build_at(struct lz_tracer *t, uint8_t kind, uint64_t ip, uint64_t marker, uint64_t time_ns)
{
	struct lz_event *e = &t->b.ev;

	lz_zero(e, sizeof(*e));
	e->kind = kind;
	e->tid = t->cur->tid;
	e->marker = marker;
	e->ip = ip;
	e->time_ns = time_ns;
	e->map_id = t->map_id;
	t->b.used = 0;
}

int lz_build(struct lz_tracer *t, uint8_t kind, uint64_t ip)
{
	/* how long ago this was counts in us: anywhere.c */
	lz_stop_time_over();
	lz_build_at(t, kind, ip, lz_stream_offset(t), lz_elapsed(t));
	return 0;
}

/* The bytes that are kept here have moved from WAS. */
static void follow_bytes(struct lz_builder *b, const uint8_t *was)
{
	for (uint32_t i = 0; i < b->ev.n_writes; i++) {
		const uint64_t at = (uintptr_t)b->writes[i].bytes - (uintptr_t)was;

		if (at < b->used)
			b->writes[i].bytes = b->bytes + at;
	}
}

/* More bytes than any call writes: who asks for them, asks for what is not there. */
static const uint64_t most_bytes = (uint64_t)1 << 36;

static uint8_t *room_for(struct lz_builder *b, uint64_t len)
{
	const uint8_t *was = b->bytes;

	if (len > most_bytes - b->used) {
		lz_fail("an event cannot have %zu bytes", (size_t)len);
		return NULL;
	}
	if (lz_reserve(b->bytes, b->room, b->used + len) < 0) {
		lz_fail("out of memory for an event of %zu bytes", b->used + (size_t)len);
		return NULL;
	}
	if (b->bytes != was)
		follow_bytes(b, was);
	return b->bytes + b->used;
}

int lz_build_refer(struct lz_tracer *t, uint64_t addr, const void *bytes, uint64_t len)
{
	struct lz_builder *b = &t->b;

	if (lz_reserve(b->writes, b->writes_room, b->ev.n_writes + 1) < 0)
		return lz_fail("out of memory for an event's writes");
	b->writes[b->ev.n_writes++] = (struct lz_write){.addr = addr, .len = len, .bytes = bytes};
	return 0;
}

int lz_build_kept(struct lz_tracer *t, uint64_t addr, uint64_t len, const struct lz_kept *kept,
                  uint32_t n)
{
	if (lz_build_refer(t, addr, NULL, len) < 0)
		return -1;
	struct lz_write *w = &t->b.writes[t->b.ev.n_writes - 1];
	w->kept = kept;
	w->n_kept = n;
	return 0;
}

/* They are in the room. */
static int add_write(struct lz_tracer *t, uint64_t addr, uint64_t len)
{
	if (lz_build_refer(t, addr, t->b.bytes + t->b.used, len) < 0)
		return -1;
	t->b.used += len;
	return 0;
}

int lz_build_read(struct lz_tracer *t, uint64_t addr, uint64_t len)
{
	if (!addr || !len)
		return 0;
	uint8_t *to = room_for(&t->b, len);
	if (!to)
		return -1;
	if (lz_proc_read(&t->p, addr, to, len) < 0)
		len = lz_proc_read_some(&t->p, addr, to, len);
	return len ? add_write(t, addr, len) : 0;
}

int lz_build_write(struct lz_tracer *t, uint64_t addr, const void *bytes, uint64_t len)
{
	uint8_t *to = room_for(&t->b, len);

	if (!to)
		return -1;
	memcpy(to, bytes, len);
	return add_write(t, addr, len);
}

int lz_build_op(struct lz_tracer *t, const struct lz_map_op *op)
{
	struct lz_builder *b = &t->b;

	if (lz_reserve(b->ops, b->ops_room, b->ev.n_ops + 1) < 0)
		return lz_fail("out of memory for an event's mapping changes");
	b->ops[b->ev.n_ops++] = *op;
	return 0;
}

int lz_build_regs(struct lz_tracer *t, const struct user_regs_struct *regs, bool with_xstate)
{
	struct lz_event *e = &t->b.ev;

	e->has_regs = true;
	e->regs = *regs;
	if (!with_xstate)
		return 0;
	e->xstate_len = LZ_XSTATE_MAX;
	e->xstate = t->b.xstate;
	return lz_proc_xstate(&t->p, t->b.xstate, &e->xstate_len);
}

int lz_build_commit(struct lz_tracer *t)
{
	struct lz_builder *b = &t->b;

	b->ev.writes = b->writes;
	b->ev.ops = b->ops;
	if (lz_writer_event(t->w, &b->ev) < 0)
		return -1;
	t->next_event = b->ev.index + 1;
	t->last_marker = b->ev.marker;
	return 0;
}
