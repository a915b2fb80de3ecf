/* Which pages of the program changed since the last checkpoint, and what they held then.
 *
 * With scan: userfaultfd write protection in asynchronous mode, read out by PAGEMAP_SCAN; a page
 * that is populated and not write-protected has been written. With compare: every page that the
 * program owns is compared with our copy. */
#include "tracer/tracer.h"

#include <common/pagemap.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <lizard/error.h>
#include <stdio.h>
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

struct page_region {
	uint64_t start, end, categories;
};
struct pm_scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define SCAN _IOWR('f', 16, struct pm_scan_arg)
enum { SCAN_WP_MATCHING = 1, SCAN_CHECK_WPASYNC = 2 };
enum { IS_WRITTEN = 2, IS_FILE = 4, IS_PRESENT = 8, IS_SWAPPED = 16, IS_PFNZERO = 32 };

enum { BATCH = 256, REGIONS = 512 };

struct range {
	uint64_t start, end;
};

struct lz_pages {
	int pagemap, uffd; /* uffd -1: compare */
	bool have_scan;    /* the PAGEMAP_SCAN ioctl exists */
	bool fresh;        /* nothing collected in this image yet */
	struct lz_pagemap copy;
	uint8_t **spare; /* unused pages */
	size_t n_spare, spare_room;
	struct range *changed;
	size_t n_changed, changed_room;
	uint64_t *cand; /* pages to look at */
	size_t n_cand, cand_room;
	uint64_t *carry; /* seen as written by lz_pages_watch(), not collected yet */
	size_t n_carry;
	struct lz_page_set before; /* compare: at lz_pages_watch() */
	uint8_t batch[BATCH * LZ_PAGE];
};

static const uint8_t zeroes[LZ_PAGE];

/* ---- pages from slabs: they come and go by the thousand ---- */

enum { SLAB = 256 };

static int give_back(struct lz_pages *g, uint8_t *page)
{
	if (g->n_spare == g->spare_room) {
		size_t room = g->spare_room ? 2 * g->spare_room : 2 * SLAB;
		uint8_t **s = realloc(g->spare, room * sizeof(*s));
		if (!s)
			return lz_fail("out of memory for page copies");
		g->spare = s;
		g->spare_room = room;
	}
	g->spare[g->n_spare++] = page;
	return 0;
}

static uint8_t *new_page(struct lz_pages *g)
{
	if (!g->n_spare) {
		uint8_t *slab = mmap(NULL, SLAB * LZ_PAGE, PROT_READ | PROT_WRITE,
		                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (slab == MAP_FAILED) {
			lz_fail_errno("out of memory for page copies");
			return NULL;
		}
		for (int i = SLAB; i-- > 0;)
			if (give_back(g, slab + (size_t)i * LZ_PAGE) < 0)
				return NULL;
	}
	return g->spare[--g->n_spare];
}

/* ---- write tracking ---- */

/* Moves a userfaultfd from the program, which makes it, to us. */
static int fetch_uffd(struct lz_tracer *t)
{
	int64_t fd, closed;

	if (lz_proc_syscall(&t->p, &fd, SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY, 0,
	                    0, 0, 0, 0) < 0)
		return -2;
	if (fd < 0)
		return -1;
	int pidfd = (int)syscall(SYS_pidfd_open, t->p.pid, 0);
	int own = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, (int)fd, 0);
	if (pidfd >= 0)
		close(pidfd);
	if (lz_proc_syscall(&t->p, &closed, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0) < 0)
		return -2;
	return own;
}

static int open_uffd(struct lz_tracer *t, struct lz_pages *g)
{
	struct uffdio_api api = {.api = UFFD_API,
	                         .features = FEATURE_WP_ASYNC | FEATURE_WP_UNPOPULATED |
	                                     UFFD_FEATURE_PAGEFAULT_FLAG_WP};
	struct pm_scan_arg probe = {.size = sizeof(probe)};

	g->have_scan = ioctl(g->pagemap, SCAN, &probe) == 0;
	if (t->opt->dirty == LZ_DIRTY_COMPARE || !g->have_scan)
		return 0;
	g->uffd = fetch_uffd(t);
	if (g->uffd == -2)
		return -1;
	if (g->uffd >= 0 && ioctl(g->uffd, UFFDIO_API, &api) < 0) {
		close(g->uffd);
		g->uffd = -1;
	}
	return 0;
}

