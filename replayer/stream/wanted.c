/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/stream/wanted.h"

#include "replayer/stream/inside.h"
#include <lizard/error.h>
#include <stdlib.h>

static void list_bits(struct lz_wanted *w, const uint8_t *mask, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (mask[i])
			w->v[w->n++] = (struct lz_wanted_bits){(uint16_t)i, mask[i]};
}

int lz_wanted_make(struct lz_wanted *w, const struct lz_stream *s, const uint8_t *watch,
                   bool begins_only)
{
	const size_t n = s->ran_bits / 8;

	*w = (struct lz_wanted){.s = s, .all = !watch, .begins_only = begins_only};
	if (!watch)
		return 0;
	uint8_t *mask = calloc(n, 1);
	w->v = calloc(n, sizeof(*w->v));
	for (size_t fn = 0; mask && fn < s->n_fns; fn++)
		if (watch[fn])
			mask[fn % s->ran_bits / 8] |= (uint8_t)(1 << fn % 8);
	if (mask && w->v)
		list_bits(w, mask, n);
	free(mask);
	return mask && w->v ? 0 : lz_fail("out of memory for a filter of blocks");
}

void lz_wanted_free(struct lz_wanted *w)
{
	free(w->v);
	*w = (struct lz_wanted){0};
}

bool lz_wanted_in(const struct lz_wanted *w, uint32_t block)
{
	const struct lz_stream *s = w->s;
	const uint8_t *row = (w->begins_only ? s->began : s->ran) + block * (s->ran_bits / 8);

	if (w->all || block + 1 >= s->n_starts)
		return true;
	for (size_t i = 0; i < w->n; i++)
		if (row[w->v[i].at] & w->v[i].bits)
			return true;
	return false;
}
