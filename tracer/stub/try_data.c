/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: reads and writes by a descriptor, without waiting. */
#include "tracer/stub/try.h"

#include <errno.h>
#include <linux/fs.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* By a vector of COUNT at AT. */
PART uint32_t vector(struct attempt *t, const void *at, uint64_t count)
{
	const bool out = lz_try_takes((uint8_t)t->what), file = kind(t) == LZ_KIND_NONE;
	int64_t result;

	if (out && !file && kind(t) == LZ_KIND_COUNTER)
		return LZ_STOP;
	if (out && !file && !is_whole(t))
		return lz_write_whole(t);
	do
		result = lz_try_call(out ? SYS_pwritev2 : SYS_preadv2, t->args[0], (uint64_t)at,
		                     count, UINT64_MAX, UINT64_MAX, file ? 0 : RWF_NOWAIT);
	while (result == -EAGAIN && !file && lz_is_ready_later(t, out ? POLLOUT : POLLIN));
	if (result == -EOPNOTSUPP && !file) {
		t->p->fd[t->args[0]] = LZ_FD_WAITS;
		return LZ_STOP;
	}
	if (result < 0)
		return lz_try_failed(t, result, false);
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

uint32_t lz_try_several(struct attempt *t)
{
	if (t->args[2] > IOV_MOST)
		return LZ_STOP;
	if (t->what == LZ_TRY_WRITEV)
		add(t, t->args[1], t->args[2] * sizeof(struct iovec));
	return lz_add_iovecs(t, t->args[1], t->args[2])
	           ? vector(t, (const void *)t->args[1], t->args[2])
	           : LZ_STOP;
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