const char *lz_pages_method(const struct lz_pages *g)
{
	return g->uffd >= 0 ? "scan" : "compare";
}

static bool tracked(const struct lz_vma *v)
{
	return v->role != LZ_VMA_BUFFER && !(v->flags & MAP_SHARED);
}

static void arm(struct lz_pages *g, struct lz_area *a)
{
	struct uffdio_register reg = {.range = {a->v.start, a->v.end - a->v.start},
	                              .mode = UFFDIO_REGISTER_MODE_WP};

	if (g->uffd < 0 || a->armed || !tracked(&a->v) || !(a->v.prot & PROT_WRITE))
		return;
	a->armed = ioctl(g->uffd, UFFDIO_REGISTER, &reg) == 0;
	if (!a->armed)
		lz_debug("cannot track writes to %#llx: %s", (unsigned long long)a->v.start,
		         strerror(errno));
}

struct lz_pages *lz_pages_new(struct lz_tracer *t)
{
	struct lz_pages *g = calloc(1, sizeof(*g));
	char path[64];

	if (!g) {
		lz_fail("out of memory");
		return NULL;
	}
	g->uffd = -1;
	g->fresh = true;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)t->p.pid);
	g->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (g->pagemap < 0) {
		lz_fail_errno("cannot open %s", path);
		goto fail;
	}
	if (open_uffd(t, g) < 0)
		goto fail;
	if (t->opt->dirty == LZ_DIRTY_SCAN && g->uffd < 0) {
		lz_fail("this system cannot scan for dirty pages; use --dirty=compare");
		goto fail;
	}
	for (size_t i = 0; i < t->vmas.n; i++)
		arm(g, &t->vmas.a[i]);
	lz_debug("dirty pages: %s", lz_pages_method(g));
	return g;
fail:
	lz_pages_free(g);
	return NULL;
}

/* The slabs stay until the process ends: they are few and an execve is rare. */
void lz_pages_free(struct lz_pages *g)
{
	if (!g)
		return;
	if (g->pagemap >= 0)
		close(g->pagemap);
	if (g->uffd >= 0)
		close(g->uffd);
	for (size_t i = 0; i < g->copy.cap; i++)
		if (g->copy.slot[i].page)
			munmap(g->copy.slot[i].page, LZ_PAGE);
	for (size_t i = 0; i < g->n_spare; i++)
		munmap(g->spare[i], LZ_PAGE);
	lz_pagemap_free(&g->copy);
	free(g->spare);
	free(g->changed);
	free(g->cand);
	free(g->carry);
	free(g);
}

int lz_pages_changed(struct lz_tracer *t, uint64_t start, uint64_t end)
{
	struct lz_pages *g = t->pages;

	if (!g || start >= end)
		return 0;
	for (size_t i = lz_vmas_from(&t->vmas, start); i < t->vmas.n && t->vmas.a[i].v.start < end;
	     i++)
		arm(g, &t->vmas.a[i]);
	if (g->n_changed && g->changed[g->n_changed - 1].start == start &&
	    g->changed[g->n_changed - 1].end == end)
		return 0;
	if (g->n_changed == g->changed_room) {
		size_t room = g->changed_room ? 2 * g->changed_room : 64;
		struct range *c = realloc(g->changed, room * sizeof(*c));
		if (!c)
			return lz_fail("out of memory for changed ranges");
		g->changed = c;
		g->changed_room = room;
	}
	g->changed[g->n_changed++] = (struct range){start, end};
	return 0;
}

/* ---- candidates ---- */

static int candidate(struct lz_pages *g, uint64_t addr)
{
	if (g->n_cand == g->cand_room) {
		size_t room = g->cand_room ? 2 * g->cand_room : 1024;
		uint64_t *c = realloc(g->cand, room * sizeof(*c));
		if (!c)
			return lz_fail("out of memory for the list of dirty pages");
		g->cand = c;
		g->cand_room = room;
	}
	g->cand[g->n_cand++] = addr;
	return 0;
}

