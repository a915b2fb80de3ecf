/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Control is at the next event's address: is this the arrival that is meant? */
#include "replayer/engine/inside.h"
#include <common/process/state_sum.h>
#include <lizard/error.h>

static bool is_page(struct lz_engine *e, const struct lz_page_sum *want)
{
	uint8_t page[LZ_PAGE];

	return lz_engine_read(e, want->addr, page, sizeof page) == sizeof page &&
	       lz_page_sum(page) == want->sum;
}

/* Of arrivals that differ in memory most differ where the one before did. */
static bool are_pages(struct lz_engine *e, const struct lz_event *ev)
{
	const uint32_t first = e->next.missed_page;

	if (first < ev->n_pages && !is_page(e, &ev->pages[first]))
		return false;
	for (uint32_t i = 0; i < ev->n_pages; i++)
		if (i != first && !is_page(e, &ev->pages[i])) {
			e->next.missed_page = i;
			return false;
		}
	return true;
}

int lz_engine_is_meant(struct lz_engine *e)
{
	if (lz_state_sum(&e->proc, &e->regs) != e->next.state)
		return 0;
	if (!e->next.has_pages)
		return 1;
	const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event);
	if (!ev)
		return -1;
	return are_pages(e, ev) && lz_vectors_sum(&e->proc) == ev->vectors;
}
