/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the code have in common that tries calls without waiting.
 *
 * The program's pointers may be bad ones. A fault here takes the call to its stop
 * (lz_fast_fault()), so nothing is read or stored through them between a call of the kernel that
 * has changed something and set_made(). */
#ifndef LIZARD_TRACER_TRY_H
#define LIZARD_TRACER_TRY_H

#include "tracer/stub/stub.h"

enum {
	PIPE_WHOLE = 4096, /* a shorter write is done at once, or not at all */
	UNIX_WHOLE = 2048, /* the same with the smallest buffer that such a socket can have */
	IOV_MOST = 1024,
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
	uint64_t *n; /* of the pieces: in the record, too, before the call is made */
	struct lz_call_piece *piece;
	uint32_t headers;
	uint32_t data, n_data; /* the pieces that a result's bytes fill, one after the other */
	uint64_t len, most;    /* of these */
	enum mode mode;
	uint32_t n_waits;
};

/* try.c */
int64_t lz_try_call(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                    uint64_t f) STUB;
bool lz_is_nonblocking(struct attempt *t) STUB;
/* Memory that the data is in; false: that is too much, or code that has been changed. */
bool lz_add_data(struct attempt *t, uint64_t addr, uint64_t len) STUB;
bool lz_add_iovecs(struct attempt *t, uint64_t at, uint64_t count) STUB;
/* The record is whole, with LEN bytes. */
uint32_t lz_finish(struct attempt *t, int64_t result, uint64_t len) STUB;
uint32_t lz_finish_as(struct attempt *t, uint32_t flags, int64_t result, uint64_t len) STUB;
/* The same with the bytes of all pieces that are no headers. */
uint32_t lz_finish_with_pieces(struct attempt *t, int64_t result) STUB;
/* The call would have waited for EVENTS; true: it is to be tried again. */
bool lz_is_ready_later(struct attempt *t, short events) STUB;
/* While a guard is held nobody waits so: behind the wait the program would see what others have stored,
 * and nobody would have looked. */
INLINE bool lz_may_wait_inside(const struct lz_call_page *p)
{
	return p->may_wait && !p->guards;
}
/* The call is made, and waits for EVENTS; -EAGAIN: it may not. */
int64_t lz_wait_inside(struct attempt *t, short events) STUB;
/* Is it a write that goes on with a stop when a part has been written? */
INLINE bool lz_goes_on(const struct attempt *t)
{
	return !t->p->one_thread && (t->what == LZ_TRY_WRITE || t->what == LZ_TRY_SENDTO);
}

/* It does so behind so many bytes. */
INLINE uint32_t lz_go_on_behind(const struct attempt *t, int64_t written)
{
	t->p->part = (uint64_t)written;
	return LZ_STOP;
}

/* The call is made, and waits until all is written. Only a thread that is alone waits so: else the tracer
 * could end that for another's sake, when a part has been written. */
uint32_t lz_write_whole(struct attempt *t) STUB;
/* A failed call; FINAL: it was not to wait anyway. A call that raises SIGPIPE does so at a stop:
 * again, where that is pending already. */
uint32_t lz_try_failed(struct attempt *t, int64_t result, bool final) STUB;

/* Each tries its calls. try_data.c: */
uint32_t lz_try_single(struct attempt *t) STUB;
uint32_t lz_try_several(struct attempt *t) STUB;
uint32_t lz_try_several_at(struct attempt *t) STUB;
uint32_t lz_try_sendfile(struct attempt *t) STUB;
/* try_messages.c: */
uint32_t lz_try_send_to(struct attempt *t) STUB;
uint32_t lz_try_send_message(struct attempt *t) STUB;
uint32_t lz_try_receive_from(struct attempt *t) STUB;
uint32_t lz_try_receive_message(struct attempt *t) STUB;
uint32_t lz_try_accept(struct attempt *t) STUB;
uint32_t lz_try_connect(struct attempt *t) STUB;
/* try_poll.c: */
uint32_t lz_try_poll(struct attempt *t) STUB;
uint32_t lz_try_poll_masked(struct attempt *t) STUB;
uint32_t lz_try_select(struct attempt *t) STUB;
uint32_t lz_try_select_masked(struct attempt *t) STUB;
uint32_t lz_try_epoll(struct attempt *t) STUB;
/* try_futex.c: */
uint32_t lz_try_futex(struct attempt *t) STUB;
/* hand.c: a wait for a futex whose word has not changed. The thread goes on standby, and another one of
 * those has the turn: then this does not return, and the call's result is 0. */
uint32_t lz_try_hand(struct attempt *t) STUB;
/* try_children.c: */
uint32_t lz_try_wait4(struct attempt *t) STUB;
uint32_t lz_try_waitid(struct attempt *t) STUB;
/* try_sleep.c: */
uint32_t lz_try_sleep(struct attempt *t) STUB;

INLINE uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

INLINE enum lz_fd_kind kind(const struct attempt *t)
{
	return lz_kind_of(t->p->fd[t->args[0]]);
}

INLINE bool is_socket(const struct attempt *t)
{
	return kind(t) >= LZ_KIND_UNIX_STREAM;
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

/* A write does all, or nothing, or a part of it is the answer. */
INLINE bool is_whole(struct attempt *t)
{
	return !may_be_cut(t) || lz_is_nonblocking(t);
}

INLINE uint8_t *bytes_of(const struct attempt *t)
{
	return (uint8_t *)(t->piece + *t->n);
}

INLINE struct lz_call_piece *add(struct attempt *t, uint64_t addr, uint64_t len)
{
	struct lz_call_piece *const piece = &t->piece[(*t->n)++];

	piece->addr = addr;
	piece->len = len;
	return piece;
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

/* Nothing is written or taken. */
INLINE uint32_t lz_finish_empty(struct attempt *t, int64_t result)
{
	*t->n = 0;
	return lz_finish(t, result, 0);
}

#endif
