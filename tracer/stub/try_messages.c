/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: messages of sockets, and connections, without waiting. */
#include "tracer/stub/try.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

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
	       lz_is_ready_later(t, events));
	return result;
}

INLINE bool may_send(const struct attempt *t, uint64_t flags)
{
	return is_socket(t) && !(flags & ~(uint64_t)SENT_FLAGS);
}

PART uint32_t send_by(struct attempt *t, int flags_at)
{
	const uint64_t flags = t->args[flags_at];

	const bool in_parts = !(flags & MSG_DONTWAIT) && !is_whole(t);
	if (in_parts && !lz_goes_on(t))
		return lz_write_whole(t);
	const int64_t result = without_waiting(t, flags_at, POLLOUT);
	if (result < 0)
		return lz_try_failed(t, result, flags & MSG_DONTWAIT);
	if (in_parts && (uint64_t)result < t->len)
		return lz_go_on_behind(t, result);
	cut(t, (uint64_t)result);
	return lz_finish_with_pieces(t, result);
}

uint32_t lz_try_send_to(struct attempt *t)
{
	if (!may_send(t, t->args[3]) || !lz_add_data(t, t->args[1], t->args[2]))
		return LZ_STOP;
	return send_by(t, 3);
}

uint32_t lz_try_send_message(struct attempt *t)
{
	const volatile struct msghdr *m = (const volatile struct msghdr *)t->args[1];
	const uint64_t count = m->msg_iovlen;

	/* a descriptor may be sent along */
	if (!may_send(t, t->args[2]) || m->msg_controllen || count > IOV_MOST)
		return LZ_STOP;
	add(t, t->args[1], sizeof(*m));
	add(t, (uint64_t)m->msg_iov, count * sizeof(struct iovec));
	return lz_add_iovecs(t, (uint64_t)m->msg_iov, count) ? send_by(t, 2) : LZ_STOP;
}

/* Where an address comes to, its length at LEN_AT: ADDR has room for ROOM bytes. NULL: it is not wanted. */
INLINE struct lz_call_piece *add_address(struct attempt *t, uint64_t addr, uint64_t len_at,
                                         uint32_t room)
{
	if (!addr)
		return 0;
	add(t, len_at, sizeof(room));
	return add(t, addr, room);
}

INLINE bool is_over(const struct lz_call_piece *piece, uint64_t at)
{
	return at < piece->addr + piece->len && piece->addr < at + sizeof(uint32_t);
}

/* Has the message gone over what is at AT? */
INLINE bool is_stored_over(const struct attempt *t, uint64_t at)
{
	for (uint32_t i = t->data; i < t->data + t->n_data; i++)
		if (is_over(&t->piece[i], at))
			return true;
	return false;
}

/* The kernel has stored how long it is. It has looked behind the message at what there is ROOM for. */
INLINE void cut_address(struct lz_call_piece *address, uint64_t len_at, uint64_t room, bool over)
{
	const uint64_t most = over ? sizeof(struct sockaddr_storage) : room;

	address->len = address->addr ? least(most, *(const volatile uint32_t *)len_at) : 0;
}

INLINE bool is_room(uint64_t len)
{
	return len <= sizeof(struct sockaddr_storage);
}

uint32_t lz_try_receive_from(struct attempt *t)
{
	const uint64_t flags = t->args[3], addr = t->args[4], len_at = t->args[5];
	const uint32_t room = addr ? *(const volatile uint32_t *)len_at : 0;

	if (!is_socket(t) || flags & ~(uint64_t)RECEIVED_FLAGS || !is_room(room) ||
	    !lz_add_data(t, t->args[1], t->args[2]))
		return LZ_STOP;
	struct lz_call_piece *to_address = add_address(t, addr, len_at, room);
	int64_t result = without_waiting(t, 3, POLLIN);
	if (result < 0)
		return lz_try_failed(t, result, flags & MSG_DONTWAIT);
	set_made(t->p, result);
	cut(t, (uint64_t)result);
	if (addr)
		cut_address(to_address, len_at, room, is_stored_over(t, len_at));
	return lz_finish_with_pieces(t, result);
}

uint32_t lz_try_receive_message(struct attempt *t)
{
	const volatile struct msghdr *m = (const volatile struct msghdr *)t->args[1];
	const uint64_t flags = t->args[2], name = m->msg_namelen, control = m->msg_controllen;

	if (!is_socket(t) || flags & ~(uint64_t)RECEIVED_FLAGS || !is_room(name) ||
	    control > LZ_TRY_MOST / 4)
		return LZ_STOP;
	add(t, t->args[1], sizeof(*m));
	struct lz_call_piece *to_name = add(t, (uint64_t)m->msg_name, name);
	struct lz_call_piece *to_control = add(t, (uint64_t)m->msg_control, control);
	if (!lz_add_iovecs(t, (uint64_t)m->msg_iov, m->msg_iovlen) || t->len > LZ_TRY_MOST / 2)
		return LZ_STOP;
	int64_t result = without_waiting(t, 2, POLLIN);
	if (result < 0)
		return lz_try_failed(t, result, flags & MSG_DONTWAIT);
	set_made(t->p, result);
	cut(t, (uint64_t)result);
	const uint64_t len_at = (uint64_t)&m->msg_namelen;
	cut_address(to_name, len_at, name,
	            is_over(to_control, len_at) || is_stored_over(t, len_at));
	to_control->len = to_control->addr ? least(control, m->msg_controllen) : 0;
	return lz_finish_with_pieces(t, result);
}

/* Not to wait cannot be asked for. A wait that is ended goes on in the call that is made then. */
uint32_t lz_try_connect(struct attempt *t)
{
	if (!is_socket(t))
		return LZ_STOP;
	const bool waits = kind(t) != LZ_KIND_DATAGRAM && !lz_is_nonblocking(t);
	const int64_t result = waits ? lz_wait_inside(t, POLLOUT) : make(t->regs);

	return result < 0 ? lz_try_failed(t, result, !waits) : lz_finish_empty(t, result);
}

uint32_t lz_try_accept(struct attempt *t)
{
	const uint64_t addr = t->args[1], len_at = t->args[2];
	const uint32_t room = addr ? *(const volatile uint32_t *)len_at : 0;

	if (!is_socket(t) || !is_room(room))
		return LZ_STOP;
	struct lz_call_piece *to_address = add_address(t, addr, len_at, room);
	const bool waits = !lz_is_nonblocking(t);
	const int64_t result = waits ? lz_wait_inside(t, POLLIN) : make(t->regs);
	if (result < 0)
		return lz_try_failed(t, result, !waits);
	set_made(t->p, result);
	set_fd(t->p, result, t->p->fd[t->args[0]]);
	if (addr)
		cut_address(to_address, len_at, room, false);
	return lz_finish_with_pieces(t, result);
}
