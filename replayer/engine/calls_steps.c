/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What calls without a stop do to memory: which of it is possible, and the steps of the log. Calls that
 * change mappings of data are made in the process itself, while all others are barred there. */
#include "replayer/engine/calls.h"
#include <lizard/error.h>
#include <lizard/restore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { OUT_MOST = 256 << 10 };

static uint64_t page_up(uint64_t n)
{
	return (n + LZ_PAGE - 1) & ~(uint64_t)(LZ_PAGE - 1);
}

/* ---- the mappings that there will be ---- */

const struct lz_vma *lz_calls_mapping(struct lz_engine *e, uint64_t addr)
{
	struct lz_space *s = e->calls.c ? &e->calls.c->ahead : NULL;

	if (!s || !s->n)
		return lz_engine_mapping(e, addr);
	const struct lz_vma *v = lz_space_find(s, addr);
	if (v || lz_space_follow_stack(s, e->proc.pid) < 0)
		return v;
	return lz_space_find(s, addr);
}

int lz_calls_go_ahead(struct lz_engine *e, const struct lz_event *ev)
{
	struct lz_space *s = &e->calls.c->ahead;

	if (ev->n_ops && !s->n && lz_space_copy(s, e->space.vmas, e->space.n) < 0)
		return -1;
	for (uint32_t i = 0; i < ev->n_ops; i++)
		if (lz_space_apply(s, &ev->ops[i]) < 0)
			return -1;
	return 0;
}

/* ---- what is possible ---- */

/* Somebody waits for a change there. */
static bool is_watched(const struct lz_engine *e, uint64_t addr, uint64_t len)
{
	bool any = false;

	for (int i = 0; i < 2; i++) {
		const struct lz_slot *s = &e->debug.user[i];
		any |= s->kind && addr < s->addr + (uint64_t)s->len && s->addr < addr + len;
	}
	for (size_t i = 0; !any && i < e->guarded.n; i++)
		any = addr < e->guarded.v[i].page + LZ_PAGE && e->guarded.v[i].page < addr + len;
	return any;
}

/* The program itself can write there, and nobody executes it. Data may be in several mappings, some of
 * a file. */
static bool is_writable(struct lz_engine *e, const struct lz_write *w)
{
	const uint64_t end = w->addr + w->len;

	for (uint64_t at = w->addr; at <= end;) {
		const struct lz_vma *v = lz_calls_mapping(e, at);

		if (!v || !(v->prot & PROT_WRITE) || v->prot & PROT_EXEC ||
		    v->role == LZ_VMA_BUFFER)
			return false;
		if (v->end >= end)
			return true;
		at = v->end;
	}
	return false;
}

/* The event itself maps that memory. */
static bool maps_it(const struct lz_event *ev, const struct lz_write *w)
{
	for (uint32_t i = 0; i < ev->n_ops; i++) {
		const uint64_t off = w->addr - ev->ops[i].addr, len = page_up(ev->ops[i].len);

		if (ev->ops[i].op == LZ_MAP && off < len && w->len <= len - off)
			return true;
	}
	return false;
}

/* Data that the process alone has, or nothing. */
static bool is_own_data(struct lz_engine *e, uint64_t addr, uint64_t len)
{
	const struct lz_space *s =
	    e->calls.c && e->calls.c->ahead.n ? &e->calls.c->ahead : &e->space;

	for (uint32_t i = lz_space_from(s, addr); i < s->n && s->vmas[i].start < addr + len; i++) {
		const struct lz_vma *v = &s->vmas[i];

		if (v->prot & PROT_EXEC || v->flags & MAP_SHARED || lz_flags_object(v->flags) ||
		    (v->role != LZ_VMA_PLAIN && v->role != LZ_VMA_HEAP))
			return false;
	}
	return true;
}

