/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: does a read give what is in a file that nobody can change, and from where on? */
#include "tracer/stub/leased.h"

#include <unistd.h>

INLINE int64_t ask(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t regs[7];

	regs[0] = nr;
	regs[1] = a;
	regs[2] = b;
	regs[3] = c;
	regs[4] = d;
	regs[5] = regs[6] = 0;
	return make(regs);
}

INLINE uint64_t position_of(uint64_t fd)
{
	return (uint64_t)ask(SYS_lseek, fd, 0, SEEK_CUR, 0);
}

void lz_begin_leased(struct lz_call_page *p, uint64_t fd, uint64_t len, uint64_t at,
                     struct leased_read *l)
{
	l->lease = 0;
	l->fd = fd;
	l->by_position = at == BY_POSITION;
	if (len < LZ_LEASED_LEAST || len > LZ_LEASED_MOST || !lease_of(p, fd))
		return;
	__atomic_store_n(&p->refers, 1, __ATOMIC_SEQ_CST);
	l->lease = lease_of(p, fd);
	if (!l->lease) {
		__atomic_store_n(&p->refers, 0, __ATOMIC_RELEASE);
		return;
	}
	l->from = l->by_position ? position_of(fd) : at;
}

INLINE bool is_same(const uint8_t *a, uint64_t b, uint64_t n)
{
	enum { WORD = 8 };

	for (; n >= WORD; n -= WORD, a += WORD, b += WORD)
		if (*(const volatile uint64_t *)a != *(const volatile uint64_t *)b)
			return false;
	for (; n; n--)
		if (*(const volatile uint8_t *)a++ != *(const volatile uint8_t *)b++)
			return false;
	return true;
}

/* Another process may have moved the position, and moved it back: is it what the file has there? */
PART bool is_in_file(const struct leased_read *l, const struct lz_call_piece *piece, uint32_t n,
                     uint8_t *part)
{
	uint64_t from = l->from;

	for (uint32_t i = 0; i < n; i++)
		for (uint64_t done = 0, len; done < piece[i].len; done += len, from += len) {
			len = piece[i].len - done;
			len = len < LZ_COMPARED_PART ? len : LZ_COMPARED_PART;
			if (ask(SYS_pread64, l->fd, (uint64_t)part, len, from) != (int64_t)len ||
			    !is_same(part, piece[i].addr + done, len))
				return false;
		}
	return true;
}

bool lz_is_leased(const struct lz_call_page *p, const struct leased_read *l, int64_t result,
                  const struct lz_call_piece *piece, uint32_t n, uint8_t *part)
{
	if (!l->lease || result < LZ_LEASED_LEAST || lease_of(p, l->fd) != l->lease)
		return false;
	if (!l->by_position)
		return true;
	return position_of(l->fd) == l->from + (uint64_t)result &&
	       (p->alone[l->fd] || is_in_file(l, piece, n, part));
}
