/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sites (common/process/sites.h) of the traced program, which lead to the code that makes calls without a
 * stop (tracer/stub). */
#include "tracer/code/code.h"

#include <common/process/moved.h>
#include <common/process/vdso.h>
#include <string.h>
#include <sys/mman.h>

/* Code that stays as it is: a file's, or the vDSO's. */
static bool is_fixed_code(const struct lz_tracer *t, uint64_t at)
{
	ptrdiff_t i = lz_vmas_find(&t->vmas, at);
	const struct lz_vma *v = i < 0 ? NULL : &t->vmas.a[i].v;

	return v && v->prot & PROT_EXEC && !(v->prot & PROT_WRITE) && !(v->flags & MAP_SHARED) &&
	       v->end - at >= LZ_MOVED_FROM && (v->file != LZ_NO_FILE || lz_vdso_was(&t->p, v));
}

/* There is a table of the mappings with sites. */
static bool has_range(struct lz_tracer *t, uint64_t at)
{
	struct lz_sites *s = &t->fast.sites;
	const struct lz_vma *v = &t->vmas.a[lz_vmas_find(&t->vmas, at)].v;

	for (size_t i = 0; i < s->n_code; i++)
		if (at >= s->code_of[i].start && at < s->code_of[i].end)
			return true;
	if (s->n_code == LZ_CODE_RANGES)
		return false;
	s->code_of[s->n_code++] = (struct lz_code_range){v->start, v->end};
	return true;
}

void lz_detours_begin(struct lz_tracer *t)
{
	if (t->p.elsewhere)
		return;
	lz_sites_begin(&t->fast.sites);
	t->p.elsewhere = &t->fast.sites.elsewhere;
}

/* Those of the stub as soon as it is there. */
static int set_entries(struct lz_tracer *t)
{
	struct lz_sites *s = &t->fast.sites;
	uint64_t before[LZ_SITE_ENTRIES];
	const uint64_t first = (uintptr_t)lz_stub_entry - (uintptr_t)__start_lz_stub;
	const uint64_t counter = (uintptr_t)lz_stub_counter - (uintptr_t)__start_lz_stub;
	const uint64_t rdtscp = (uintptr_t)lz_stub_rdtscp - (uintptr_t)__start_lz_stub;
	const uint64_t xsavec = (uintptr_t)lz_stub_xsavec - (uintptr_t)__start_lz_stub;

	_Static_assert((int)LZ_SITE_KINDS <= (int)LZ_SITE_COUNTER &&
	                   LZ_SITE_COUNTER + (int)LZ_SITE_KINDS <= (int)LZ_SITE_CPUID &&
	                   LZ_SITE_RDTSCP + (int)LZ_SITE_KINDS <= (int)LZ_SITE_XSAVEC &&
	                   LZ_SITE_XSAVEC + (int)LZ_SITE_KINDS <= (int)LZ_SITE_ENTRIES,
	               "each kind of site has an entry");
	_Static_assert((int)LZ_CODE_RANGES == (int)LZ_SITE_RANGES, "the page has all ranges");
	memcpy(before, s->entry, sizeof(before));
	s->kept_from_children = true;
	s->entry[LZ_SITE_CPUID] = t->meta.stub_addr + LZ_STUB_CPUID;
	for (unsigned i = 0; t->fast.page && i < LZ_SITE_KINDS; i++) {
		s->entry[i] = t->fast.at + first + i * LZ_STUB_ENTRY;
		s->entry[LZ_SITE_COUNTER + i] = t->fast.at + counter + i * LZ_STUB_ENTRY;
		s->entry[LZ_SITE_RDTSCP + i] = t->fast.at + rdtscp + i * LZ_STUB_ENTRY;
		s->entry[LZ_SITE_XSAVEC + i] = t->fast.at + xsavec + i * LZ_STUB_ENTRY;
	}
	return memcmp(before, s->entry, sizeof(before)) ? lz_sites_entries(s, &t->p) : 0;
}

int lz_detour_make(struct lz_tracer *t, uint64_t at)
{
	struct lz_sites *s = &t->fast.sites;
	const size_t n_code = s->n_code;

	if (!is_fixed_code(t, at) || !has_range(t, at))
		return 0;
	const uint64_t end = t->vmas.a[lz_vmas_find(&t->vmas, at)].v.end;
	int ret = set_entries(t) < 0 ? -1 : lz_site_make(s, &t->p, at, end);
	if (ret != 1)
		s->n_code = n_code;
	return ret;
}

int lz_detour_kind(struct lz_tracer *t, struct lz_site *x, uint8_t kind)
{
	return lz_site_enter(&t->fast.sites, &t->p, x, kind);
}

void lz_detours_release(const struct lz_tracer *t, const struct lz_proc *p)
{
	lz_sites_release(&t->fast.sites, p);
}

void lz_detours_lend(struct lz_tracer *t, const struct lz_proc *p)
{
	lz_sites_lend(&t->fast.sites, p);
}

void lz_detours_again(struct lz_tracer *t)
{
	lz_sites_again(&t->fast.sites, &t->p);
}

void lz_detours_end_counters(struct lz_tracer *t)
{
	lz_sites_end_counters(&t->fast.sites, &t->p);
}

void lz_detours_moved(struct lz_tracer *t, uint64_t start, uint64_t end, uint64_t to)
{
	lz_sites_moved(&t->fast.sites, &t->p, start, end, to);
}
