/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/stream/threads.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>

int lz_stream_threads_init(struct lz_stream_threads *t, const struct lz_turns *turns)
{
	*t = (struct lz_stream_threads){.turns = turns,
	                                .number = calloc(turns->n, sizeof(*t->number)),
	                                .first = calloc(turns->n, sizeof(*t->first))};
	if (!t->number || !t->first) {
		lz_stream_threads_free(t);
		return lz_fail("out of memory for %u turns of threads", turns->n);
	}
	for (uint32_t i = 0; i < turns->n; i++) {
		uint32_t before = turns->v[i].before;

		if (before != LZ_NO_TURN) {
			t->number[i] = t->number[before];
			continue;
		}
		t->number[i] = t->n;
		t->first[t->n++] = i;
	}
	return 0;
}

void lz_stream_threads_free(struct lz_stream_threads *t)
{
	free(t->number);
	free(t->first);
	*t = (struct lz_stream_threads){0};
}

uint32_t lz_stream_thread_at(const struct lz_stream_threads *t, uint64_t event)
{
	return t->number[lz_turns_at(t->turns, event)];
}

uint32_t lz_stream_thread_find(const struct lz_stream_threads *t, uint32_t tid, uint64_t event)
{
	const struct lz_turn *v = t->turns->v;
	uint32_t now = lz_turns_at(t->turns, event);

	for (uint32_t i = now + 1; i-- > 0;) {
		if (v[i].tid != tid)
			continue;
		if (v[i].ends && i != now)
			break; /* that was another thread */
		return t->number[i];
	}
	for (uint32_t i = now + 1; i < t->turns->n; i++)
		if (v[i].tid == tid)
			return t->number[i];
	return LZ_NO_THREAD;
}

uint32_t lz_turn_before(const struct lz_stream_threads *t, uint64_t offset)
{
	uint32_t n = lz_lower_bound(i, t->turns->n, t->turns->v[i].marker < offset);

	return n ? n - 1 : 0;
}

uint32_t lz_stream_thread_turn_before(const struct lz_stream_threads *t, uint32_t thread,
                                      uint64_t offset)
{
	for (uint32_t i = lz_turn_before(t, offset) + 1; i-- > 0;)
		if (t->number[i] == thread && t->turns->v[i].marker < offset)
			return i;
	return LZ_NO_TURN;
}

uint64_t lz_turn_end(const struct lz_stream_threads *t, uint32_t turn)
{
	return turn + 1 < t->turns->n ? t->turns->v[turn + 1].marker : UINT64_MAX;
}

uint64_t lz_stream_thread_back(const struct lz_stream_threads *t, uint32_t thread, uint64_t offset,
                               uint64_t distance, bool *first)
{
	uint32_t i = lz_stream_thread_turn_before(t, thread, offset);

	*first = false;
	for (; i != LZ_NO_TURN; i = t->turns->v[i].before) {
		uint64_t start = t->turns->v[i].marker, end = lz_turn_end(t, i);

		if (end > offset)
			end = offset;
		if (end - start > distance)
			return end - distance;
		distance -= end - start;
	}
	*first = true;
	return 0;
}

uint64_t lz_stream_thread_between(const struct lz_stream_threads *t, uint32_t thread, uint64_t from,
                                  uint64_t to)
{
	uint32_t i = from < to ? lz_stream_thread_turn_before(t, thread, to) : LZ_NO_TURN;
	uint64_t sum = 0;

	for (; i != LZ_NO_TURN; i = t->turns->v[i].before) {
		uint64_t start = t->turns->v[i].marker, end = lz_turn_end(t, i);

		if (end <= from)
			break;
		if (start < from)
			start = from;
		sum += (end < to ? end : to) - start;
	}
	return sum;
}
