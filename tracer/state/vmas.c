/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/state/vmas.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void lz_vmas_clear(struct lz_vmas *m)
{
	free(m->a);
	*m = (struct lz_vmas){0};
}

size_t lz_vmas_from(const struct lz_vmas *m, uint64_t addr)
{
	return lz_lower_bound(i, m->n, m->a[i].v.end <= addr);
}

ptrdiff_t lz_vmas_find(const struct lz_vmas *m, uint64_t addr)
{
	size_t i = lz_vmas_from(m, addr);

	return i < m->n && m->a[i].v.start <= addr ? (ptrdiff_t)i : -1;
}

static int insert(struct lz_vmas *m, size_t at, const struct lz_area *area)
{
	if (lz_reserve(m->a, m->room, m->n + 1) < 0)
		return lz_fail("out of memory for the list of mappings");
	memmove(m->a + at + 1, m->a + at, (m->n - at) * sizeof(*m->a));
	m->a[at] = *area;
	m->n++;
	return 0;
}

struct lz_area lz_area_part(const struct lz_area *a, uint64_t start, uint64_t end)
{
	struct lz_area part = *a;

	if (lz_vma_has_offset(&part.v))
		part.v.offset += start - part.v.start;
	part.object_at += start - part.v.start;
	part.v.start = start;
	part.v.end = end;
	return part;
}

static int split(struct lz_vmas *m, uint64_t addr)
{
	ptrdiff_t i = lz_vmas_find(m, addr);

	if (i < 0 || m->a[i].v.start == addr)
		return 0;
	struct lz_area high = lz_area_part(&m->a[i], addr, m->a[i].v.end);
	if (insert(m, (size_t)i + 1, &high) < 0)
		return -1;
	m->a[i].v.end = addr;
	return 0;
}

bool lz_vmas_writable(const struct lz_vmas *m, uint64_t at, uint64_t len)
{
	for (uint64_t end = at + len; at < end;) {
		const ptrdiff_t i = lz_vmas_find(m, at);

		if (i < 0 || !(m->a[i].v.prot & PROT_WRITE))
			return false;
		at = m->a[i].v.end;
	}
	return true;
}

int lz_vmas_slice(struct lz_vmas *m, uint64_t start, uint64_t end, size_t *first, size_t *last)
{
	if (split(m, start) < 0 || split(m, end) < 0)
		return -1;
	*first = lz_vmas_from(m, start);
	*last = *first;
	while (*last < m->n && m->a[*last].v.start < end)
		(*last)++;
	return 0;
}

int lz_vmas_remove(struct lz_vmas *m, uint64_t start, uint64_t end)
{
	size_t first, last;

	if (lz_vmas_slice(m, start, end, &first, &last) < 0)
		return -1;
	if (first == last)
		return 0;
	m->changes++;
	memmove(m->a + first, m->a + last, (m->n - last) * sizeof(*m->a));
	m->n -= last - first;
	return 0;
}

static bool joins(const struct lz_area *x, const struct lz_area *y)
{
	const struct lz_vma *v = &x->v, *w = &y->v;

	return v->end == w->start && v->prot == w->prot && v->flags == w->flags &&
	       v->file == w->file && v->role == w->role && x->armed == y->armed &&
	       x->follows == y->follows && !x->small && !y->small && x->read_only == y->read_only &&
	       x->object == y->object &&
	       (!x->object || x->object_at + (v->end - v->start) == y->object_at) &&
	       (!lz_vma_has_offset(v) || v->offset + (v->end - v->start) == w->offset);
}

static void join(struct lz_vmas *m, size_t i)
{
	if (i + 1 >= m->n || !joins(&m->a[i], &m->a[i + 1]))
		return;
	m->a[i].v.end = m->a[i + 1].v.end;
	m->a[i].counters &= m->a[i + 1].counters;
	memmove(m->a + i + 1, m->a + i + 2, (m->n - i - 2) * sizeof(*m->a));
	m->n--;
}

int lz_vmas_add(struct lz_vmas *m, const struct lz_area *area)
{
	if (lz_vmas_remove(m, area->v.start, area->v.end) < 0)
		return -1;
	size_t i = lz_vmas_from(m, area->v.start);
	m->changes++;
	m->changes_of_code += area->v.prot & PROT_EXEC ? 1 : 0;
	if (insert(m, i, area) < 0)
		return -1;
	m->a[i].counters = false;
	join(m, i);
	if (i)
		join(m, i - 1);
	return 0;
}

void lz_vmas_join(struct lz_vmas *m, uint64_t start, uint64_t end)
{
	const size_t first = lz_vmas_from(m, start);

	for (size_t i = lz_vmas_from(m, end) + 1; i-- > (first ? first - 1 : 0);)
		join(m, i);
}

int lz_vmas_protect(struct lz_vmas *m, uint64_t start, uint64_t end, uint32_t prot)
{
	size_t first, last;

	if (lz_vmas_slice(m, start, end, &first, &last) < 0)
		return -1;
	for (size_t i = first; i < last; i++) {
		m->a[i].v.prot = prot;
		m->a[i].counters = false;
	}
	m->changes++;
	m->changes_of_code += prot & PROT_EXEC ? 1 : 0;
	for (size_t i = last; i-- > (first ? first - 1 : 0);)
		join(m, i);
	return 0;
}
