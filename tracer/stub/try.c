/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: tries a call that may wait for somebody in a way that does not wait. What
 * would wait, and what has not done all that the waiting call would do, is made with a stop.
 *
 * The program's pointers may be bad ones. A fault here takes the call to its stop
 * (lz_fast_fault()), so nothing is read or stored through them between a call of the kernel that
 * has changed something and the end. */
#include "tracer/stub/stub.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum {
	PIPE_WHOLE = 4096, /* a shorter write is done at once, or not at all */
	UNIX_WHOLE = 2048, /* the same with the smallest buffer that such a socket can have */
	IOV_MOST = 1024,
	EVENT = 12, /* bytes of a struct epoll_event */
	SETS = 3,
	SET_BITS = 1024,
	MOST_WAITS = 8 /* of one call: others may take what it has waited for */
};

/* Of its descriptor. */
enum mode { UNKNOWN, BLOCKING, NONBLOCKING };

struct attempt {
	struct lz_call_page *p;
	uint64_t *regs;
	const uint64_t *args;
	enum lz_fast_try what;
	struct lz_call_record *r;
	struct lz_call_piece *piece;
	uint32_t n, headers;
	uint32_t data, n_data; /* the pieces that a result's bytes fill, one after the other */
	uint64_t len;          /* of these */
	enum mode mode;
	uint32_t n_waits;
};

/* ---- system calls ---- */

PART int64_t call(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                  uint64_t f)
{
	const uint64_t regs[] = {nr, a, b, c, d, e, f};

	return make(regs);
}

INLINE enum lz_fd_kind kind(const struct attempt *t)
{
	return lz_kind_of(t->p->fd[t->args[0]]);
}

PART bool is_nonblocking(struct attempt *t)
{
	if (t->mode == UNKNOWN) {
		const int64_t flags = call(SYS_fcntl, t->args[0], F_GETFL, 0, 0, 0, 0);

		t->mode = flags >= 0 && flags & O_NONBLOCK ? NONBLOCKING : BLOCKING;
	}
	return t->mode == NONBLOCKING;
}

/* ---- the record ---- */

INLINE uint8_t *bytes_of(const struct attempt *t)
{
	return (uint8_t *)(t->piece + t->n);
}

INLINE struct lz_call_piece *add(struct attempt *t, uint64_t addr, uint64_t len)
{
	t->piece[t->n].addr = addr;
	t->piece[t->n].len = len;
	return &t->piece[t->n++];
}

/* Memory that the data is in; false: that is too much, or code that has been changed. */
PART bool add_data(struct attempt *t, uint64_t addr, uint64_t len)
{
	if (len > LZ_TRY_MOST - t->len ||
	    (lz_try_takes((uint8_t)t->what) && is_changed_code(t->p, addr, len)))
		return false;
	t->len += len;
	t->n_data++;
	add(t, addr, len);
	return true;
}

PART bool add_iovecs(struct attempt *t, uint64_t at, uint64_t count)
{
	const volatile struct iovec *io = (const volatile struct iovec *)at;

	if (count > IOV_MOST)
		return false;
	t->data = t->n;
	for (uint64_t i = 0; i < count; i++)
		if (!add_data(t, (uint64_t)io[i].iov_base, io[i].iov_len))
			return false;
	return true;
}

/* Of the data there are N bytes. */
INLINE void cut(struct attempt *t, uint64_t n)
{
	for (uint32_t i = t->data; i < t->data + t->n_data; i++) {
		if (t->piece[i].len > n)
			t->piece[i].len = n;
		n -= t->piece[i].len;
	}
}

PART uint32_t finish(struct attempt *t, int64_t result, uint64_t len)
{
	struct lz_call_record *r = t->r;

	r->flags = LZ_CALL_PIECES;
	if (result == -EFAULT)
		r->flags = LZ_CALL_UNREAD;
	r->nr = (uint16_t)t->regs[0];
	for (int i = 0; i < 6; i++)
		r->args[i] = t->args[i];
	r->result = result;
	*(uint64_t *)(r + 1) = t->n;
	r->len = ((uint32_t)(bytes_of(t) - (uint8_t *)r) + (uint32_t)len + 7) & ~7u;
	t->regs[0] = (uint64_t)result;
	__atomic_store_n(&t->p->head, (uint32_t)((uint8_t *)r - t->p->log) + r->len,
	                 __ATOMIC_RELEASE);
	return result == -EFAULT ? LZ_LOOK : LZ_MADE;
}

