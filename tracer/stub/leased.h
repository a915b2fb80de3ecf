/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: reads of files that nobody can change, since the tracer holds a lease on them.
 * The log says from where such a read was, instead of what it gave. */
#ifndef LIZARD_TRACER_STUB_LEASED_H
#define LIZARD_TRACER_STUB_LEASED_H

#include "tracer/stub/descriptors.h"

#include <unistd.h>

struct leased_read {
	uint64_t lease, from; /* lease 0: it is none */
};

INLINE uint32_t lease_of(const struct lz_call_page *p, uint64_t fd)
{
	return fd < LZ_FAST_FDS ? __atomic_load_n(&p->leased[fd], __ATOMIC_SEQ_CST) : 0;
}

INLINE uint64_t position_of(uint64_t fd)
{
	return (uint64_t)call4(SYS_lseek, fd, 0, SEEK_CUR, 0);
}

INLINE void end_leased(struct lz_call_page *p)
{
	__atomic_store_n(&p->refers, 0, __ATOMIC_RELEASE);
}

/* Before the call. The tracer gives no lease back from here on, up to end_leased(). */
INLINE void begin_leased(struct lz_call_page *p, uint64_t nr, const uint64_t *args,
                         struct leased_read *l)
{
	l->lease = l->from = 0;
	if ((nr != SYS_read && nr != SYS_pread64) || args[2] < LZ_LEASED_LEAST ||
	    !lease_of(p, args[0]) || (nr == SYS_read && !p->alone[args[0]]))
		return;
	__atomic_store_n(&p->refers, 1, __ATOMIC_SEQ_CST);
	l->lease = lease_of(p, args[0]);
	if (!l->lease)
		end_leased(p);
	l->from = nr == SYS_read ? position_of(args[0]) : args[3];
}

/* Is what it gave, RESULT bytes, in the file from there on? Another thread may have moved the
 * position. */
INLINE bool is_leased(const struct lz_call_page *p, uint64_t nr, const uint64_t *args,
                      int64_t result, const struct leased_read *l)
{
	return l->lease && result >= LZ_LEASED_LEAST && lease_of(p, args[0]) == l->lease &&
	       (nr != SYS_read || position_of(args[0]) == l->from + (uint64_t)result);
}

INLINE uint32_t add_leased(const struct leased_read *l, uint8_t *to)
{
	struct lz_call_leased *at = (struct lz_call_leased *)to;

	at->lease = l->lease;
	at->from = l->from;
	return sizeof(*at);
}

#endif
