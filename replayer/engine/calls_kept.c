/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a program has read of a file is in the recording once, as a part of a chunk. Where it reads the
 * same again, the stub has the bytes already: they are copied once, and take no room in the log. */
#include "replayer/engine/calls.h"
#include <lizard/format.h>
#include <string.h>

/* Less is copied into the log. */
enum { LEAST = 4096 };

bool lz_calls_keeps(const struct lz_write *w)
{
	return w->n_kept == 1 && w->len >= LEAST;
}

static struct lz_kept_place *slot_of(struct lz_calls *c, const struct lz_kept *k)
{
	static const uint64_t golden = 0x9e3779b97f4a7c15;

	return &c->kept[((k->chunk * LZ_CHUNK_MAX + k->at) * golden >> 32) % LZ_KEPT_PLACES];
}

bool lz_calls_keep(struct lz_calls *c, const struct lz_write *w, uint32_t *place)
{
	const struct lz_kept *k = w->kept;
	struct lz_kept_place *s = slot_of(c, k);

	if (s->chunk != k->chunk || s->at != k->at || s->len < k->len) {
		if (k->len > LZ_CALL_KEPT_LEN - c->kept_used)
			return false;
		*s = (struct lz_kept_place){k->chunk, k->at, k->len, c->kept_used};
		memcpy(c->log->kept + s->place, w->bytes, k->len);
		c->kept_used += k->len;
	}
	*place = s->place;
	return true;
}

/* Nothing of a log that is at work is overwritten. */
void lz_calls_kept_begin(struct lz_calls *c)
{
	if (c->kept_used <= LZ_CALL_KEPT_LEN / 2)
		return;
	memset(c->kept, 0, sizeof(c->kept));
	c->kept_used = 0;
}
