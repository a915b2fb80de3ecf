/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process whose pages change from checkpoint to checkpoint, and the recording that the tests share. */
#ifndef LIZARD_TEST_SAMPLE_PAGES_H
#define LIZARD_TEST_SAMPLE_PAGES_H

#include "tests/unit/sample_events.h"

/* The contents of its N_PAGES pages follow from (checkpoint, page). */

enum { N_PAGES = 3000, BASE = 0x400000 };

static inline bool page_at(unsigned ck, unsigned page, uint8_t *out)
{
	unsigned version = 0;

	/* Page p changes at checkpoints that p + 1 divides into; every 11th page vanishes at odd ones. */
	for (unsigned c = 0; c <= ck; c++)
		if (c % (page % 5 + 1) == 0)
			version = c + 1;
	memset(out, 0, LZ_PAGE);
	if (page % 11 == 3 && ck % 2)
		return false;
	for (unsigned i = 0; i < LZ_PAGE; i += page % 7 + 1)
		out[i] = (uint8_t)(page * 7 + (i % 1024 ? 0 : version));
	out[LZ_PAGE - 1] = (uint8_t)version;
	return true;
}

static inline void put_checkpoint(struct lz_writer *w, unsigned n, bool whole, uint64_t event)
{
	static uint8_t now[N_PAGES][LZ_PAGE], old[N_PAGES][LZ_PAGE];
	static const uint8_t *pages[N_PAGES], *prev[N_PAGES];
	static uint64_t dirty[N_PAGES];
	uint8_t xstate[832];
	struct lz_vma vmas[] = {
	    {BASE, BASE + N_PAGES * LZ_PAGE / 2, 3, 2, 5, LZ_VMA_PLAIN, 4096},
	    {BASE + N_PAGES * LZ_PAGE / 2, BASE + N_PAGES * LZ_PAGE, 1, 2, LZ_NO_FILE, LZ_VMA_HEAP,
	     0},
	    {0xffffffffff600000, 0xffffffffff601000, 5, 2, LZ_NO_FILE, LZ_VMA_PLAIN, 0}};
	struct lz_thread_state t = {.tid = 77,
	                            .xstate = xstate,
	                            .xstate_len = sizeof(xstate),
	                            .marker = event * 100,
	                            .buffer = 0x10000,
	                            .buffer_start = 5};
	struct lz_checkpoint ck = {.whole = whole,
	                           .pos = {77, 1, event, event * 100, 0x401234},
	                           .time_ns = n,
	                           .map_id = 3,
	                           .brk = 0x1234000,
	                           .stack_limit = 8 << 20,
	                           .threads = &t,
	                           .n_threads = 1,
	                           .vmas = vmas,
	                           .n_vmas = 3,
	                           .dirty = dirty};

	memset(xstate, (int)n, sizeof(xstate));
	t.regs.rax = n;
	for (unsigned p = 0; p < N_PAGES; p++) {
		bool is = page_at(n, p, now[p]), was = n && page_at(n - 1, p, old[p]);

		if (whole ? !is : is == was && !memcmp(now[p], old[p], LZ_PAGE))
			continue;
		pages[ck.n_dirty] = is ? now[p] : NULL;
		prev[ck.n_dirty] = was ? old[p] : NULL;
		dirty[ck.n_dirty++] = BASE + (uint64_t)p * LZ_PAGE;
	}
	ck_assert_msg(!lz_writer_checkpoint(w, &ck, pages, whole ? NULL : prev), "%s", lz_error());
	ck_assert_uint_eq(ck.index, n);
}

static inline void check_image(const struct lz_image *im, unsigned n)
{
	uint8_t want[LZ_PAGE];

	for (unsigned p = 0; p < N_PAGES; p++) {
		const uint8_t *got = lz_image_page(im, BASE + (uint64_t)p * LZ_PAGE);

		if (page_at(n, p, want))
			ck_assert_mem_eq(got, want, LZ_PAGE);
		else
			ck_assert_ptr_null(got);
	}
	ck_assert_ptr_null(lz_image_page(im, BASE - LZ_PAGE));
}

/* That recording: N_CK checkpoints, 1000 events and 2.5 MB of markers. */
enum { N_CK = 10, EVENTS_EACH = 100 };
#define MARKERS_EACH 250000ull

static inline char *record(const char *path, bool finish)
{
	struct lz_writer *w = lz_writer_create(path, &meta);
	char *where;

	ck_assert_msg(w, "%s", lz_error());
	where = strdup(lz_writer_dir(w));
	for (unsigned i = 0; i < N_CK; i++) {
		put_checkpoint(w, i, i % 4 == 0, i * EVENTS_EACH);
		ck_assert_int_eq(lz_writer_flush(w), 0);
		put_events(w, i * EVENTS_EACH, (i + 1) * EVENTS_EACH);
		put_markers(w, i * MARKERS_EACH, (i + 1) * MARKERS_EACH);
	}
	if (finish)
		ck_assert_msg(!lz_writer_finish(w, &meta), "%s", lz_error());
	else
		lz_writer_abandon(w);
	return where;
}

#endif
