/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that blocked calls write.
 *
 * The kernel writes a call's output while another thread has the turn; in the recording it
 * appears with the call's event, when its own thread has the turn again. Checkpoints in between
 * show the memory as the log has it: what was there when the thread lost its turn. */
#include "tracer/memory/memory.h"

#include <stdlib.h>
#include <string.h>

void lz_blocked_drop(struct lz_thread *th)
{
	free(th->blocked.a);
	free(th->blocked.bytes);
	th->blocked = (struct lz_blocked){0};
}

/* The part of W that is in the page at ADDR. */
static void show(const struct lz_write *w, uint64_t addr, uint8_t *page)
{
	uint64_t from = w->addr > addr ? w->addr : addr;
	uint64_t to = w->addr + w->len < addr + LZ_PAGE ? w->addr + w->len : addr + LZ_PAGE;

	if (from < to)
		memcpy(page + (from - addr), w->bytes + (from - w->addr), to - from);
}

void lz_blocked_show(const struct lz_tracer *t, uint64_t addr, uint8_t *page)
{
	for (size_t i = 0; i < t->n_threads; i++)
		for (uint32_t j = 0; j < t->thread[i]->blocked.n; j++)
			show(&t->thread[i]->blocked.a[j], addr, page);
}

int lz_blocked_mark(struct lz_tracer *t)
{
	for (size_t i = 0; i < t->n_threads; i++) {
		const struct lz_blocked *k = &t->thread[i]->blocked;

		for (uint32_t j = 0; j < k->n; j++)
			if (lz_pages_changed(t, lz_page_down(k->a[j].addr),
			                     lz_page_up(k->a[j].addr + k->a[j].len)) < 0)
				return -1;
	}
	return 0;
}

bool lz_blocked_overlaps(const struct lz_tracer *t, uint64_t addr, uint64_t len)
{
	for (size_t i = 0; i < t->n_threads; i++) {
		const struct lz_blocked *k = &t->thread[i]->blocked;
		uint64_t all = 0;

		for (uint32_t j = 0; j < k->n; j++) {
			all += k->a[j].len;
			if (addr < k->a[j].addr + k->a[j].len && k->a[j].addr < addr + len)
				return true;
		}
		if (all >= LZ_CALL_MOST) /* perhaps not all that it stores is known */
			return true;
	}
	return false;
}
