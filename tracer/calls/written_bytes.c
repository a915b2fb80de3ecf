/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The checksum of what a call has written, where replay finds the same bytes at the call's
 * event. */
#include "tracer/calls/calls.h"
#include "tracer/memory/memory.h"

#include <lizard/written_bytes.h>
#include <sys/mman.h>

static bool is_own_area(const struct lz_area *a)
{
	return !(a->v.flags & MAP_SHARED) && !a->follows && a->v.role != LZ_VMA_BUFFER;
}

/* Of memory that others change, of what a call under way has stored and no event shows yet, and
 * of memory that is not the program's, replay knows other bytes. */
bool lz_taken_is_own(const struct lz_tracer *t, uint64_t addr, uint64_t len)
{
	const struct lz_vmas *m = &t->vmas;
	uint64_t at = addr, end = addr + len;

	if (end < addr || lz_blocked_overlaps(t, addr, len))
		return false;
	for (size_t i = lz_vmas_from(m, addr); at < end; i++) {
		if (i == m->n || m->a[i].v.start > at || !is_own_area(&m->a[i]))
			return false;
		at = m->a[i].v.end;
	}
	return true;
}

static bool is_own(void *arg, uint64_t addr, uint64_t len)
{
	return lz_taken_is_own(arg, addr, len);
}

void lz_note_written_bytes(struct lz_tracer *t)
{
	struct lz_event *e = &t->b.ev;

	/* what it has changed itself may be what it has written */
	if (!e->n_writes && !e->n_ops)
		e->has_taken =
		    lz_written_bytes_crc(&t->p, e->nr, e->args, e->result, is_own, t, &e->taken);
}
