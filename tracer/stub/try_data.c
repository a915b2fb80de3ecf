/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: reads and writes by a descriptor, without waiting. */
#include "tracer/stub/leased.h"
#include "tracer/stub/try.h"

#include <errno.h>
#include <linux/fs.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* By a vector of COUNT at AT, of what may wait. */
PART uint32_t vector(struct attempt *t, const void *at, uint64_t count)
{
	const bool out = lz_try_takes((uint8_t)t->what);
	int64_t result;

	if (out && kind(t) == LZ_KIND_COUNTER)
		return LZ_STOP;
	const bool in_parts = out && !is_whole(t);
	if (in_parts && !lz_goes_on(t))
		return lz_write_whole(t);
	do
		result = lz_try_call(out ? SYS_pwritev2 : SYS_preadv2, t->args[0], (uint64_t)at,
		                     count, UINT64_MAX, UINT64_MAX, RWF_NOWAIT);
	while (result == -EAGAIN && lz_is_ready_later(t, out ? POLLOUT : POLLIN));
	if (result == -EOPNOTSUPP) {
		t->p->fd[t->args[0]] = LZ_FD_WAITS;
		return LZ_STOP;
	}
	if (result < 0)
		return lz_try_failed(t, result, false);
	if (in_parts && (uint64_t)result < t->len)
		return lz_go_on_behind(t, result);
	cut(t, (uint64_t)result);
	return lz_finish_with_pieces(t, result);
}

uint32_t lz_try_single(struct attempt *t)
{
	struct iovec io;

	io.iov_base = (void *)t->args[1];
	io.iov_len = t->args[2];
	return lz_add_data(t, t->args[1], t->args[2]) ? vector(t, &io, 1) : LZ_STOP;
}

/* Its pieces; false: they are too many or too long. */
INLINE bool add_several(struct attempt *t)
{
	if (t->args[2] > IOV_MOST)
		return false;
	if (t->what == LZ_TRY_WRITEV)
		add(t, t->args[1], t->args[2] * sizeof(struct iovec));
	else if (kind(t) == LZ_KIND_NONE && lease_of(t->p, t->args[0]))
		t->most = LZ_LEASED_MOST;
	return lz_add_iovecs(t, t->args[1], t->args[2]);
}

/* What has been read is in the log as far as that is needed and possible. */
PART uint32_t finish_file(struct attempt *t, int64_t result, const struct leased_read *l)
{
	if (result < 0)
		return lz_try_failed(t, result, false);
	set_made(t->p, result);
	cut(t, (uint64_t)result);
	if (lz_is_leased(t->p, l, result, t->piece + t->data, t->n_data, bytes_of(t)))
		return lz_finish_as(t, LZ_CALL_PIECES | LZ_CALL_LEASED, result,
		                    add_leased(t->p, l, result, bytes_of(t)));
	if (result > LZ_TRY_MOST)
		return lz_finish_as(t, LZ_CALL_UNREAD, result, 0);
	return lz_finish_with_pieces(t, result);
}

/* Of a file, from AT on if it reads: it waits for nobody. */
PART uint32_t by_file(struct attempt *t, uint64_t at)
{
	struct leased_read l;

	l.lease = 0;
	if (!lz_try_takes((uint8_t)t->what) && !may_refer(t->p, t->args[0], t->len))
		return LZ_STOP;
	if (!lz_try_takes((uint8_t)t->what))
		lz_begin_leased(t->p, t->args[0], t->len, at, &l);
	const uint32_t ret = finish_file(t, make(t->regs), &l);
	end_leased(t->p, &l);
	return ret;
}

uint32_t lz_try_several(struct attempt *t)
{
	if (!add_several(t))
		return LZ_STOP;
	return kind(t) == LZ_KIND_NONE ? by_file(t, BY_POSITION)
	                               : vector(t, (const void *)t->args[1], t->args[2]);
}

/* Of others, only those of a file can be read so that it is known from where. */
uint32_t lz_try_several_at(struct attempt *t)
{
	return kind(t) == LZ_KIND_NONE && add_several(t) ? by_file(t, t->args[3]) : LZ_STOP;
}

/* A part is the answer only where nobody waits for the others. */
uint32_t lz_try_sendfile(struct attempt *t)
{
	enum { MOST = 16 << 20 };
	const uint64_t from = t->args[1], offset_at = t->args[2];
	const bool file = kind(t) == LZ_KIND_NONE;

	if (from >= LZ_FAST_FDS || !(t->p->fd[from] & LZ_FD_READ) || t->args[3] > MOST ||
	    kind(t) == LZ_KIND_COUNTER || (!file && !lz_is_nonblocking(t)))
		return LZ_STOP;
	if (offset_at) {
		(void)*(const volatile uint64_t *)offset_at;
		add(t, offset_at, sizeof(uint64_t));
	}
	const int64_t result = make(t->regs);
	/* a failed one has its offset, too */
	return result == -EPIPE || result == -EINTR ? LZ_STOP : lz_finish_with_pieces(t, result);
}
