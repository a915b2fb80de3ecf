/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lies at an address: see lz_front_region(). */
#include "replayer/front/inside.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The first mapping that ends behind ADDR; N: there is none. */
static uint32_t find(const struct lz_vma *v, uint32_t n, uint64_t addr)
{
	uint32_t found = n;

	for (uint32_t i = 0; i < n; i++)
		if (addr < v[i].end && (found == n || v[i].start < v[found].start))
			found = i;
	return found;
}

static void take_vma(struct lz_front *f, const struct lz_vma *v, struct lz_front_region *r)
{
	r->start = v->start;
	r->end = v->end;
	r->prot = (int)v->prot;
	r->mapped = true;
	if (v->file < lz_reader_n_files(f->reader))
		r->file = lz_front_file_here(f, v->file);
	else if (v->role == LZ_VMA_STACK)
		r->file = "[stack]";
	else if (v->role == LZ_VMA_HEAP)
		r->file = "[heap]";
	else if (lz_front_is_vdso(f, v))
		r->file = "[vdso]";
}

static void take_area(const struct lz_front_area *a, struct lz_front_region *r)
{
	*r = (struct lz_front_region){
	    .start = a->addr, .end = a->addr + a->len, .prot = a->prot, .mapped = true};
}

/* The gap between ADDR and what NEXT begins with. */
static void take_gap(uint64_t addr, uint64_t next, struct lz_front_region *r)
{
	*r = (struct lz_front_region){.start = addr, .end = next};
}

int lz_front_region(struct lz_front *f, uint64_t addr, struct lz_front_region *r)
{
	const struct lz_front_area *a = lz_front_scratch_next(f, addr);
	struct lz_vma *v;
	uint32_t n;

	*r = (struct lz_front_region){.end = UINT64_MAX};
	if (lz_session_vmas(f->s, &v, &n) < 0)
		return -1;
	uint32_t i = find(v, n, addr);

	if (i < n)
		take_vma(f, &v[i], r);
	free(v);
	if (a && (!r->mapped || a->addr < r->start))
		take_area(a, r);
	if (!r->mapped || addr < r->start)
		take_gap(addr, r->mapped ? r->start : UINT64_MAX, r);
	return 0;
}