/* The range is not write-protected throughout. */
enum { LOST = 1 };

static int scan(struct lz_pages *g, uint64_t start, uint64_t end, bool written)
{
	struct page_region regions[REGIONS];

	while (start < end) {
		struct pm_scan_arg a = {.size = sizeof(a),
		                        .start = start,
		                        .end = end,
		                        .vec = (uint64_t)(uintptr_t)regions,
		                        .vec_len = REGIONS,
		                        .category_mask = IS_FILE | IS_PFNZERO,
		                        .category_inverted = IS_FILE | IS_PFNZERO,
		                        .category_anyof_mask = IS_PRESENT | IS_SWAPPED,
		                        .return_mask = IS_PRESENT};
		if (written) {
			a.flags = SCAN_WP_MATCHING | SCAN_CHECK_WPASYNC;
			a.category_mask |= IS_WRITTEN;
		}
		long n = ioctl(g->pagemap, SCAN, &a);
		if (n < 0 && errno == EPERM && written)
			return LOST;
		if (n < 0)
			return lz_fail_errno("PAGEMAP_SCAN of %#llx", (unsigned long long)start);
		for (long i = 0; i < n; i++)
			for (uint64_t p = regions[i].start; p < regions[i].end; p += LZ_PAGE)
				if (candidate(g, p) < 0)
					return -1;
		start = a.walk_end > start ? a.walk_end : end;
	}
	return 0;
}

/* Kernels without PAGEMAP_SCAN: 8 bytes for each page. */
static int walk(struct lz_pages *g, uint64_t start, uint64_t end)
{
	uint64_t e[512];

	while (start < end) {
		uint64_t want = (end - start) / LZ_PAGE;
		ssize_t n = pread(g->pagemap, e, want < 512 ? want * 8 : sizeof(e),
		                  (off_t)(start / LZ_PAGE * 8));
		if (n <= 0)
			return lz_fail_errno("cannot read the page map");
		for (ssize_t i = 0; i < n / 8; i++) {
			bool there = e[i] >> 62, file = e[i] >> 61 & 1;
			if (there && !file && candidate(g, start + (uint64_t)i * LZ_PAGE) < 0)
				return -1;
		}
		start += (uint64_t)n / 8 * LZ_PAGE;
	}
	return 0;
}

static int all_of(struct lz_pages *g, uint64_t start, uint64_t end)
{
	for (; start < end; start += LZ_PAGE)
		if (candidate(g, start) < 0)
			return -1;
	return 0;
}

/* An mremap may take tracking from a neighbour that the kernel joined it with. Nothing is known of
 * such an area: every page that it has counts. */
static int from_armed(struct lz_pages *g, struct lz_area *a)
{
	int ret = scan(g, a->v.start, a->v.end, true);

	if (ret != LOST)
		return ret;
	a->armed = false;
	arm(g, a);
	if (a->armed && scan(g, a->v.start, a->v.end, true) < 0)
		return -1;
	return scan(g, a->v.start, a->v.end, false);
}

static int from_area(struct lz_pages *g, struct lz_area *a)
{
	const struct lz_vma *v = &a->v;

	if (v->role == LZ_VMA_BUFFER)
		return 0;
	if (v->flags & MAP_SHARED) /* others may have written, and its pages are nobody's own */
		return v->prot & PROT_WRITE ? all_of(g, v->start, v->end) : 0;
	if (a->armed)
		return from_armed(g, a);
	if (g->uffd >= 0 && !(v->prot & PROT_WRITE) && !g->fresh)
		return 0; /* has never been writable, or it would be armed */
	if (g->have_scan)
		return scan(g, v->start, v->end, false);
	return walk(g, v->start, v->end);
}

/* What we hold of ranges that were mapped anew or unmapped, and what is there now: an mremap brings
 * pages along. */