PART uint32_t finish_with_pieces(struct attempt *t, int64_t result)
{
	uint8_t *const bytes = bytes_of(t);
	uint64_t n = 0;

	for (uint32_t i = t->headers; i < t->n; i++) {
		copy(bytes + n, t->piece[i].addr, t->piece[i].len);
		n += t->piece[i].len;
	}
	return finish(t, result, n);
}

/* Nothing is written or taken. */
INLINE uint32_t finish_empty(struct attempt *t, int64_t result)
{
	t->n = 0;
	return finish(t, result, 0);
}

/* ---- waiting until a call can be made ---- */

INLINE bool is_socket(const struct attempt *t)
{
	return kind(t) >= LZ_KIND_UNIX_STREAM;
}

/* Its calls wait for a time only (SO_RCVTIMEO, SO_SNDTIMEO), or that is not known. */
INLINE bool is_timed(const struct attempt *t, short events)
{
	const int which = events == POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO;
	uint32_t len = 2 * sizeof(uint64_t);
	uint64_t time[2];

	time[0] = time[1] = 1;
	return call(SYS_getsockopt, t->args[0], SOL_SOCKET, (uint64_t)which, (uint64_t)time,
	            (uint64_t)&len, 0) != 0 ||
	       time[0] || time[1];
}

/* The call would have waited for EVENTS; true: it is to be tried again. */
PART bool is_ready_later(struct attempt *t, short events)
{
	struct pollfd p;

	if (!t->p->may_wait || t->n_waits++ == MOST_WAITS || is_nonblocking(t) ||
	    (is_socket(t) && is_timed(t, events)))
		return false;
	p.fd = (int)t->args[0];
	p.events = events;
	p.revents = 0;
	t->p->left[0] = LZ_NO_LIMIT;
	return lz_stub_wait(t->p, (uint64_t)&p, 1) > 0;
}

/* ---- data by a descriptor ---- */

/* A failed call; FINAL: it was not to wait anyway. A call that raises SIGPIPE does so at a stop:
 * again, where that is pending already. */
PART uint32_t failed(struct attempt *t, int64_t result, bool final)
{
	if (result == -EPIPE || result == -EINTR)
		return LZ_STOP;
	if (result == -EAGAIN && !final && !is_nonblocking(t))
		return LZ_STOP;
	return finish_empty(t, result);
}

/* Some of the bytes may be written now, and the others only when there is room. */
INLINE bool may_be_cut(const struct attempt *t)
{
	switch (kind(t)) {
	case LZ_KIND_DATAGRAM: return false;
	case LZ_KIND_PIPE: return t->len > PIPE_WHOLE;
	case LZ_KIND_UNIX_STREAM: return t->len > UNIX_WHOLE;
	default: return true;
	}
}

/* By a vector of COUNT at AT. */
PART uint32_t vector(struct attempt *t, const void *at, uint64_t count)
{
	const bool out = lz_try_takes((uint8_t)t->what), file = kind(t) == LZ_KIND_NONE;

	if (out && !file && (kind(t) == LZ_KIND_COUNTER || (may_be_cut(t) && !is_nonblocking(t))))
		return LZ_STOP;
	int64_t result;
	do
		result = call(out ? SYS_pwritev2 : SYS_preadv2, t->args[0], (uint64_t)at, count,
		              UINT64_MAX, UINT64_MAX, file ? 0 : RWF_NOWAIT);
	while (result == -EAGAIN && !file && is_ready_later(t, out ? POLLOUT : POLLIN));
	if (result == -EOPNOTSUPP && !file) {
		t->p->fd[t->args[0]] = LZ_FD_WAITS;
		return LZ_STOP;
	}
	if (result < 0)
		return failed(t, result, false);
	cut(t, (uint64_t)result);
	return finish_with_pieces(t, result);
}

INLINE uint32_t single(struct attempt *t)
{
	struct iovec io;

	io.iov_base = (void *)t->args[1];
	io.iov_len = t->args[2];
	return add_data(t, t->args[1], t->args[2]) ? vector(t, &io, 1) : LZ_STOP;
}

