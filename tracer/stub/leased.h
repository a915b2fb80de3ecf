/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: reads of files that nobody can change, since the tracer holds a lease on them.
 * The log says from where such a read was, instead of what it gave. */
#ifndef LIZARD_TRACER_STUB_LEASED_H
#define LIZARD_TRACER_STUB_LEASED_H

#include "tracer/stub/stub.h"

#include <sys/syscall.h>

/* Instead of an offset: as one it is -1, which is the position to preadv2() and which others refuse. */
#define BY_POSITION UINT64_MAX

struct leased_read {
	uint64_t fd, lease, from; /* lease 0: it is none */
	bool by_position;
};

INLINE uint32_t lease_of(const struct lz_call_page *p, uint64_t fd)
{
	return fd < LZ_FAST_FDS ? __atomic_load_n(&p->leased[fd], __ATOMIC_SEQ_CST) : 0;
}

/* May the log stand for LEN bytes more? Else there is a stop, at which it is taken away, as a full one. */
INLINE bool may_refer(struct lz_call_page *p, uint64_t fd, uint64_t len)
{
	if (!lease_of(p, fd) || len <= p->may_refer)
		return true;
	p->full = 1;
	return false;
}

/* Before a read of LEN bytes at most, from AT on. The tracer gives no lease back from here on, up to
 * end_leased(). */
void lz_begin_leased(struct lz_call_page *p, uint64_t fd, uint64_t len, uint64_t at,
                     struct leased_read *l) STUB;
/* Is what it gave, RESULT bytes in the N pieces, in the file from L->from on? PART has room for
 * LZ_COMPARED_PART bytes, or as many as were read. */
bool lz_is_leased(const struct lz_call_page *p, const struct leased_read *l, int64_t result,
                  const struct lz_call_piece *piece, uint32_t n, uint8_t *part) STUB;

INLINE void end_leased(struct lz_call_page *p, const struct leased_read *l)
{
	if (l->lease)
		__atomic_store_n(&p->refers, 0, __ATOMIC_RELEASE);
}

INLINE uint32_t add_leased(struct lz_call_page *p, const struct leased_read *l, int64_t result,
                           uint8_t *to)
{
	struct lz_call_leased *at = (struct lz_call_leased *)to;

	p->may_refer -= (uint64_t)result;
	at->lease = l->lease;
	at->from = l->from;
	return sizeof(*at);
}

/* Where is a plain read from? False: it is another call. */
INLINE bool reads_from(uint64_t nr, const uint64_t *args, uint64_t *at)
{
	*at = nr == SYS_read ? BY_POSITION : args[3];
	return nr == SYS_read || nr == SYS_pread64;
}

#endif
