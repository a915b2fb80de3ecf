/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ran, page by page: see include/lizard/front.h. */
#include "replayer/front/inside.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_MAX = 1 << 20, CHUNK = 256, INSN_MAX = 1 << 24 };

/* Pages begin anew at another instant, or in another thread. */
static void look_where(struct lz_front *f, struct lz_front_page *p)
{
	struct lz_pos now;

	lz_session_where(f->s, &now);
	now.tid = lz_front_chosen(f);
	if (p->used && memcmp(&now, &p->from, sizeof now) == 0)
		return;
	*p = (struct lz_front_page){.from = now};
}

static size_t page_size(int64_t size)
{
	uint64_t n = size < 0 ? -(uint64_t)size : (uint64_t)size;

	return n < PAGE_MAX ? n : PAGE_MAX;
}

/* ---- calls ---- */

static void note_calls(struct lz_front *f, const struct lz_history_call *c, size_t n)
{
	struct lz_front_page *p = &f->pages.calls;

	look_where(f, p);
	if (!n)
		return;
	p->used = true;
	p->first = (int64_t)c[0].begin;
	p->end = (int64_t)c[n - 1].end;
}

int lz_front_calls(struct lz_front *f, int64_t size, struct lz_history_call **calls, size_t *n)
{
	struct lz_front_page *p = &f->pages.calls;
	size_t want = page_size(size);
	uint64_t total;
	int rc = 0;

	*calls = NULL;
	*n = 0;
	look_where(f, p);
	lz_session_time(f->s, &total);
	if (!want)
		return lz_fail("a page of no lines");
	if (!p->used)
		rc = size < 0 ? lz_session_calls(f->s, lz_front_chosen(f), p->from.marker, want - 1,
		                                 1, calls, n)
		              : lz_session_calls(f->s, lz_front_chosen(f), p->from.marker, 0, want,
		                                 calls, n);
	else if (size < 0 && p->first > 0)
		rc = lz_session_calls(f->s, lz_front_chosen(f), (uint64_t)p->first - 1, want - 1, 1,
		                      calls, n);
	else if (size > 0 && (uint64_t)p->end < total)
		rc =
		    lz_session_calls(f->s, lz_front_chosen(f), (uint64_t)p->end, 0, want, calls, n);
	/* the first page is filled up from the other side */
	if (!rc && !p->used && *n < want && size > 0) {
		size_t more = want - *n;

		free(*calls);
		rc = lz_session_calls(f->s, lz_front_chosen(f), p->from.marker, more, want - more,
		                      calls, n);
	}
	if (!rc)
		note_calls(f, *calls, *n);
	return rc;
}

int lz_front_calls_from(struct lz_front *f, uint64_t time, int64_t size,
                        struct lz_history_call **calls, size_t *n)
{
	size_t want = page_size(size);
	uint64_t total;

	*calls = NULL;
	*n = 0;
	lz_session_time(f->s, &total);
	if (time > total)
		return lz_fail("the recording ends at time %lu", (unsigned long)total);
	if (!want)
		return lz_fail("a page of no lines");
	int rc = size < 0 ? lz_session_calls(f->s, lz_front_chosen(f), time, want - 1, 1, calls, n)
	                  : lz_session_calls(f->s, lz_front_chosen(f), time, 0, want, calls, n);

	if (!rc)
		note_calls(f, *calls, *n);
	return rc;
}

int lz_front_calls_between(struct lz_front *f, uint64_t from, uint64_t to,
                           struct lz_history_call **calls, size_t *n)
{
	size_t want = CHUNK, k;

	for (;;) {
		int rc = lz_front_calls_from(f, from, (int64_t)want, calls, n);

		if (rc)
			return rc;
		for (k = 0; k < *n && (k == 0 || (*calls)[k].begin <= to); k++)
			;
		if (k < *n || *n < want || want >= PAGE_MAX)
			break;
		free(*calls);
		want *= 8;
	}
	*n = k;
	note_calls(f, *calls, *n);
	return 0;
}

/* ---- instructions, numbered from the present one, which is 0 ---- */

static void turn_round(uint64_t *a, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		uint64_t x = a[i];

		a[i] = a[n - 1 - i];
		a[n - 1 - i] = x;
	}
}

/* Numbers FIRST to END - 1, as far as they exist; *FIRST becomes the first that does. */
static int between(struct lz_front *f, int64_t *first, int64_t end, uint64_t *a, size_t *n)
{
	struct lz_pos now;
	size_t found = 0;
	int rc = 0;

	*n = 0;
	lz_session_where(f->s, &now);
	if (*first < 0) {
		size_t skip = end < 0 ? (size_t)-end : 0;

		rc = lz_session_instructions(f->s, LZ_BACKWARD, skip, (size_t) - *first - skip, a,
		                             &found);
		turn_round(a, found);
		*n = found;
		*first = -(int64_t)(skip + found);
	}
	if (!rc && *first <= 0 && end > 0)
		a[(*n)++] = now.ip;
	if (!rc && end > 1) {
		size_t skip = *first > 1 ? (size_t)*first - 1 : 0;

		rc = lz_session_instructions(f->s, LZ_FORWARD, skip, (size_t)end - 1 - skip, a + *n,
		                             &found);
		*n += found;
	}
	f->regs.valid = false;
	return rc;
}

/* A page of them: numbers FIRST to END - 1. */
static int read_page(struct lz_front *f, int64_t begin, int64_t end, uint64_t **addrs, size_t *n,
                     int64_t *first)
{
	struct lz_front_page *p = &f->pages.insns;

	*addrs = NULL;
	look_where(f, p);
	if (p->from.tid != lz_front_tid(f))
		return lz_fail("thread %u does not run at this instant, thread %u does",
		               p->from.tid, lz_front_tid(f));
	*first = begin;
	*addrs = malloc((size_t)(end - begin) * sizeof **addrs);
	if (!*addrs)
		return lz_fail("out of memory for the history of instructions");
	if (between(f, first, end, *addrs, n) < 0) {
		free(*addrs);
		*addrs = NULL;
		return -1;
	}
	if (*n) {
		p->used = true;
		p->first = *first;
		p->end = *first + (int64_t)*n;
	}
	return 0;
}

int lz_front_instructions(struct lz_front *f, int64_t size, uint64_t **addrs, size_t *n,
                          int64_t *first)
{
	const struct lz_front_page *p = &f->pages.insns;
	int64_t want = (int64_t)page_size(size), end;

	*addrs = NULL;
	look_where(f, &f->pages.insns);
	if (!want)
		return lz_fail("a page of no lines");
	if (size < 0) {
		end = p->used ? p->first : 1;
		return read_page(f, end - want, end, addrs, n, first);
	}
	end = p->used ? p->end : 0;
	return read_page(f, end, end + want, addrs, n, first);
}

int lz_front_instructions_between(struct lz_front *f, int64_t from, int64_t to, uint64_t **addrs,
                                  size_t *n, int64_t *first)
{
	*addrs = NULL;
	if (to < from)
		return lz_fail("instruction %ld comes before %ld", (long)to, (long)from);
	if (to >= INSN_MAX || from <= -INSN_MAX)
		return lz_fail("instructions are listed up to %d from the present one", INSN_MAX);
	if (to - from >= PAGE_MAX)
		to = from + PAGE_MAX - 1;
	if (read_page(f, from, to + 1, addrs, n, first) < 0)
		return -1;
	if (*n)
		return 0;
	free(*addrs);
	*addrs = NULL;
	return lz_fail("the recording ends before instruction %ld", (long)from);
}