INLINE uint32_t several(struct attempt *t)
{
	if (t->args[2] > IOV_MOST)
		return LZ_STOP;
	if (t->what == LZ_TRY_WRITEV)
		add(t, t->args[1], t->args[2] * sizeof(struct iovec));
	return add_iovecs(t, t->args[1], t->args[2])
	           ? vector(t, (const void *)t->args[1], t->args[2])
	           : LZ_STOP;
}

/* ---- messages ---- */

enum {
	SENT_FLAGS = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE | MSG_EOR | MSG_DONTROUTE,
	RECEIVED_FLAGS = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_PEEK | MSG_TRUNC | MSG_CMSG_CLOEXEC
};

/* The call with its argument number FLAGS_AT; it may have waited for EVENTS before. */
PART int64_t without_waiting(struct attempt *t, int flags_at, short events)
{
	uint64_t regs[7];
	int64_t result;

	for (int i = 0; i < 7; i++)
		regs[i] = t->regs[i];
	regs[1 + flags_at] |= MSG_DONTWAIT;
	do
		result = make(regs);
	while (result == -EAGAIN && !(t->args[flags_at] & MSG_DONTWAIT) &&
	       is_ready_later(t, events));
	return result;
}

INLINE bool may_send(struct attempt *t, uint64_t flags)
{
	if (!is_socket(t) || flags & ~(uint64_t)SENT_FLAGS)
		return false;
	return flags & MSG_DONTWAIT || !may_be_cut(t) || is_nonblocking(t);
}

INLINE uint32_t sent(struct attempt *t, int64_t result, uint64_t flags)
{
	if (result < 0)
		return failed(t, result, flags & MSG_DONTWAIT);
	cut(t, (uint64_t)result);
	return finish_with_pieces(t, result);
}

INLINE uint32_t send_to(struct attempt *t)
{
	const uint64_t flags = t->args[3];

	if (!add_data(t, t->args[1], t->args[2]) || !may_send(t, flags))
		return LZ_STOP;
	return sent(t, without_waiting(t, 3, POLLOUT), flags);
}

INLINE uint32_t send_message(struct attempt *t)
{
	const volatile struct msghdr *m = (const volatile struct msghdr *)t->args[1];
	const uint64_t flags = t->args[2], count = m->msg_iovlen;

	/* a descriptor may be sent along */
	if (m->msg_controllen || count > IOV_MOST)
		return LZ_STOP;
	add(t, t->args[1], sizeof(*m));
	add(t, (uint64_t)m->msg_iov, count * sizeof(struct iovec));
	if (!add_iovecs(t, (uint64_t)m->msg_iov, count) || !may_send(t, flags))
		return LZ_STOP;
	return sent(t, without_waiting(t, 2, POLLOUT), flags);
}

INLINE uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* An address at ADDR has room for ROOM bytes; the kernel has stored its length at LEN_AT. */
INLINE void add_address(struct attempt *t, uint64_t addr, uint64_t len_at, uint32_t room)
{
	if (!addr)
		return;
	add(t, len_at, sizeof(room));
	add(t, addr, least(room, *(const volatile uint32_t *)len_at));
}

INLINE bool is_room(uint64_t len)
{
	return len <= sizeof(struct sockaddr_storage);
}

INLINE uint32_t receive_from(struct attempt *t)
{
	const uint64_t flags = t->args[3], addr = t->args[4], len_at = t->args[5];
	const uint32_t room = addr ? *(const volatile uint32_t *)len_at : 0;

	if (!is_socket(t) || flags & ~(uint64_t)RECEIVED_FLAGS || !is_room(room) ||
	    !add_data(t, t->args[1], t->args[2]))
		return LZ_STOP;
	int64_t result = without_waiting(t, 3, POLLIN);
	if (result < 0)
		return failed(t, result, flags & MSG_DONTWAIT);
	cut(t, (uint64_t)result);
	add_address(t, addr, len_at, room);
	return finish_with_pieces(t, result);
}

