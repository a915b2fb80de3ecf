/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program may have written to since somebody looked last: with these pages, its registers
 * and its stack an instant has a name that no other one has. */
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/pages.h"

#include <common/base/array.h>
#include <common/process/state_sum.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	ALWAYS = 64,         /* so many pages may always be read, */
	PAGE_NS = 1500,      /* others take so long each, */
	SCAN_NS = 100000,    /* and so does finding them, at most; */
	SHARE = 20,          /* what takes longer, a part of the time as small as this */
	STACK_MOST = 8 << 20 /* a stack grows without a word */
};

/* When the last look was over; not before is there another one. Of the one process. */
static struct {
	uint64_t at, not_before;
} last;

static bool can_be_written(const struct lz_area *a)
{
	return a->v.prot & PROT_WRITE && a->v.role != LZ_VMA_BUFFER;
}

/* Does nobody else write there, and is all writing known? */
static bool all_tracked(const struct lz_tracer *t)
{
	for (size_t i = 0; i < t->vmas.n; i++)
		if (can_be_written(&t->vmas.a[i]) &&
		    (!t->vmas.a[i].armed || t->vmas.a[i].v.flags & MAP_SHARED))
			return false;
	return true;
}

/* No event and no marker has come since: what was written then belongs to the name as well. */
static bool looked_before(struct lz_tracer *t, const struct lz_pages *g)
{
	return g->cleared_event == t->next_event && g->cleared_marker == lz_stream_offset(t);
}

static uint64_t start_of(const struct lz_tracer *t, size_t i)
{
	const struct lz_vma *v = &t->vmas.a[i].v;
	const uint64_t before = i ? t->vmas.a[i - 1].v.end : 0;

	if (!(v->flags & MAP_GROWSDOWN) || v->end < STACK_MOST)
		return v->start;
	return v->end - STACK_MOST > before ? v->end - STACK_MOST : before;
}

/* 1; 0: tracking was lost somewhere, all of that counts as written. */
static int find(struct lz_tracer *t, struct lz_pages *g)
{
	int all = 1;

	g->n_cand = 0;
	for (size_t i = 0; i < t->vmas.n; i++) {
		struct lz_area *a = &t->vmas.a[i];
		if (!can_be_written(a))
			continue;
		int lost = lz_dirty_scan(g, start_of(t, i), a->v.end, true);
		if (lost < 0)
			return -1;
		if (!lost)
			continue;
		all = 0;
		a->armed = false;
		lz_dirty_arm(g, a);
		if (lz_dirty_own(g, a->v.start, a->v.end) < 0)
			return -1;
	}
	return all;
}

/* For the next checkpoint they have been written to all the same. Both are by address. */
static int carry(struct lz_pages *g)
{
	const size_t room = g->n_carry + g->n_cand;
	uint64_t *both = malloc((room + 1) * sizeof(*both));
	size_t i = 0, k = 0, n = 0;

	if (!both)
		return lz_fail("out of memory for the list of dirty pages");
	while (i < g->n_carry || k < g->n_cand) {
		const bool old = k == g->n_cand || (i < g->n_carry && g->carry[i] <= g->cand[k]);
		const uint64_t next = old ? g->carry[i++] : g->cand[k++];
		if (!n || both[n - 1] != next)
			both[n++] = next;
	}
	free(g->carry);
	g->carry = both;
	g->n_carry = n;
	return 0;
}

/* N pages that follow each other. */
static int sum_run(struct lz_tracer *t, const uint64_t *addr, size_t n, struct lz_page_sum *to)
{
	uint8_t *bytes = t->pages->batch;

	if (lz_proc_read(&t->p, addr[0], bytes, n * LZ_PAGE) < 0)
		return -1;
	for (size_t i = 0; i < n; i++, bytes += LZ_PAGE) {
		lz_blocked_show(t, addr[i], bytes);
		lz_sites_show(&t->fast.sites, addr[i], bytes);
		to[i] = (struct lz_page_sum){addr[i], lz_page_sum(bytes)};
	}
	return 0;
}

static int sum_all(struct lz_tracer *t, struct lz_pages *g, struct lz_page_sums *to)
{
	if (lz_reserve(to->a, to->room, g->n_cand) < 0)
		return lz_fail("out of memory for the pages of a signal");
	for (size_t i = 0, n; i < g->n_cand; i += n) {
		const uint64_t *c = g->cand + i;

		for (n = 1; n < LZ_PAGES_BATCH && i + n < g->n_cand; n++)
			if (c[n] != c[n - 1] + LZ_PAGE)
				break;
		if (sum_run(t, c, n, to->a + i) < 0)
			return 0; /* gone again, or only executable */
	}
	to->n = (uint32_t)g->n_cand;
	return 1;
}

static bool too_long(uint64_t begin, size_t n)
{
	return n > ALWAYS && n * PAGE_NS * SHARE > begin - last.at;
}

int lz_pages_written(struct lz_tracer *t, struct lz_page_sums *to)
{
	struct lz_pages *g = t->pages;
	const uint64_t begin = lz_now(), cpu = lz_tracer_time();

	if (!g || g->uffd < 0 || begin < last.not_before || looked_before(t, g) || !all_tracked(t))
		return 0;
	int found = find(t, g);
	lz_dirty_cleared(t, g);
	if (found < 0 || carry(g) < 0)
		return -1;
	if (found && !too_long(begin, g->n_cand))
		found = sum_all(t, g, to);
	else
		found = 0;
	last.at = lz_now();
	const uint64_t took = lz_tracer_time() - cpu;
	last.not_before = took > SCAN_NS ? begin + took * SHARE : 0;
	return found;
}