static int from_changed(struct lz_tracer *t, struct lz_pages *g, const struct range *c)
{
	for (size_t i = lz_vmas_from(&t->vmas, c->start); i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		uint64_t from = v->start > c->start ? v->start : c->start;
		uint64_t to = v->end < c->end ? v->end : c->end;
		if (v->start >= c->end)
			break;
		if (g->uffd >= 0 && tracked(v) && scan(g, from, to, false) < 0)
			return -1;
		if ((v->flags & MAP_SHARED) && v->role != LZ_VMA_BUFFER && all_of(g, from, to) < 0)
			return -1;
	}
	if ((c->end - c->start) / LZ_PAGE < g->copy.cap) {
		for (uint64_t p = c->start; p < c->end; p += LZ_PAGE)
			if (lz_pagemap_get(&g->copy, p) && candidate(g, p) < 0)
				return -1;
		return 0;
	}
	for (size_t i = 0; i < g->copy.cap; i++) {
		uint64_t p = (g->copy.slot[i].key - 1) * LZ_PAGE;
		if (g->copy.slot[i].page && p >= c->start && p < c->end && candidate(g, p) < 0)
			return -1;
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Without uffd every page is compared anyway, but what has gone back to its backing is not
 * populated and would not be seen. */
static int candidates(struct lz_tracer *t, struct lz_pages *g)
{
	size_t n = 0;

	g->n_cand = 0;
	for (size_t i = 0; i < t->vmas.n; i++)
		if (from_area(g, &t->vmas.a[i]) < 0)
			return -1;
	for (size_t i = 0; i < g->n_changed; i++)
		if (from_changed(t, g, &g->changed[i]) < 0)
			return -1;
	for (size_t i = 0; i < g->n_carry; i++)
		if (candidate(g, g->carry[i]) < 0)
			return -1;
	qsort(g->cand, g->n_cand, sizeof(*g->cand), by_address);
	for (size_t i = 0; i < g->n_cand; i++)
		if (!n || g->cand[n - 1] != g->cand[i])
			g->cand[n++] = g->cand[i];
	g->n_cand = n;
	return 0;
}

/* ---- the set ---- */

static void add(struct lz_page_set *s, uint64_t addr, const uint8_t *now, const uint8_t *before)
{
	s->addr[s->n] = addr;
	s->now[s->n] = now;
	s->before[s->n++] = before;
}

static int make_room(struct lz_page_set *s, size_t n)
{
	s->addr = malloc((n + 1) * sizeof(*s->addr));
	s->now = malloc((n + 1) * sizeof(*s->now));
	s->before = malloc((n + 1) * sizeof(*s->before));
	return s->addr && s->now && s->before ? 0 : lz_fail("out of memory for %zu dirty pages", n);
}

/* NOW: the page's contents, NULL if it is unmapped. */
static int compare_page(struct lz_tracer *t, struct lz_page_set *s, uint64_t addr,
                        const uint8_t *now)
{
	struct lz_pages *g = t->pages;
	uint8_t *old = lz_pagemap_get(&g->copy, addr);

	if (!now) {
		if (old)
			add(s, addr, NULL, old);
		return 0;
	}
	if (old && memcmp(old, now, LZ_PAGE) == 0)
		return 0;
	if (!old && memcmp(now, zeroes, LZ_PAGE) == 0) {
		ptrdiff_t i = lz_vmas_find(&t->vmas, addr);
		if (i >= 0 && t->vmas.a[i].v.file == LZ_NO_FILE)
			return 0;
	}
	uint8_t *page = new_page(g);
	if (!page)
		return -1;
	memcpy(page, now, LZ_PAGE);
	add(s, addr, page, old);
	return 0;
}

static int read_batch(struct lz_tracer *t, struct lz_page_set *s, const uint64_t *addr, size_t n)
{
	struct lz_pages *g = t->pages;
	size_t whole = n;

	if (lz_proc_read(&t->p, addr[0], g->batch, n * LZ_PAGE) < 0)
		whole = 0;
	for (size_t i = 0; i < n; i++) {
		uint8_t *now = g->batch + i * LZ_PAGE;
		if (i >= whole && lz_proc_read_some(&t->p, addr[i], now, LZ_PAGE) != LZ_PAGE)
			now = NULL;
		if (compare_page(t, s, addr[i], now) < 0)
			return -1;
	}
	return 0;
}

static int compare_all(struct lz_tracer *t, struct lz_page_set *s)
{
	struct lz_pages *g = t->pages;

	for (size_t i = 0, n; i < g->n_cand; i += n) {
		const uint64_t *c = g->cand + i;
		bool mapped = lz_vmas_find(&t->vmas, c[0]) >= 0;
		for (n = 1; n < BATCH && i + n < g->n_cand; n++)
			if (c[n] != c[n - 1] + LZ_PAGE ||
			    (lz_vmas_find(&t->vmas, c[n]) >= 0) != mapped)
				break;
		if (mapped && read_batch(t, s, c, n) < 0)
			return -1;
		for (size_t k = 0; !mapped && k < n; k++)
			if (compare_page(t, s, c[k], NULL) < 0)
				return -1;
	}
	return 0;
}

static void free_set(struct lz_page_set *s)
{
	free(s->addr);
	free(s->now);
	free(s->before);
	*s = (struct lz_page_set){0};
}

static int remember(struct lz_pages *g, const struct lz_page_set *s)
{
	for (size_t i = 0; i < s->n; i++) {
		uint8_t **held = lz_pagemap_at(&g->copy, s->addr[i]);
		if (!held)
			return lz_fail("out of memory for page copies");
		if (*held && give_back(g, *held) < 0)
			return -1;
		*held = (uint8_t *)s->now[i];
	}
	return 0;
}

/* Everything that differs from its backing, from our copy. */
static int whole_set(struct lz_tracer *t, struct lz_page_set *s)
{
	struct lz_pages *g = t->pages;
	size_t n = 0;

	if (make_room(s, g->copy.used) < 0)
		return -1;
	for (size_t i = 0; i < g->copy.cap; i++) {
		uint64_t addr = (g->copy.slot[i].key - 1) * LZ_PAGE;
		uint8_t **page = &g->copy.slot[i].page;
		if (!*page)
			continue;
		ptrdiff_t a = lz_vmas_find(&t->vmas, addr);
		if (a < 0 ||
		    (t->vmas.a[a].v.file == LZ_NO_FILE && memcmp(*page, zeroes, LZ_PAGE) == 0)) {
			if (give_back(g, *page) < 0)
				return -1;
			*page = NULL;
		} else {
			s->addr[n++] = addr;
		}
	}
	qsort(s->addr, n, sizeof(*s->addr), by_address);
	for (; s->n < n; s->n++) {
		s->now[s->n] = lz_pagemap_get(&g->copy, s->addr[s->n]);
		s->before[s->n] = NULL;
	}
	return 0;
}

int lz_pages_collect(struct lz_tracer *t, bool whole, struct lz_page_set *set)
{
	struct lz_pages *g = t->pages;

	*set = (struct lz_page_set){0};
	if (candidates(t, g) < 0 || make_room(set, g->n_cand) < 0 || compare_all(t, set) < 0)
		return -1;
	g->fresh = false;
	g->n_changed = g->n_carry = 0;
	if (!whole)
		return 0;
	int ret = remember(g, set);
	free_set(set);
	return ret < 0 ? -1 : whole_set(t, set);
}

int lz_pages_done(struct lz_tracer *t, struct lz_page_set *set, bool whole)
{
	int ret = whole ? 0 : remember(t->pages, set);

	free_set(set);
	return ret;
}

/* ---- watching another writer ---- */

/* The candidates so far stay candidates. */
static int carry_on(struct lz_pages *g)
{
	uint64_t *c = malloc((g->n_cand + 1) * sizeof(*c));

	if (!c)
		return lz_fail("out of memory for the list of dirty pages");
	memcpy(c, g->cand, g->n_cand * sizeof(*c));
	free(g->carry);
	g->carry = c;
	g->n_carry = g->n_cand;
	return 0;
}

int lz_pages_watch(struct lz_tracer *t)
{
	struct lz_pages *g = t->pages;

	if (candidates(t, g) < 0 || carry_on(g) < 0)
		return -1;
	if (g->uffd >= 0)
		return 0;
	return make_room(&g->before, g->n_cand) < 0 ? -1 : compare_all(t, &g->before);
}

static const uint8_t *find_now(const struct lz_pages *g, const struct lz_page_set *s, uint64_t addr)
{
	const uint64_t *p = bsearch(&addr, s->addr, s->n, sizeof(addr), by_address);
	const uint8_t *held = p ? s->now[p - s->addr] : lz_pagemap_get(&g->copy, addr);

	return held ? held : zeroes;
}

/* What differs between g->before and AFTER, both relative to our copy. */
static int differences(struct lz_tracer *t, const struct lz_page_set *after,
                       struct lz_page_set *set)
{
	struct lz_pages *g = t->pages;
	const struct lz_page_set *both[2] = {&g->before, after};

	if (make_room(set, g->before.n + after->n) < 0)
		return -1;
	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < both[k]->n; i++) {
			uint64_t addr = both[k]->addr[i];
			const uint8_t *now = find_now(g, after, addr);
			if (memcmp(now, find_now(g, &g->before, addr), LZ_PAGE) == 0)
				continue;
			uint8_t *page = new_page(g);
			if (!page)
				return -1;
			memcpy(page, now, LZ_PAGE);
			add(set, addr, page, NULL);
		}
	}
	return 0;
}

