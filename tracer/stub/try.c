/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: tries a call that may wait for somebody in a way that does not wait. What
 * would wait, and what has not done all that the waiting call would do, is made with a stop. */
#include "tracer/stub/try.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* ---- system calls ---- */

int64_t lz_try_call(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                    uint64_t f)
{
	const uint64_t regs[] = {nr, a, b, c, d, e, f};

	return make(regs);
}

bool lz_is_nonblocking(struct attempt *t)
{
	if (t->mode == UNKNOWN) {
		const int64_t flags = lz_try_call(SYS_fcntl, t->args[0], F_GETFL, 0, 0, 0, 0);

		t->mode = flags >= 0 && flags & O_NONBLOCK ? NONBLOCKING : BLOCKING;
	}
	return t->mode == NONBLOCKING;
}

/* ---- the record ---- */

bool lz_add_data(struct attempt *t, uint64_t addr, uint64_t len)
{
	if (len > t->most - t->len ||
	    (lz_try_takes((uint8_t)t->what) && is_changed_code(t->p, addr, len)))
		return false;
	t->len += len;
	t->n_data++;
	add(t, addr, len);
	return true;
}

bool lz_add_iovecs(struct attempt *t, uint64_t at, uint64_t count)
{
	const volatile struct iovec *io = (const volatile struct iovec *)at;

	if (count > IOV_MOST)
		return false;
	t->data = (uint32_t)*t->n;
	for (uint64_t i = 0; i < count; i++)
		if (!lz_add_data(t, (uint64_t)io[i].iov_base, io[i].iov_len))
			return false;
	return true;
}

uint32_t lz_finish_as(struct attempt *t, uint32_t flags, int64_t result, uint64_t len)
{
	struct lz_call_record *r = t->r;

	r->flags = (uint16_t)flags;
	r->nr = (uint16_t)t->regs[0];
	for (int i = 0; i < 6; i++)
		r->args[i] = t->args[i];
	r->result = result;
	r->len = ((uint32_t)(bytes_of(t) - (uint8_t *)r) + (uint32_t)len + 7) & ~7u;
	t->regs[0] = (uint64_t)result;
	__atomic_store_n(&t->p->head, (uint32_t)((uint8_t *)r - t->p->log) + r->len,
	                 __ATOMIC_RELEASE);
	return flags & LZ_CALL_UNREAD ? LZ_LOOK : LZ_MADE;
}

uint32_t lz_finish(struct attempt *t, int64_t result, uint64_t len)
{
	const bool broke_off = lz_breaks_off(t->regs[0], t->args, result);

	return lz_finish_as(t, broke_off ? LZ_CALL_UNREAD : LZ_CALL_PIECES, result, len);
}

/* How many bytes they have. */
PART uint64_t copy_pieces(const struct attempt *t)
{
	uint8_t *const bytes = bytes_of(t);
	uint64_t n = 0;

	for (uint32_t i = t->headers; i < *t->n; i++) {
		copy(bytes + n, t->piece[i].addr, t->piece[i].len);
		n += t->piece[i].len;
	}
	return n;
}

uint32_t lz_finish_with_pieces(struct attempt *t, int64_t result)
{
	set_made(t->p, result);
	return lz_finish(t, result, copy_pieces(t));
}

/* ---- waiting until a call can be made ---- */

/* Its calls wait for a time only (SO_RCVTIMEO, SO_SNDTIMEO), or that is not known. */
INLINE bool is_timed(const struct attempt *t, short events)
{
	const int which = events == POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO;
	uint32_t len = 2 * sizeof(uint64_t);
	uint64_t time[2];

	time[0] = time[1] = 1;
	return lz_try_call(SYS_getsockopt, t->args[0], SOL_SOCKET, (uint64_t)which, (uint64_t)time,
	                   (uint64_t)&len, 0) != 0 ||
	       time[0] || time[1];
}

bool lz_is_ready_later(struct attempt *t, short events)
{
	struct pollfd p;

	if (!t->p->may_wait || t->n_waits++ == MOST_WAITS || lz_is_nonblocking(t) ||
	    (is_socket(t) && is_timed(t, events)))
		return false;
	p.fd = (int)t->args[0];
	p.events = events;
	p.revents = 0;
	t->p->left[0] = LZ_NO_LIMIT;
	return lz_stub_wait(t->p, (uint64_t)&p, 1, 0) > 0;
}

