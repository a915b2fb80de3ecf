/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Breakpoints in a re-executed process, and its memory without them. */
#include "replayer/engine/calls.h"
#include <lizard/error.h>
#include <stdlib.h>
#include <sys/mman.h>

bool lz_engine_has_break(const struct lz_engine *e, uint64_t addr)
{
	for (size_t i = 0; i < e->breaks.n; i++)
		if (e->breaks.v[i].addr == addr)
			return true;
	return false;
}

/* ---- debug registers ---- */

static unsigned taken(const struct lz_engine *e)
{
	return 1 | (e->want.ip ? 1U << 1 : 0) | (e->debug.user[0].kind ? 1U << 2 : 0) |
	       (e->debug.user[1].kind ? 1U << 3 : 0);
}

static bool written_to(const struct lz_engine *e, uint64_t addr)
{
	const struct lz_vma *v = lz_space_find(&e->space, addr);

	return v && v->prot & PROT_WRITE;
}

/* Debug registers cost nothing where the page of an int3 is used as data, too: code that may be
 * written to comes first. */
static void choose_slots(struct lz_engine *e)
{
	int slot = 0;

	e->breaks.taken = taken(e);
	for (size_t i = 0; i < e->breaks.n; i++)
		e->breaks.v[i].slot = 0;
	for (size_t i = 0; i < 2 * e->breaks.n; i++) {
		bool first = i < e->breaks.n;
		struct lz_softbreak *b = &e->breaks.v[first ? i : i - e->breaks.n];
		while (slot < 4 && e->breaks.taken >> slot & 1)
			slot++;
		if (slot < 4 && b->addr < 1UL << 47 && !b->slot && written_to(e, b->addr) == first)
			b->slot = slot++;
	}
}

/* ---- int3 ---- */

void lz_engine_put_break(struct lz_engine *e, struct lz_softbreak *b)
{
	static const uint8_t int3 = 0xcc;
	const struct lz_vma *v = lz_space_find(&e->space, b->addr);

	/* Not code now: perhaps later. Control never comes to data, where GDB has one for the
	 * return of a call. */
	if (b->in || b->slot || !v || !(v->prot & PROT_EXEC) ||
	    lz_proc_read_some(&e->proc, b->addr, &b->saved, 1) != 1)
		return;
	b->in = lz_proc_write(&e->proc, b->addr, &int3, 1) == 0;
	const struct lz_guarded *g = lz_engine_guard_of(e, b->addr);
	if (!g || !(g->kind & LZ_GUARD_CODE))
		e->breaks.guarded = false;
}

void lz_engine_take_break(struct lz_engine *e, struct lz_softbreak *b)
{
	uint8_t now;

	if (b->in && lz_proc_read_some(&e->proc, b->addr, &now, 1) == 1 && now == 0xcc)
		lz_proc_write(&e->proc, b->addr, &b->saved, 1);
	b->in = false;
}

int lz_engine_insert(struct lz_engine *e)
{
	if (e->breaks.in && e->breaks.taken == taken(e))
		return 0;
	lz_engine_unbreak(e);
	choose_slots(e);
	for (size_t i = 0; i < e->breaks.n; i++)
		lz_engine_put_break(e, &e->breaks.v[i]);
	e->breaks.in = true;
	return 0;
}

void lz_engine_unbreak(struct lz_engine *e)
{
	if (!e->breaks.in)
		return;
	for (size_t i = 0; i < e->breaks.n; i++)
		lz_engine_take_break(e, &e->breaks.v[i]);
	e->breaks.in = false;
}

int lz_engine_break(struct lz_engine *e, const uint64_t *addrs, size_t n)
{
	lz_engine_unbreak(e);
	e->breaks.n = 0;
	e->breaks.guarded = false;
	if (!n)
		return 0;
	struct lz_softbreak *b = realloc(e->breaks.v, n * sizeof *b);
	if (!b)
		return lz_fail("out of memory");
	e->breaks.v = b;
	for (size_t i = 0; i < n; i++)
		if (!lz_engine_has_break(e, addrs[i]))
			b[e->breaks.n++] = (struct lz_softbreak){.addr = addrs[i]};
	return 0;
}

size_t lz_engine_read(struct lz_engine *e, uint64_t addr, void *buf, size_t len)
{
	size_t n = lz_proc_read_some(&e->proc, addr, buf, len);

	for (size_t i = 0; e->breaks.in && i < e->breaks.n; i++) {
		struct lz_softbreak *b = &e->breaks.v[i];
		if (b->in && b->addr - addr < n && ((uint8_t *)buf)[b->addr - addr] == 0xcc)
			((uint8_t *)buf)[b->addr - addr] = b->saved;
	}
	if (e->calls.c)
		lz_sites_show_some(&e->calls.c->sites, addr, buf, n);
	return n;
}

size_t lz_engine_read_allowed(struct lz_engine *e, uint64_t addr, void *buf, size_t len)
{
	const struct lz_vma *v = NULL;
	uint64_t at = addr;

	while (at - addr < len && (v = lz_space_find(&e->space, at)) && v->prot)
		at = v->end;
	/* what no mapping of the list holds may be stack that has grown */
	if (at - addr < len && v)
		len = at - addr;
	return lz_engine_read(e, addr, buf, len);
}