static int watched_compare(struct lz_tracer *t, struct lz_page_set *set)
{
	struct lz_pages *g = t->pages;
	struct lz_page_set after = {0};

	if (candidates(t, g) < 0 || make_room(&after, g->n_cand) < 0 ||
	    compare_all(t, &after) < 0 || differences(t, &after, set) < 0)
		return -1;
	lz_pages_forget(t, &after);
	lz_pages_forget(t, &g->before);
	return 0;
}

int lz_pages_watched(struct lz_tracer *t, struct lz_page_set *set)
{
	struct lz_pages *g = t->pages;

	if (g->uffd < 0)
		return watched_compare(t, set);
	g->n_cand = 0;
	for (size_t i = 0; i < t->vmas.n; i++)
		if (t->vmas.a[i].armed && from_area(g, &t->vmas.a[i]) < 0)
			return -1;
	if (make_room(set, g->n_cand) < 0)
		return -1;
	for (size_t i = 0; i < g->n_cand; i++) {
		uint8_t *page = new_page(g);
		if (!page)
			return -1;
		if (lz_proc_read(&t->p, g->cand[i], page, LZ_PAGE) < 0)
			return -1;
		add(set, g->cand[i], page, NULL);
	}
	for (size_t i = 0; i < g->n_carry; i++)
		if (candidate(g, g->carry[i]) < 0)
			return -1;
	return carry_on(g);
}

