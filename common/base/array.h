/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays that grow, and binary search. */
#ifndef LIZARD_ARRAY_H
#define LIZARD_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Behind the macros below. MAX is the most that *room may become. */
int lz_array_reserve(void **array, size_t *room, size_t n, size_t size, size_t max);
int lz_array_extend(void **array, size_t n, size_t size);

/* Makes array V large enough for N elements, where ROOM is its capacity; NULL and 0 at first.
 * V is a pointer to elements, ROOM of an unsigned type; both are assigned to. 0, or -1: out of
 * memory (lz_fail), and V and ROOM are as before.
 *
 *	if (lz_reserve(s->v, s->room, s->n + 1) < 0)
 *		return -1;
 *	s->v[s->n++] = element; */
#define lz_reserve(v, room, n)                                                                     \
	({                                                                                         \
		const size_t wanted_ = (n);                                                        \
		void *array_ = (v);                                                                \
		size_t room_ = (room);                                                             \
		int rc_ = 0;                                                                       \
		if (wanted_ > room_)                                                               \
			rc_ = lz_array_reserve(&array_, &room_, wanted_, sizeof(*(v)),             \
			                       (typeof(room))-1);                                  \
		(v) = array_;                                                                      \
		(room) = (typeof(room))room_;                                                      \
		rc_;                                                                               \
	})

/* Makes array V large enough for v[n], without a capacity to keep: it is enlarged whenever N is a
 * power of two. N may fall, but has to grow one by one, with a call for each. For a list with a
 * NULL behind it, N is the index of that. 0, or -1: out of memory (lz_fail), and V is as before. */
#define lz_extend(v, n)                                                                            \
	({                                                                                         \
		void *array_ = (v);                                                                \
		int rc_ = lz_array_extend(&array_, (n), sizeof(*(v)));                             \
		(v) = array_;                                                                      \
		rc_;                                                                               \
	})

/* How many of the indices 0 to N - 1 come before what is looked for, in a sorted array: BEFORE,
 * an expression of I, is true for these and false for all others. Of the type of N.
 *
 *	at = lz_lower_bound(i, s->n, s->v[i].addr < addr);     the first that is not below ADDR
 *	at = lz_lower_bound(i, s->n, s->v[i].addr <= addr);    the first that is above ADDR */
#define lz_lower_bound(i, n, before)                                                               \
	({                                                                                         \
		typeof((n) + 0) low_ = 0, high_ = (n);                                             \
		while (low_ < high_) {                                                             \
			const typeof(high_) i = low_ + (high_ - low_) / 2;                         \
			if (before)                                                                \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

#endif
