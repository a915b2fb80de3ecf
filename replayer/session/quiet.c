/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/session/quiet.h"

#include "replayer/session/session.h"

/* Fowler, Noll and Vo's hash, FNV-1a, of numbers instead of bytes. */
static uint64_t mix(uint64_t key, uint64_t with)
{
	for (int i = 0; i < 8; i++, with >>= 8)
		key = (key ^ (with & 0xff)) * 0x100000001b3;
	return key;
}

static uint64_t key_of(const struct lz_session *s)
{
	uint64_t key = mix(0xcbf29ce484222325, s->n_breaks);

	for (size_t i = 0; i < s->n_breaks; i++)
		key = mix(key, s->breaks[i].addr);
	for (size_t i = 0; i < s->n_watches; i++) {
		const struct lz_user_watch *w = &s->watches[i];

		key = mix(mix(mix(key, w->addr), w->len), (uint64_t)w->kind);
		key = mix(mix(key, w->code.start), w->code.end);
	}
	return key;
}

struct lz_quiet *lz_quiet_of(struct lz_session *s)
{
	struct lz_quiets *all = &s->quiets;
	const uint64_t key = key_of(s);

	for (unsigned i = 0; i < LZ_QUIETS; i++)
		if (all->v[i].key == key)
			return &all->v[i];
	struct lz_quiet *q = &all->v[all->next++ % LZ_QUIETS];
	*q = (struct lz_quiet){.key = key};
	return q;
}

static bool is_before(struct lz_gap_start a, struct lz_gap_start b)
{
	return lz_gap_cmp(a.event, a.marker, b.event, b.marker) < 0;
}

bool lz_quiet_covers(const struct lz_quiet *q, struct lz_gap_start end)
{
	return q->any && is_before(q->from, end) && !is_before(q->to, end);
}

void lz_quiet_add(struct lz_quiet *q, struct lz_gap_start from, struct lz_gap_start to)
{
	if (!is_before(from, to))
		return;
	const bool touches = q->any && !is_before(q->to, from) && !is_before(to, q->from);

	if (!touches || is_before(from, q->from))
		q->from = from;
	if (!touches || is_before(q->to, to))
		q->to = to;
	q->any = true;
}
