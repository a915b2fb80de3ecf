/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding the pages that may have changed.
 *
 * With scan: userfaultfd write protection in asynchronous mode, read out by PAGEMAP_SCAN; a page
 * that is populated and not write-protected has been written. With compare: every page that the
 * program owns. */
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/pages.h"
#include "tracer/memory/resident.h"
#include "tracer/memory/shared_data.h"

#include <common/base/array.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <common/process/own_pages.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than Debian 12's headers. */
#define FEATURE_WP_UNPOPULATED (1 << 13)
#define FEATURE_WP_ASYNC (1 << 15)
#define USER_MODE_ONLY 1

enum { REGIONS = 512 };

/* ---- write tracking ---- */

struct lz_proc_call lz_dirty_call(void)
{
	return (struct lz_proc_call){.nr = SYS_userfaultfd,
	                             .args = {O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY}};
}

/* Moves the userfaultfd from the program, which has made it, to us. */
static int fetch_uffd(struct lz_tracer *t, int64_t fd)
{
	if (fd < 0)
		return -1;
	int pidfd = (int)syscall(SYS_pidfd_open, t->p.pid, 0);
	int own = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, (int)fd, 0);
	if (pidfd >= 0)
		close(pidfd);
	return own;
}

int lz_dirty_open(struct lz_tracer *t, struct lz_pages *g, int64_t made)
{
	struct uffdio_api api = {.api = UFFD_API,
	                         .features = FEATURE_WP_ASYNC | FEATURE_WP_UNPOPULATED |
	                                     UFFD_FEATURE_PAGEFAULT_FLAG_WP};
	struct lz_page_scan probe = {.size = sizeof(probe)};

	if (t->opt->dirty != LZ_DIRTY_COMPARE && ioctl(g->pagemap, LZ_PAGE_SCAN, &probe) == 0)
		g->uffd = fetch_uffd(t, made);
	if (made >= 0 && lz_proc_close_later(&t->p, (int)made) < 0)
		return -1;
	if (g->uffd >= 0 && ioctl(g->uffd, UFFDIO_API, &api) < 0) {
		close(g->uffd);
		g->uffd = -1;
	}
	return 0;
}

bool lz_dirty_tracked(const struct lz_vma *v)
{
	return v->role != LZ_VMA_BUFFER && !(v->flags & MAP_SHARED);
}

void lz_dirty_arm(struct lz_pages *g, struct lz_area *a)
{
	struct uffdio_register reg = {.range = {a->v.start, a->v.end - a->v.start},
	                              .mode = UFFDIO_REGISTER_MODE_WP};
	struct uffdio_writeprotect clear = {.range = reg.range};

	if (g->uffd < 0 || a->armed || !lz_dirty_tracked(&a->v) || !(a->v.prot & PROT_WRITE))
		return;
	/* While an area is not registered a write leaves the bit of its page behind, and the page
	 * would count as unwritten for good: all bits are cleared. */
	a->armed = ioctl(g->uffd, UFFDIO_REGISTER, &reg) == 0 &&
	           ioctl(g->uffd, UFFDIO_WRITEPROTECT, &clear) == 0;
	if (!a->armed)
		lz_debug("cannot track writes to %#llx: %s", (unsigned long long)a->v.start,
		         strerror(errno));
}

/* ---- candidates ---- */

int lz_dirty_add(struct lz_pages *g, uint64_t addr)
{
	if (lz_reserve(g->cand, g->cand_room, g->n_cand + 1) < 0)
		return lz_fail("out of memory for the list of dirty pages");
	g->cand[g->n_cand++] = addr;
	return 0;
}

/* The range is not write-protected throughout. */
enum { LOST = 1 };

int lz_dirty_scan(struct lz_pages *g, uint64_t start, uint64_t end, bool clear)
{
	struct lz_page_region regions[REGIONS];

	while (start < end) {
		struct lz_page_scan a = lz_own_pages_scan(start, end);
		a.vec = (uint64_t)(uintptr_t)regions;
		a.vec_len = REGIONS;
		a.category_mask |= LZ_SCAN_WRITTEN;
		if (clear)
			a.flags = LZ_SCAN_WP_MATCHING | LZ_SCAN_CHECK_WPASYNC;
		int n = ioctl(g->pagemap, LZ_PAGE_SCAN, &a);
		if (n < 0 && errno == EPERM && clear)
			return LOST;
		if (n < 0)
			return lz_fail_errno("PAGEMAP_SCAN of %#llx", (unsigned long long)start);
		for (int i = 0; i < n; i++)
			for (uint64_t p = regions[i].start; p < regions[i].end; p += LZ_PAGE)
				if (lz_dirty_add(g, p) < 0)
					return -1;
		start = a.walk_end > start ? a.walk_end : end;
	}
	return 0;
}

static int add_page(void *g, uint64_t addr)
{
	return lz_dirty_add(g, addr);
}

int lz_dirty_own(struct lz_pages *g, uint64_t start, uint64_t end)
{
	return lz_own_pages(g->pagemap, start, end, NULL, add_page, g);
}

/* Is the page the program's own, not its file's? */
bool lz_dirty_owned(const struct lz_tracer *t, uint64_t addr)
{
	uint64_t e = 0;

	if (pread(t->pages->pagemap, &e, sizeof(e), (off_t)(addr / LZ_PAGE * sizeof(e))) !=
	    sizeof(e))
		return true;
	return e >> 62 && !(e >> 61 & 1);
}

