/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests: the model of the address space against /proc/PID/maps, our copies of pages against
 * the program's. */
#include "tracer/checkpoint/checkpoint.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct check {
	struct lz_tracer *t;
	size_t at;      /* the next area of the model */
	uint64_t reach; /* the model agrees up to here */
};

static bool not_ours(struct lz_tracer *t, const struct lz_maps_entry *e)
{
	for (size_t i = 0; i < t->fast.sites.n_pools; i++)
		if (e->start == t->fast.sites.pool[i])
			return true;
	if (t->fast.page && e->start >= t->fast.at &&
	    e->end <= t->fast.at + LZ_STUB_CODE + sizeof(*t->fast.page))
		return true;
	return strncmp(e->path, "[v", 2) == 0 ||
	       (e->start >= t->meta.stub_addr && e->end <= t->meta.stub_addr + t->meta.stub_len);
}

/* Buffers are shared with us, and the fence closes some of their pages. */
static bool has_properties(const struct lz_stream *s, const struct lz_vma *v,
                           const struct lz_maps_entry *e, uint64_t at)
{
	if (v->role == LZ_VMA_BUFFER)
		return v->prot == e->prot || at - lz_ring_of(s->base) - s->fence < s->fence_len;
	return at != v->start || (v->prot == e->prot && !(v->flags & MAP_SHARED) == !e->shared);
}

/* The kernel may have split or joined what the model did not: compare page ranges. */
static int one_mapping(void *arg, const struct lz_maps_entry *e)
{
	struct check *c = arg;
	const struct lz_vmas *m = &c->t->vmas;

	if (not_ours(c->t, e))
		return 0;
	for (uint64_t at = e->start; at < e->end;) {
		const struct lz_vma *v = c->at < m->n ? &m->a[c->at].v : NULL;
		if (!v || at < v->start || (at > v->start && at != c->reach))
			return lz_fail("self check: mapping %#llx-%#llx %s is not known",
			               (unsigned long long)at, (unsigned long long)e->end, e->path);
		if (!has_properties(&c->t->s, v, e, at))
			return lz_fail("self check: mapping %#llx %s has other properties (%x %x)",
			               (unsigned long long)at, e->path, v->prot, e->prot);
		c->reach = v->end < e->end ? v->end : e->end;
		at = c->reach;
		if (at == v->end)
			c->at++;
	}
	return 0;
}

static int check(struct lz_tracer *t)
{
	struct check c = {.t = t};

	if (lz_proc_maps(t->p.pid, one_mapping, &c) < 0)
		return -1;
	if (c.at != t->vmas.n)
		return lz_fail("self check: mapping %#llx is not there any more",
		               (unsigned long long)t->vmas.a[c.at].v.start);
	return lz_pages_check(t);
}

int lz_self_check(struct lz_tracer *t)
{
	return !lz_self_check_wanted() || check(t) == 0 ? 0 : lz_self_check_failed(t);
}
