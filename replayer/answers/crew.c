/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/crew.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* Two that write to one line of the cache wait for each other. */
enum { APART = 128 };

static void find_runs(const struct lz_asked *a, uint64_t *runs)
{
	for (uint32_t i = 0; i < a->threads.n; i++)
		runs[i] = UINT64_MAX;
	for (uint32_t i = a->turns.n; i-- > 0;)
		if (lz_turn_end(&a->threads, i) > a->from)
			runs[a->threads.number[i]] =
			    a->turns.v[i].marker > a->from ? a->turns.v[i].marker : a->from;
}

int lz_crew_make(struct lz_crew *c, const struct lz_asked *a, size_t size, struct lz_spread *w)
{
	const unsigned cpus = lz_asked_cpus(), n = cpus ? cpus : 1;

	size = (size + APART - 1) / APART * APART;
	*c = (struct lz_crew){.each = aligned_alloc(APART, n * size),
	                      .arg = calloc(n, sizeof(*c->arg)),
	                      .runs = calloc(a->threads.n + 1u, sizeof(*c->runs))};
	w->n = 0;
	w->arg = c->arg;
	if (!c->each || !c->arg || !c->runs)
		return lz_fail("out of memory for %u threads", n);
	memset(c->each, 0, n * size);
	for (; w->n < n; w->n++)
		c->arg[w->n] = (char *)c->each + w->n * size;
	find_runs(a, c->runs);
	return 0;
}

void lz_crew_free(struct lz_crew *c)
{
	free(c->each);
	free(c->arg);
	free(c->runs);
}

bool lz_crew_has_run(const struct lz_crew *c, uint32_t thread, uint64_t offset)
{
	return c->runs[thread] < offset;
}