int lz_dirty_each_own(struct lz_tracer *t, uint64_t start, uint64_t end,
                      int (*fn)(void *t, uint64_t addr))
{
	return lz_own_pages(t->pages->pagemap, start, end, NULL, fn, t);
}

int lz_dirty_all(struct lz_pages *g, uint64_t start, uint64_t end)
{
	for (; start < end; start += LZ_PAGE)
		if (lz_dirty_add(g, start) < 0)
			return -1;
	return 0;
}

/* An mremap may take tracking from a neighbour that the kernel joined it with. Nothing is known of
 * such an area: every page that it has counts. */
static int from_armed(struct lz_pages *g, struct lz_area *a)
{
	int ret = lz_hot_scan(g, a->v.start, a->v.end);

	if (ret != LOST)
		return ret;
	a->armed = false;
	lz_dirty_arm(g, a);
	if (a->armed && lz_dirty_scan(g, a->v.start, a->v.end, true) < 0)
		return -1;
	return lz_dirty_own(g, a->v.start, a->v.end);
}

static int add_held(void *g, uint64_t addr, uint8_t *page)
{
	(void)page;
	return lz_dirty_add(g, addr);
}

static int add_gone(void *g, uint64_t addr, uint8_t *page)
{
	(void)page;
	return lz_dirty_add(g, addr | LZ_PAGE_GONE);
}

static int add_stretch(void *arg, enum lz_stretch kind, uint64_t from, uint64_t to)
{
	struct lz_pages *g = arg;

	if (kind == LZ_STRETCH_DATA)
		return lz_dirty_all(g, from, to);
	if (kind == LZ_STRETCH_HOLE)
		return lz_pagemap_each(&g->copy, from, to, add_gone, g);
	return lz_dirty_all(g, from | LZ_PAGE_GONE, to);
}

/* A private mapping may have pages of its own where its file has a hole. */
static int add_shown(void *g, enum lz_stretch kind, uint64_t from, uint64_t to)
{
	return kind == LZ_STRETCH_HOLE ? 0 : lz_dirty_all(g, from, to);
}

int lz_dirty_from_area(struct lz_tracer *t, struct lz_pages *g, struct lz_area *a)
{
	const struct lz_vma *v = &a->v;

	if (v->role == LZ_VMA_BUFFER)
		return 0;
	if (v->flags & MAP_SHARED) /* others may have written, and its pages are nobody's own */
		return v->prot & PROT_WRITE || lz_flags_object(v->flags)
		           ? lz_shared_data(t, a, add_stretch, g)
		           : 0;
	if (a->armed)
		return from_armed(g, a);
	if (g->uffd >= 0 && !(v->prot & PROT_WRITE) && !g->fresh)
		return 0; /* has never been writable, or it would be armed */
	return lz_dirty_own(g, v->start, v->end);
}

/* What we hold of ranges that were mapped anew or unmapped, and what is there now: an mremap brings
 * pages along. */
static int shown_in(struct lz_tracer *t, struct lz_pages *g, const struct lz_area *a,
                    const struct lz_range *part)
{
	struct lz_area of_it;

	if (a->v.role == LZ_VMA_BUFFER)
		return 0;
	if (!(a->v.flags & MAP_SHARED) && !a->follows)
		return 0;
	of_it = lz_area_part(a, part->start, part->end);
	return lz_shared_data(t, &of_it, a->v.flags & MAP_SHARED ? add_stretch : add_shown, g);
}

static int from_changed(struct lz_tracer *t, struct lz_pages *g, const struct lz_range *c)
{
	for (size_t i = lz_vmas_from(&t->vmas, c->start); i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		struct lz_range part = {v->start > c->start ? v->start : c->start,
		                        v->end < c->end ? v->end : c->end};
		if (v->start >= c->end)
			break;
		if (g->uffd >= 0 && lz_dirty_tracked(v) &&
		    lz_dirty_own(g, part.start, part.end) < 0)
			return -1;
		if (shown_in(t, g, &t->vmas.a[i], &part) < 0)
			return -1;
	}
	return lz_pagemap_each(&g->copy, c->start, c->end, add_held, g);
}

int lz_by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void lz_dirty_sort(struct lz_pages *g)
{
	size_t n = 0;

	qsort(g->cand, g->n_cand, sizeof(*g->cand), lz_by_address);
	for (size_t i = 0; i < g->n_cand; i++) {
		if (n && (g->cand[n - 1] | LZ_PAGE_GONE) == (g->cand[i] | LZ_PAGE_GONE))
			n--;
		g->cand[n++] = g->cand[i];
	}
	g->n_cand = n;
}

void lz_dirty_cleared(struct lz_tracer *t, struct lz_pages *g)
{
	g->cleared_event = t->next_event;
	g->cleared_marker = lz_stream_offset(t);
}

/* Without uffd every page is compared anyway, but what has gone back to its backing is not
 * populated and would not be seen. */
int lz_dirty_find(struct lz_tracer *t, struct lz_pages *g)
{
	if (lz_hot_begin(g) < 0)
		return -1;
	g->n_cand = 0;
	lz_resident_look(t);
	for (size_t i = 0; i < t->vmas.n; i++)
		if (lz_dirty_from_area(t, g, &t->vmas.a[i]) < 0)
			return -1;
	for (size_t i = 0; i < g->n_changed; i++)
		if (from_changed(t, g, &g->changed[i]) < 0)
			return -1;
	for (size_t i = 0; i < g->n_carry; i++)
		if (lz_dirty_add(g, g->carry[i]) < 0)
			return -1;
	lz_dirty_sort(g);
	lz_dirty_cleared(t, g);
	return 0;
}
