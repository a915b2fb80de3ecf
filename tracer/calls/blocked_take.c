/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a call may write while another thread has the turn is taken down before:
 * memory/blocked_writes.c. */
#include "tracer/calls/calls.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/state/state.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* W, as it is a part of area A, where area B shows it. */
static int take_alias(struct lz_blocked *k, const struct lz_write *w, const struct lz_vma *a,
                      const struct lz_vma *b)
{
	uint64_t from = w->addr > a->start ? w->addr : a->start;
	uint64_t to = w->addr + w->len < a->end ? w->addr + w->len : a->end;
	uint64_t at = a->offset + (from - a->start), end = a->offset + (to - a->start);
	uint64_t b_end = b->offset + (b->end - b->start);

	at = at > b->offset ? at : b->offset;
	end = end < b_end ? end : b_end;
	if (from >= to || at >= end)
		return 0;
	if (lz_reserve(k->a, k->room, (size_t)k->n + 1) < 0)
		return lz_fail("out of memory for a call's output");
	from = a->start + (at - a->offset);
	k->a[k->n++] = (struct lz_write){.addr = b->start + (at - b->offset),
	                                 .len = end - at,
	                                 .bytes = w->bytes + (from - w->addr)};
	return 0;
}

static bool shows_same(const struct lz_vma *a, const struct lz_vma *b)
{
	return a != b && lz_flags_object(a->flags) == lz_flags_object(b->flags) &&
	       a->flags & b->flags & MAP_SHARED;
}

/* What is mapped more than once is written to wherever it is mapped. */
static int take_aliases(const struct lz_tracer *t, struct lz_blocked *k)
{
	const struct lz_vmas *m = &t->vmas;

	for (uint32_t i = 0, n = k->n; i < n; i++) {
		struct lz_write w = k->a[i];
		for (size_t j = lz_vmas_from(m, w.addr);
		     j < m->n && m->a[j].v.start < w.addr + w.len; j++) {
			if (!lz_flags_object(m->a[j].v.flags))
				continue;
			for (size_t l = 0; l < m->n; l++)
				if (shows_same(&m->a[j].v, &m->a[l].v) &&
				    take_alias(k, &w, &m->a[j].v, &m->a[l].v) < 0)
					return -1;
		}
	}
	return 0;
}

int lz_blocked_take(struct lz_tracer *t)
{
	struct lz_blocked *k = &t->cur->blocked;
	const struct lz_builder *b = &t->b;

	lz_blocked_drop(t->cur);
	/* Its word belongs to all threads, and a waiting one's kernel does not write it unseen. */
	if (t->cur->call.nr == SYS_futex)
		return 0;
	lz_build(t, LZ_EV_SYSCALL, 0); /* never committed: only to gather */
	if (lz_capture(t, lz_call_most(&t->cur->call)) < 0)
		return -1;
	if (!b->ev.n_writes)
		return 0;
	k->bytes = malloc(b->used);
	if (!k->bytes || lz_reserve(k->a, k->room, b->ev.n_writes) < 0)
		return lz_fail("out of memory for a call's output");
	memcpy(k->bytes, b->bytes, b->used);
	k->n = b->ev.n_writes;
	for (uint32_t i = 0; i < k->n; i++) {
		k->a[i] = b->writes[i];
		k->a[i].bytes = k->bytes + (b->writes[i].bytes - b->bytes);
	}
	return take_aliases(t, k);
}

/* Waits for more when it has written something, or writes what is left of its time where a signal interrupts it
 * that has no effect. */
static bool writes_early(const struct lz_call *c)
{
	switch (c->nr) {
	case SYS_recvmmsg: return true;
	case SYS_recvfrom: return c->args[3] & MSG_WAITALL;
	case SYS_recvmsg: return c->args[2] & MSG_WAITALL;
	case SYS_ppoll: return c->args[2];
	case SYS_select:
	case SYS_pselect6: return c->args[4];
	}
	return false;
}

int lz_blocked_take_early(struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;

	return lz_threaded(t) && lz_call_waits(c) && writes_early(c) ? lz_blocked_take(t) : 0;
}