INLINE uint32_t receive_message(struct attempt *t)
{
	const volatile struct msghdr *m = (const volatile struct msghdr *)t->args[1];
	const uint64_t flags = t->args[2], name = m->msg_namelen, control = m->msg_controllen;

	if (!is_socket(t) || flags & ~(uint64_t)RECEIVED_FLAGS || !is_room(name) ||
	    control > LZ_TRY_MOST / 4)
		return LZ_STOP;
	add(t, t->args[1], sizeof(*m));
	struct lz_call_piece *to_name = add(t, (uint64_t)m->msg_name, 0);
	struct lz_call_piece *to_control = add(t, (uint64_t)m->msg_control, 0);
	if (!add_iovecs(t, (uint64_t)m->msg_iov, m->msg_iovlen) || t->len > LZ_TRY_MOST / 2)
		return LZ_STOP;
	int64_t result = without_waiting(t, 2, POLLIN);
	if (result < 0)
		return failed(t, result, flags & MSG_DONTWAIT);
	cut(t, (uint64_t)result);
	to_name->len = to_name->addr ? least(name, m->msg_namelen) : 0;
	to_control->len = to_control->addr ? least(control, m->msg_controllen) : 0;
	return finish_with_pieces(t, result);
}

INLINE uint32_t accept_one(struct attempt *t)
{
	const uint64_t addr = t->args[1], len_at = t->args[2];
	const uint32_t room = addr ? *(const volatile uint32_t *)len_at : 0;

	if (!is_socket(t) || !is_room(room) || !is_nonblocking(t))
		return LZ_STOP;
	int64_t result = make(t->regs);
	if (result < 0)
		return failed(t, result, true);
	set_fd(t->p, result, t->p->fd[t->args[0]]);
	add_address(t, addr, len_at, room);
	return finish_with_pieces(t, result);
}

/* ---- waiting for descriptors ---- */

enum { IN_MEMORY = INT32_MIN };

/* How a call may wait. */
struct patience {
	bool none;         /* not at all */
	uint64_t fraction; /* the units of its time in a second */
	bool masked;       /* while other signals are blocked: they end it */
	int64_t limit;     /* ms; less than 0: none; IN_MEMORY: it is told there what is left */
};

/* Without a time in memory, and without a mask. */
INLINE void set_patience(struct patience *w, int32_t limit)
{
	w->none = !limit;
	w->fraction = 1;
	w->masked = false;
	w->limit = limit;
}

/* A time at AT, with FRACTION units in a second; false: let the kernel complain. */
INLINE bool read_time(struct patience *w, uint64_t at, uint64_t fraction)
{
	const volatile int64_t *time = (const volatile int64_t *)at;

	w->none = false;
	w->limit = at ? IN_MEMORY : -1;
	w->fraction = fraction;
	if (!at)
		return true;
	const int64_t seconds = time[0], part = time[1];
	w->none = !seconds && !part;
	return seconds >= 0 && part >= 0 && (uint64_t)part < fraction;
}

INLINE bool read_mask(struct patience *w, uint64_t at, uint64_t len)
{
	w->masked = at;
	return !at || (len == sizeof(uint64_t) && (*(const volatile uint64_t *)at, true));
}

/* Is it over with this result? */
INLINE bool is_over(const struct patience *w, int64_t result)
{
	return result > 0 || (!result && w->none && !w->masked);
}

enum { MILLION = 1000000, BILLION = 1000000000, MS = 1000 };

INLINE void set_limit(struct attempt *t, const struct patience *w)
{
	t->p->left[0] = w->limit < 0 ? LZ_NO_LIMIT : w->limit / MS;
	t->p->left[1] = w->limit < 0 ? 0 : w->limit % MS * MILLION;
}

/* May it be waited for descriptors instead, with nothing else that ends it? */
INLINE bool may_wait(const struct attempt *t, const struct patience *w)
{
	return t->p->may_wait && w->limit != IN_MEMORY && !w->none && !w->masked;
}

/* The copy of what is left of the time, at TIME_AT: the call has taken no time at all, but some. */
INLINE void spend(const struct patience *w, uint8_t *copied)
{
	uint64_t *const time = (uint64_t *)copied;

	if (w->none)
		return;
	if (!time[1])
		time[0]--;
	time[1] = (time[1] ? time[1] : w->fraction) - 1;
}

