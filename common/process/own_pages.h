/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pages that a process has as its own: anonymous ones, and copies of a file's pages. */
#ifndef LIZARD_OWN_PAGES_H
#define LIZARD_OWN_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>

/* PAGEMAP_SCAN of Linux 6.7, which Debian 12's headers do not have. */
struct lz_page_region {
	uint64_t start, end, categories;
};
struct lz_page_scan {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define LZ_PAGE_SCAN _IOWR('f', 16, struct lz_page_scan)
enum { LZ_SCAN_WP_MATCHING = 1, LZ_SCAN_CHECK_WPASYNC = 2 };
enum {
	LZ_SCAN_WRITTEN = 2,
	LZ_SCAN_FILE = 4,
	LZ_SCAN_PRESENT = 8,
	LZ_SCAN_SWAPPED = 16,
	LZ_SCAN_PFNZERO = 32
};

/* What selects a process's own pages, for [START, END). */
struct lz_page_scan lz_own_pages_scan(uint64_t start, uint64_t end);

/* Calls FN for each own page from START to END, by address, until it returns something but 0,
 * which is then the result. Left out may be pages that have only been read and hold zeros.
 * PAGEMAP is an open /proc/PID/pagemap. Takes as long as there are pages; on kernels before 6.7 as
 * long as the range is, and looks at *STOP (may be NULL) on the way. 0, or -1 (lz_fail). */
int lz_own_pages(int pagemap, uint64_t start, uint64_t end, const _Atomic bool *stop,
                 int (*fn)(void *arg, uint64_t addr), void *arg);

#endif