static bool can_change(struct lz_engine *e, const struct lz_map_op *op)
{
	const uint64_t len = page_up(op->len);

	if (op->addr % LZ_PAGE || !len || !lz_stub_is_apart(e->proc.stub, op->addr, len) ||
	    is_watched(e, op->addr, len) || lz_calls_touch(e, op->addr, len) ||
	    !is_own_data(e, op->addr, len))
		return false;
	switch (op->op) {
	case LZ_MAP:
		return op->file == LZ_NO_FILE && !(op->prot & ~(uint32_t)LZ_OWN_PROT) &&
		       !(op->flags & (MAP_SHARED | MAP_GROWSDOWN)) && !lz_flags_object(op->flags);
	case LZ_PROTECT: return !(op->prot & ~(uint32_t)LZ_OWN_PROT);
	default: return op->op == LZ_UNMAP || op->op == LZ_ZERO;
	}
}

bool lz_calls_can_do(struct lz_engine *e, const struct lz_event *ev)
{
	/* a mapping may have to be protected afterwards */
	if (ev->n_writes + 2ULL * ev->n_ops > UINT8_MAX || (ev->n_ops && e->proc.stub->cannot_bar))
		return false;
	for (uint32_t i = 0; i < ev->n_ops; i++)
		if (!can_change(e, &ev->ops[i]))
			return false;
	for (uint32_t i = 0; i < ev->n_writes; i++) {
		const struct lz_write *w = &ev->writes[i];

		if (w->len > OUT_MOST || !(maps_it(ev, w) || is_writable(e, w)) ||
		    is_watched(e, w->addr, w->len))
			return false;
	}
	return true;
}

/* ---- steps ---- */

static void put(struct lz_steps *s, const struct lz_logged_step *step, const uint8_t *bytes)
{
	const size_t room = bytes ? (step->len + 7) & ~(size_t)7 : 0;

	if (s->to) {
		memcpy(s->to + s->len, step, sizeof(*step));
		if (bytes)
			memcpy(s->to + s->len + sizeof(*step), bytes, step->len);
	}
	s->len += sizeof(*step) + room;
	s->n++;
}

static void put_call(struct lz_steps *s, uint32_t nr, const struct lz_map_op *op, uint32_t prot)
{
	put(s, &(struct lz_logged_step){op->addr, page_up(op->len), nr, prot}, NULL);
}

static bool is_filled_first(const struct lz_event *ev, const struct lz_map_op *op)
{
	return op->op == LZ_MAP && ev->n_writes && !(op->prot & PROT_WRITE);
}

static uint32_t number_of(const struct lz_map_op *op)
{
	switch (op->op) {
	case LZ_MAP: return SYS_mmap;
	case LZ_UNMAP: return SYS_munmap;
	case LZ_PROTECT: return SYS_mprotect;
	default: return SYS_madvise;
	}
}

static bool put_kept(struct lz_calls *c, struct lz_steps *s, const struct lz_write *w)
{
	uint32_t place = 0;

	if (s->to && !lz_calls_keep(c, w, &place))
		return false;
	put(s, &(struct lz_logged_step){w->addr, w->len, LZ_STEP_KEPT, place}, NULL);
	return true;
}

bool lz_calls_put_steps(struct lz_calls *c, struct lz_steps *s, const struct lz_event *ev)
{
	for (uint32_t i = 0; i < ev->n_ops; i++) {
		const struct lz_map_op *op = &ev->ops[i];
		const uint32_t more = is_filled_first(ev, op) ? PROT_WRITE : 0;

		put_call(s, number_of(op), op, op->prot | more);
	}
	for (uint32_t i = 0; i < ev->n_writes; i++) {
		const struct lz_write *w = &ev->writes[i];

		if (!lz_calls_keeps(w))
			put(s, &(struct lz_logged_step){w->addr, w->len, 0, 0}, w->bytes);
		else if (!put_kept(c, s, w))
			return false;
	}
	for (uint32_t i = 0; i < ev->n_ops; i++)
		if (is_filled_first(ev, &ev->ops[i]))
			put_call(s, SYS_mprotect, &ev->ops[i], ev->ops[i].prot);
	return true;
}
