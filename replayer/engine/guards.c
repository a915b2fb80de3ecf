/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages that are inaccessible while a re-executed process runs: for what debug registers cannot
 * watch, and so that an int3 is not seen and not written over. Of a page without permission to read
 * the processor's protection keys leave execution; where it has none, reads see the int3. */
#include "replayer/engine/inside.h"
#include <lizard/error.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static int protect(struct lz_engine *e, uint64_t page, uint32_t prot)
{
	int64_t result;

	if (lz_engine_leave_call(e) < 0 || lz_engine_flush(e) < 0 ||
	    lz_proc_syscall(&e->proc, &result, SYS_mprotect, page, LZ_PAGE, prot, 0, 0, 0) < 0)
		return -1;
	return result
	           ? lz_fail("cannot protect the page %#lx, which is guarded", (unsigned long)page)
	           : 0;
}

const struct lz_vma *lz_engine_mapping(struct lz_engine *e, uint64_t addr)
{
	const struct lz_vma *v = lz_space_find(&e->space, addr);

	if (v || lz_space_follow_stack(&e->space, e->proc.pid) < 0)
		return v;
	return lz_space_find(&e->space, addr);
}

/* ---- which pages ---- */

static struct lz_guarded *find(const struct lz_engine *e, uint64_t addr)
{
	for (size_t i = 0; i < e->guarded.n; i++)
		if (addr - e->guarded.v[i].page < LZ_PAGE)
			return &e->guarded.v[i];
	return NULL;
}

const struct lz_guarded *lz_engine_guard_of(const struct lz_engine *e, uint64_t addr)
{
	return find(e, addr);
}

int lz_engine_add_guard(struct lz_engine *e, uint64_t page, unsigned kind)
{
	struct lz_guarded *g = find(e, page);

	if (g) {
		g->kind |= kind;
		return 0;
	}
	struct lz_guarded *v = reallocarray(e->guarded.v, e->guarded.n + 1, sizeof *v);
	if (!v)
		return lz_fail("out of memory");
	e->guarded.v = v;
	v[e->guarded.n++] = (struct lz_guarded){.page = page, .kind = kind};
	return 0;
}

int lz_engine_drop_guards(struct lz_engine *e)
{
	if (lz_engine_unguard(e) < 0)
		return -1;
	e->guarded.n = 0;
	e->breaks.guarded = false;
	return 0;
}

/* [FROM, TO) of mapping V, in the others of its object. */
static int aliases_of(const struct lz_space *space, const struct lz_vma *v, uint64_t from,
                      uint64_t to, int (*fn)(void *arg, uint64_t start, uint64_t end), void *arg)
{
	uint64_t at = v->offset + (from - v->start), end = at + (to - from);
	int ret = 0;

	for (uint32_t i = 0; !ret && i < space->n; i++) {
		const struct lz_vma *u = &space->vmas[i];
		uint64_t u_end = u->offset + (u->end - u->start);
		if (u == v || lz_flags_object(u->flags) != lz_flags_object(v->flags) ||
		    u->offset >= end || u_end <= at)
			continue;
		uint64_t first = at > u->offset ? at : u->offset, last = end < u_end ? end : u_end;
		ret = fn(arg, u->start + (first - u->offset), u->start + (last - u->offset));
	}
	return ret;
}

int lz_engine_each_alias(const struct lz_engine *e, uint64_t from, uint64_t to,
                         int (*fn)(void *arg, uint64_t start, uint64_t end), void *arg)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && e->proc.stub->shares && i < e->space.n; i++) {
		const struct lz_vma *v = &e->space.vmas[i];
		uint64_t first = from > v->start ? from : v->start;
		uint64_t last = to < v->end ? to : v->end;
		if (lz_flags_object(v->flags) && first < last)
			ret = aliases_of(&e->space, v, first, last, fn, arg);
	}
	return ret;
}

/* ---- guarding ---- */

static int add_code(void *arg, uint64_t start, uint64_t end)
{
	(void)end;
	return lz_engine_add_guard(arg, start & ~(uint64_t)(LZ_PAGE - 1), LZ_GUARD_CODE);
}

/* The pages of the int3s that are in now, and no others. */
static int choose_code(struct lz_engine *e)
{
	if (e->breaks.guarded)
		return 0;
	if (lz_engine_unguard(e) < 0)
		return -1;
	for (size_t i = 0; i < e->guarded.n; i++)
		e->guarded.v[i].kind &= ~(unsigned)LZ_GUARD_CODE;
	for (size_t i = 0; i < e->breaks.n; i++) {
		uint64_t addr = e->breaks.v[i].addr;
		if (e->breaks.v[i].in && (add_code(e, addr, addr + 1) < 0 ||
		                          lz_engine_each_alias(e, addr, addr + 1, add_code, e) < 0))
			return -1;
	}
	e->breaks.guarded = true;
	return 0;
}

/* Of permissions PROT those that are left to the program. */
static uint32_t left(const struct lz_guarded *g, uint32_t prot)
{
	uint32_t all = PROT_READ | PROT_WRITE | PROT_EXEC;

	if (g->kind & LZ_GUARD_WRITES && prot & PROT_WRITE)
		all = g->kind & LZ_GUARD_READS ? PROT_NONE : PROT_READ | PROT_EXEC;
	if (g->kind & LZ_GUARD_CODE)
		all &= PROT_EXEC;
	return prot & all;
}

int lz_engine_guard(struct lz_engine *e)
{
	if (choose_code(e) < 0)
		return -1;
	for (size_t i = 0; i < e->guarded.n; i++) {
		struct lz_guarded *g = &e->guarded.v[i];
		const struct lz_vma *v = g->in ? NULL : lz_engine_mapping(e, g->page);
		if (!v || v->role == LZ_VMA_BUFFER || left(g, v->prot) == v->prot)
			continue;
		g->prot = v->prot;
		if (protect(e, g->page, left(g, v->prot)) < 0)
			return -1;
		g->in = true;
	}
	return 0;
}

int lz_engine_unguard(struct lz_engine *e)
{
	for (size_t i = 0; i < e->guarded.n; i++) {
		struct lz_guarded *g = &e->guarded.v[i];
		if (g->in && protect(e, g->page, g->prot) < 0)
			return -1;
		g->in = false;
	}
	return 0;
}