/* The events go where the program has them when it is over: a call that waits has stored none. */
PART uint32_t poll_copied(struct attempt *t, const struct patience *w, uint64_t time_at)
{
	const uint64_t at = t->args[0], n = t->args[1], len = n * sizeof(struct pollfd);
	volatile struct pollfd *to = (volatile struct pollfd *)at;

	if (n > LZ_TRY_MOST / sizeof(struct pollfd) - 2)
		return LZ_STOP;
	if (n)
		add(t, at, len);
	if (time_at)
		add(t, time_at, 16);
	struct pollfd *const p = (struct pollfd *)bytes_of(t);
	copy((uint8_t *)p, at, len);
	if (time_at) {
		copy((uint8_t *)(p + n), time_at, 16);
		spend(w, (uint8_t *)(p + n));
	}
	int64_t result = call(SYS_poll, (uint64_t)p, n, 0, 0, 0, 0);
	bool waited = false;
	if (!result && may_wait(t, w)) {
		set_limit(t, w);
		result = lz_stub_wait(t->p, (uint64_t)p, n);
		waited = result >= 0;
	}
	if (!waited && !is_over(w, result))
		return LZ_STOP;
	for (uint64_t i = 0; i < n; i++)
		to[i].revents = p[i].revents;
	if (time_at && !w->none)
		copy((uint8_t *)time_at, (uint64_t)(p + n), 16);
	return finish(t, result, len + (time_at ? 16 : 0));
}

INLINE uint32_t poll_for(struct attempt *t)
{
	struct patience w;

	set_patience(&w, (int32_t)t->args[2]);
	return poll_copied(t, &w, 0);
}

INLINE uint32_t poll_masked(struct attempt *t)
{
	struct patience w;

	set_patience(&w, -1);
	if (!read_time(&w, t->args[2], BILLION) || !read_mask(&w, t->args[3], t->args[4]))
		return LZ_STOP;
	return poll_copied(t, &w, t->args[2]);
}

/* The program's sets to BYTES; the length of all. */
PART uint64_t copy_sets(const struct attempt *t, uint8_t *bytes, uint64_t len, uint64_t *set)
{
	uint64_t n = 0;

	for (int i = 0; i < SETS; i++) {
		set[i] = t->args[1 + i] ? (uint64_t)bytes + n : 0;
		if (!set[i] || !len)
			continue;
		copy(bytes + n, t->args[1 + i], len);
		n += len;
	}
	return n;
}

/* The same for sets of descriptors. */
PART uint32_t select_copied(struct attempt *t, const struct patience *w)
{
	const uint64_t len = (t->args[0] + 63) / 64 * 8, time_at = t->args[4];
	uint64_t set[SETS], no_time[2];

	no_time[0] = no_time[1] = 0;
	for (int i = 0; i < SETS; i++)
		if (t->args[1 + i] && len)
			add(t, t->args[1 + i], len);
	const uint32_t n_sets = t->n;
	if (time_at)
		add(t, time_at, 16);
	uint8_t *const bytes = bytes_of(t);
	const uint64_t n = copy_sets(t, bytes, len, set);
	if (time_at) {
		copy(bytes + n, time_at, 16);
		spend(w, bytes + n);
	}
	int64_t result = call(SYS_select, t->args[0], set[0], set[1], set[2], (uint64_t)no_time, 0);
	if (!result && may_wait(t, w)) {
		copy_sets(t, bytes, len, set); /* they are empty */
		result = lz_stub_wait_sets(t->p, t->args[0], set);
	}
	if (!is_over(w, result))
		return LZ_STOP;
	for (uint32_t i = 0; i < n_sets; i++)
		copy((uint8_t *)t->piece[i].addr, (uint64_t)bytes + i * len, len);
	if (time_at && !w->none)
		copy((uint8_t *)time_at, (uint64_t)bytes + n, 16);
	return finish(t, result, n + (time_at ? 16 : 0));
}

INLINE uint32_t select_one(struct attempt *t)
{
	struct patience w;

	set_patience(&w, -1);
	if (t->args[0] > SET_BITS || !read_time(&w, t->args[4], MILLION))
		return LZ_STOP;
	return select_copied(t, &w);
}

INLINE uint32_t select_masked(struct attempt *t)
{
	const volatile uint64_t *mask = (const volatile uint64_t *)t->args[5];
	struct patience w;

	set_patience(&w, -1);
	if (t->args[0] > SET_BITS || !read_time(&w, t->args[4], BILLION) ||
	    (mask && !read_mask(&w, mask[0], mask[1])))
		return LZ_STOP;
	return select_copied(t, &w);
}