int64_t lz_wait_inside(struct attempt *t, short events)
{
	if (!lz_may_wait_inside(t->p) || (is_socket(t) && is_timed(t, events)))
		return -EAGAIN;
	return lz_stub_wait_in(t->p, t->regs);
}

uint32_t lz_write_whole(struct attempt *t)
{
	if (!t->p->one_thread)
		return LZ_STOP;
	/* behind a long wait the memory may be gone */
	copy_pieces(t);
	const int64_t result = lz_wait_inside(t, POLLOUT);
	if (result < 0)
		return lz_try_failed(t, result, false);
	cut(t, (uint64_t)result);
	return lz_finish(t, result, (uint64_t)result);
}

uint32_t lz_try_failed(struct attempt *t, int64_t result, bool final)
{
	if (result == -EPIPE || result == -EINTR)
		return LZ_STOP;
	if (result == -EAGAIN && !final && !lz_is_nonblocking(t))
		return LZ_STOP;
	/* the tracer reads what is there now */
	return lz_breaks_off(t->regs[0], t->args, result) ? lz_finish(t, result, 0)
	                                                  : lz_finish_empty(t, result);
}

/* ---- all ---- */

PART uint32_t by_what(struct attempt *t)
{
	switch (t->what) {
	case LZ_TRY_READ:
	case LZ_TRY_WRITE: return lz_try_single(t);
	case LZ_TRY_READV:
	case LZ_TRY_WRITEV: return lz_try_several(t);
	case LZ_TRY_PREADV: return lz_try_several_at(t);
	case LZ_TRY_RECVFROM: return lz_try_receive_from(t);
	case LZ_TRY_RECVMSG: return lz_try_receive_message(t);
	case LZ_TRY_SENDTO: return lz_try_send_to(t);
	case LZ_TRY_SENDMSG: return lz_try_send_message(t);
	case LZ_TRY_ACCEPT: return lz_try_accept(t);
	case LZ_TRY_CONNECT: return lz_try_connect(t);
	case LZ_TRY_SENDFILE: return lz_try_sendfile(t);
	case LZ_TRY_POLL: return lz_try_poll(t);
	case LZ_TRY_PPOLL: return lz_try_poll_masked(t);
	case LZ_TRY_SELECT: return lz_try_select(t);
	case LZ_TRY_PSELECT: return lz_try_select_masked(t);
	case LZ_TRY_EPOLL: return lz_try_epoll(t);
	case LZ_TRY_FUTEX: return lz_try_futex(t);
	case LZ_TRY_SLEEP: return lz_try_sleep(t);
	case LZ_TRY_WAIT4: return lz_try_wait4(t);
	case LZ_TRY_WAITID: return lz_try_waitid(t);
	default: return LZ_STOP;
	}
}

uint32_t lz_stub_try(struct lz_call_page *p, uint64_t *regs, uint64_t marker)
{
	struct attempt t;
	uint32_t ret = LZ_STOP;

	/* From here on the tracer leaves the log where it is. */
	set_busy(p, 1);
	const uint32_t head = *(volatile uint32_t *)&p->head;
	if (is_still_let(p) && has_room(p, head, LZ_TRY_ROOM)) {
		t.p = p;
		t.regs = regs;
		t.args = regs + 1;
		t.what = (enum lz_fast_try)p->call[regs[0]].try;
		t.r = (struct lz_call_record *)(p->log + head);
		t.r->ip = p->site;
		t.r->marker = marker;
		t.n = (uint64_t *)(t.r + 1);
		t.piece = (struct lz_call_piece *)(t.n + 1);
		t.headers = lz_try_headers((uint8_t)t.what);
		*t.n = 0;
		t.data = t.n_data = t.n_waits = 0;
		t.mode = UNKNOWN;
		t.len = 0;
		t.most = LZ_TRY_MOST;
		ret = by_what(&t);
	}
	/* else its time goes on with a stop */
	if (ret != LZ_STOP)
		p->waited = 0;
	set_busy(p, 0);
	return ret;
}
