/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/process/own_pages.h>
#include <lizard/error.h>
#include <lizard/recording.h>
#include <unistd.h>

struct lz_page_scan lz_own_pages_scan(uint64_t start, uint64_t end)
{
	return (struct lz_page_scan){.size = sizeof(struct lz_page_scan),
	                             .start = start,
	                             .end = end,
	                             .category_mask = LZ_SCAN_FILE | LZ_SCAN_PFNZERO,
	                             .category_inverted = LZ_SCAN_FILE | LZ_SCAN_PFNZERO,
	                             .category_anyof_mask = LZ_SCAN_PRESENT | LZ_SCAN_SWAPPED,
	                             .return_mask = LZ_SCAN_PRESENT};
}

/* Kernels without PAGEMAP_SCAN: 8 bytes for each page. */
static int walk(int pagemap, uint64_t start, uint64_t end, const _Atomic bool *stop,
                int (*fn)(void *arg, uint64_t addr), void *arg)
{
	enum { FILE_PAGE = 61, SWAPPED = 62, ROOM = 512 };
	uint64_t entry[ROOM];

	while (start < end) {
		if (stop && *stop)
			return lz_fail("interrupted");
		uint64_t want = (end - start) / LZ_PAGE < ROOM ? (end - start) / LZ_PAGE : ROOM;
		ssize_t got = pread(pagemap, entry, want * sizeof(*entry),
		                    (off_t)(start / LZ_PAGE * sizeof(*entry)));
		if (got < (ssize_t)sizeof(*entry))
			return lz_fail_errno("cannot read the page map of the process");
		for (size_t i = 0; i < (size_t)got / sizeof(*entry); i++, start += LZ_PAGE) {
			bool own = entry[i] >> SWAPPED && !(entry[i] >> FILE_PAGE & 1);
			int ret = own ? fn(arg, start) : 0;
			if (ret)
				return ret;
		}
	}
	return 0;
}

int lz_own_pages(int pagemap, uint64_t start, uint64_t end, const _Atomic bool *stop,
                 int (*fn)(void *arg, uint64_t addr), void *arg)
{
	enum { ROOM = 512 };
	struct lz_page_region region[ROOM];

	while (start < end) {
		struct lz_page_scan scan = lz_own_pages_scan(start, end);
		scan.vec = (uint64_t)(uintptr_t)region;
		scan.vec_len = ROOM;
		int n = ioctl(pagemap, LZ_PAGE_SCAN, &scan);
		if (n < 0)
			return walk(pagemap, start, end, stop, fn, arg);
		for (int i = 0; i < n; i++)
			for (uint64_t p = region[i].start; p < region[i].end; p += LZ_PAGE) {
				int ret = fn(arg, p);
				if (ret)
					return ret;
			}
		start = scan.walk_end > start ? scan.walk_end : end;
	}
	return 0;
}