/* Whether there are any can be waited for, too. */
INLINE int64_t wait_for_any(struct attempt *t)
{
	struct pollfd p;

	p.fd = (int)t->args[0];
	p.events = POLLIN;
	p.revents = 0;
	return t->n_waits++ == MOST_WAITS ? -EAGAIN : lz_stub_wait(t->p, (uint64_t)&p, 1);
}

INLINE uint32_t wait_for_events(struct attempt *t)
{
	const uint64_t room = t->args[2];
	struct patience w;

	set_patience(&w, (int32_t)t->args[3]);
	if (!room || room > INT32_MAX / EVENT ||
	    (t->regs[0] == SYS_epoll_pwait && !read_mask(&w, t->args[4], t->args[5])))
		return LZ_STOP;
	/* what does not fit comes the next time */
	const uint64_t most = least(room, LZ_TRY_MOST / EVENT);
	int64_t result, ready;
	set_limit(t, &w);
	do {
		result = call(SYS_epoll_wait, t->args[0], t->args[1], most, 0, 0, 0);
		ready = !result && may_wait(t, &w) ? wait_for_any(t) : -EAGAIN;
	} while (ready > 0);
	/* 0: its time is over */
	if (ready && !is_over(&w, result))
		return LZ_STOP;
	add(t, t->args[1], (uint64_t)result * EVENT);
	return finish_with_pieces(t, result);
}

/* ---- futexes ---- */

/* The word has changed: the call fails at once, which the kernel says. */
INLINE uint32_t futex_wait(struct attempt *t)
{
	uint64_t no_time[2];
	struct patience w;

	no_time[0] = no_time[1] = 0;
	set_patience(&w, -1);
	if (*(const volatile uint32_t *)t->args[0] == (uint32_t)t->args[2] ||
	    !read_time(&w, t->args[3], BILLION))
		return LZ_STOP;
	const int64_t result = call(SYS_futex, t->args[0], t->args[1], t->args[2],
	                            (uint64_t)no_time, t->args[4], t->args[5]);
	return result == -EAGAIN ? finish_empty(t, result) : LZ_STOP;
}

INLINE uint32_t futex_wake(struct attempt *t)
{
	const int64_t result = make(t->regs);

	return finish_empty(t, result < 0 ? result : lz_wake_parked(t->p, t->args, result));
}

INLINE uint32_t futex(struct attempt *t)
{
	switch ((uint32_t)t->args[1] & (uint32_t)FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET: return t->args[0] % 4 ? LZ_STOP : futex_wait(t);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET: return futex_wake(t);
	default: return LZ_STOP;
	}
}

/* ---- all ---- */

PART uint32_t by_what(struct attempt *t)
{
	switch (t->what) {
	case LZ_TRY_READ:
	case LZ_TRY_WRITE: return single(t);
	case LZ_TRY_READV:
	case LZ_TRY_WRITEV: return several(t);
	case LZ_TRY_RECVFROM: return receive_from(t);
	case LZ_TRY_RECVMSG: return receive_message(t);
	case LZ_TRY_SENDTO: return send_to(t);
	case LZ_TRY_SENDMSG: return send_message(t);
	case LZ_TRY_ACCEPT: return accept_one(t);
	case LZ_TRY_POLL: return poll_for(t);
	case LZ_TRY_PPOLL: return poll_masked(t);
	case LZ_TRY_SELECT: return select_one(t);
	case LZ_TRY_PSELECT: return select_masked(t);
	case LZ_TRY_EPOLL: return wait_for_events(t);
	case LZ_TRY_FUTEX: return futex(t);
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
	if (head <= LZ_CALL_LOG - LZ_TRY_ROOM) {
		t.p = p;
		t.regs = regs;
		t.args = regs + 1;
		t.what = (enum lz_fast_try)p->call[regs[0]].try;
		t.r = (struct lz_call_record *)(p->log + head);
		t.r->ip = p->site;
		t.r->marker = marker;
		t.piece = (struct lz_call_piece *)((uint64_t *)(t.r + 1) + 1);
		t.headers = lz_try_headers((uint8_t)t.what);
		t.n = t.data = t.n_data = t.n_waits = 0;
		t.mode = UNKNOWN;
		t.len = 0;
		ret = by_what(&t);
	}
	/* else its time goes on with a stop */
	if (ret != LZ_STOP)
		p->waited = 0;
	set_busy(p, 0);
	return ret;
}