void lz_pages_forget(struct lz_tracer *t, struct lz_page_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->now[i])
			give_back(t->pages, (uint8_t *)set->now[i]);
	free_set(set);
}

/* ---- checking ourselves ---- */

/* Is every page that the program owns what we believe it to be? */
int lz_pages_check(struct lz_tracer *t)
{
	struct lz_pages *g = t->pages;

	g->n_cand = 0;
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;
		if (!tracked(v))
			continue;
		int ret =
		    g->have_scan ? scan(g, v->start, v->end, false) : walk(g, v->start, v->end);
		if (ret < 0)
			return -1;
	}
	for (size_t i = 0; i < g->n_cand; i++) {
		uint64_t addr = g->cand[i];
		const uint8_t *held = lz_pagemap_get(&g->copy, addr);
		ptrdiff_t a = lz_vmas_find(&t->vmas, addr);
		if (lz_proc_read_some(&t->p, addr, g->batch, LZ_PAGE) != LZ_PAGE)
			continue;
		if (!held && a >= 0 && t->vmas.a[a].v.file == LZ_NO_FILE)
			held = zeroes;
		if (!held || memcmp(held, g->batch, LZ_PAGE) != 0)
			return lz_fail("self check: page %#llx changed unseen (%s)",
			               (unsigned long long)addr, held ? "written" : "new");
	}
	return 0;
}
