/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What says where a call writes: vectors and headers. They are taken down before it is made: they may
 * lie where it writes, and other threads may change them while it waits. */
#include "tracer/calls/calls.h"
#include "tracer/log/log.h"
#include "tracer/state/state.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum {
	MOST_IOV = 1024,
	MOST_MESSAGES = 1024,
	MOST_NOTED = 64,
	MOST_CONTROL = 1 << 16,
	MOST_KEPT = 1 << 14
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t address(const void *p)
{
	return (uintptr_t)p;
}

/* ---- before ---- */

static struct lz_vectors *own(struct lz_tracer *t)
{
	return &t->cur->vectors;
}

void lz_vectors_begin(struct lz_tracer *t)
{
	struct lz_vectors *v = own(t);

	if (v->io_room > MOST_KEPT)
		lz_vectors_free(v);
	v->n_io = v->n_messages = v->n_head = 0;
	v->broke_off = false;
}

int lz_vectors_note(struct lz_tracer *t, uint64_t at, uint64_t count)
{
	struct lz_vectors *v = own(t);

	count = least(count, MOST_IOV);
	if (lz_reserve(v->io, v->io_room, v->n_io + count) < 0)
		return lz_fail("no memory for the vector of a system call");
	v->n_io +=
	    (uint32_t)(lz_proc_read_some(&t->p, at, v->io + v->n_io, count * sizeof(*v->io)) /
	               sizeof(*v->io));
	return 0;
}

static int add_header_of(struct lz_vectors *v, const struct msghdr *m, uint64_t n_io)
{
	if (lz_reserve(v->message, v->message_room, (size_t)v->n_messages + 1) < 0)
		return lz_fail("no memory for the headers of a system call");
	v->message[v->n_messages++] = (struct lz_message){.name = address(m->msg_name),
	                                                  .name_len = m->msg_namelen,
	                                                  .control = address(m->msg_control),
	                                                  .control_len = m->msg_controllen,
	                                                  .vector = address(m->msg_iov),
	                                                  .vector_len = m->msg_iovlen,
	                                                  .first = v->n_io,
	                                                  .n_io = (uint32_t)n_io};
	v->n_io += (uint32_t)n_io;
	return 0;
}

/* So many of the N vectors lie behind each other, and can be read at once; LEN: of all. */
static uint64_t run_of(const struct mmsghdr *m, uint64_t n, uint64_t *len)
{
	uint64_t i = 1;

	*len = least(m->msg_hdr.msg_iovlen, MOST_IOV);
	for (; i < n && m[i].msg_hdr.msg_iov == m->msg_hdr.msg_iov + *len &&
	       m[i].msg_hdr.msg_iovlen <= MOST_IOV - *len;
	     i++)
		*len += m[i].msg_hdr.msg_iovlen;
	return i;
}

static int note_headers(struct lz_tracer *t, const struct mmsghdr *m, uint64_t n)
{
	struct lz_vectors *v = own(t);

	for (uint64_t in_run, len; n; m += in_run, n -= in_run) {
		const uint32_t first = v->n_io;

		in_run = run_of(m, n, &len);
		if (lz_vectors_note(t, address(m->msg_hdr.msg_iov), len) < 0)
			return -1;
		uint64_t left = v->n_io - first;
		v->n_io = first;
		for (uint64_t i = 0; i < in_run; i++) {
			const uint64_t n_io = least(m[i].msg_hdr.msg_iovlen, left);

			if (add_header_of(v, &m[i].msg_hdr, n_io) < 0)
				return -1;
			left -= n_io;
		}
	}
	return 0;
}

int lz_vectors_note_message(struct lz_tracer *t, uint64_t at)
{
	struct mmsghdr m;

	if (lz_proc_read_some(&t->p, at, &m.msg_hdr, sizeof(m.msg_hdr)) != sizeof(m.msg_hdr))
		return 0;
	return note_headers(t, &m, 1);
}

/* Who asks for a thousand messages mostly gets a few. */
int lz_vectors_note_messages(struct lz_tracer *t, uint64_t at, uint64_t count)
{
	struct mmsghdr m[MOST_NOTED];
	const size_t len = least(count, MOST_NOTED) * sizeof(*m);

	return note_headers(t, m, lz_proc_read_some(&t->p, at, m, len) / sizeof(*m));
}

static int note_pieces(struct lz_vectors *v, const struct lz_call_piece *piece, uint32_t n)
{
	if (lz_reserve(v->io, v->io_room, n) < 0)
		return lz_fail("no memory for the vector of a system call");
	for (v->n_io = 0; v->n_io < n; v->n_io++)
		v->io[v->n_io] =
		    (struct iovec){(void *)(uintptr_t)piece[v->n_io].addr, piece[v->n_io].len};
	return 0;
}

int lz_vectors_of_pieces(struct lz_tracer *t, const struct lz_call_piece *piece, uint32_t n)
{
	enum { HEADER, NAME, CONTROL, DATA };
	struct lz_vectors *v = own(t);

	if (t->cur->call.nr != SYS_recvmsg)
		return note_pieces(v, piece, n);
	if (n < DATA)
		return 0;
	if (lz_reserve(v->message, v->message_room, 1) < 0 ||
	    note_pieces(v, piece + DATA, n - DATA) < 0)
		return lz_fail("no memory for the headers of a system call");
	v->message[0] = (struct lz_message){.name = piece[NAME].addr,
	                                    .name_len = piece[NAME].len,
	                                    .control = piece[CONTROL].addr,
	                                    .control_len = piece[CONTROL].len,
	                                    .n_io = n - DATA};
	v->n_messages = 1;
	return 0;
}

void lz_vectors_note_head(struct lz_tracer *t, uint64_t at)
{
	struct lz_vectors *v = own(t);

	v->n_head = (uint32_t)lz_proc_read_some(&t->p, at, v->head, sizeof(v->head));
}

bool lz_vectors_head(const struct lz_tracer *t, void *to, size_t len)
{
	const struct lz_vectors *v = &t->cur->vectors;

	if (v->n_head < len)
		return false;
	memcpy(to, v->head, len);
	return true;
}

/* ---- behind ---- */

static int add_scattered(struct lz_tracer *t, const struct iovec *io, uint32_t count, uint64_t len)
{
	for (uint32_t i = 0; i < count && len; i++) {
		const uint64_t n = least(len, io[i].iov_len);

		if (lz_build_read(t, address(io[i].iov_base), n) < 0)
			return -1;
		len -= n;
	}
	return 0;
}

int lz_vectors_capture(struct lz_tracer *t, uint64_t len)
{
	return add_scattered(t, own(t)->io, own(t)->n_io, len);
}

static bool is_same(const struct lz_message *before, const struct msghdr *after)
{
	return before->name == address(after->msg_name) &&
	       before->vector == address(after->msg_iov) &&
	       before->vector_len == after->msg_iovlen &&
	       before->control == address(after->msg_control);
}

/* The kernel says in the header how much of a name and of control data it has stored, if that is the header
 * still. Before, others may have changed what there is room for. */
static int add_message(struct lz_tracer *t, const struct lz_message *m, const struct msghdr *after,
                       uint64_t len, bool in_full)
{
	const uint64_t most = sizeof(struct sockaddr_storage), control = after->msg_controllen;
	const bool known = !in_full && is_same(m, after);

	if (lz_build_read(t, m->name, in_full ? most : least(after->msg_namelen, most)) < 0 ||
	    lz_build_read(t, m->control,
	                  least(known || control > m->control_len ? control : m->control_len,
	                        MOST_CONTROL)) < 0)
		return -1;
	return add_scattered(t, own(t)->io + m->first, m->n_io, len);
}

static int add_range(struct lz_tracer *t, uint64_t at, size_t from, size_t end)
{
	return lz_build_read(t, at + from, end - from);
}

/* Of a call under way, only what the kernel is to store: the rest may be changed by other threads. */
static int add_header(struct lz_tracer *t, uint64_t at, size_t size)
{
	typedef struct mmsghdr m;

	if (!t->cur->call.inside)
		return lz_build_read(t, at, size);
	if (add_range(t, at, offsetof(m, msg_hdr.msg_namelen),
	              offsetof(m, msg_hdr.msg_namelen) + 4) < 0 ||
	    add_range(t, at, offsetof(m, msg_hdr.msg_controllen),
	              offsetof(m, msg_hdr.msg_flags) + 4) < 0)
		return -1;
	return size < sizeof(m) ? 0
	                        : add_range(t, at, offsetof(m, msg_len), offsetof(m, msg_len) + 4);
}

int lz_vectors_capture_message(struct lz_tracer *t, uint64_t at, uint64_t len)
{
	struct msghdr after = {0};

	if (!own(t)->n_messages)
		return 0;
	lz_proc_read_some(&t->p, at, &after, sizeof(after));
	if (add_header(t, at, sizeof(after)) < 0)
		return -1;
	return add_message(t, &own(t)->message[0], &after, len, own(t)->broke_off);
}

/* ---- several messages ---- */

/* Does a message go over the headers in [START, END)? Then their lengths are not what the kernel has stored. */
static bool is_odd(const struct lz_vectors *v, const struct lz_message *m, uint64_t start,
                   uint64_t end)
{
	const struct iovec *io = v->io + m->first;

	for (uint32_t i = 0; i < m->n_io; i++)
		if (address(io[i].iov_base) < end &&
		    address(io[i].iov_base) + io[i].iov_len > start)
			return true;
	return false;
}

static bool any_odd(const struct lz_vectors *v, uint64_t at, uint32_t n)
{
	const uint64_t end = at + n * sizeof(struct mmsghdr);

	for (uint32_t i = 0; i < n && i < v->n_messages; i++)
		if (is_odd(v, &v->message[i], at, end))
			return true;
	return false;
}

/* The kernel reads a header when its message comes: it may have become another one before. */
static bool is_other(const struct lz_vectors *v, const struct lz_message *a,
                     const struct lz_message *b)
{
	return a->name != b->name || a->vector != b->vector || a->control != b->control ||
	       a->n_io != b->n_io ||
	       memcmp(v->io + a->first, v->io + b->first, a->n_io * sizeof(*v->io)) != 0;
}

static uint64_t room_of(const struct lz_vectors *v, const struct lz_message *m)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < m->n_io; i++)
		n += least(v->io[m->first + i].iov_len, LZ_CALL_MOST);
	return n;
}

/* Message I, whose header is at AT. *LEFT: for those whose length is not known. */
static int add_one(struct lz_tracer *t, uint32_t i, uint64_t at, bool in_full, uint64_t *left)
{
	struct lz_vectors *v = own(t);
	struct mmsghdr m = {0};

	lz_proc_read_some(&t->p, at, &m, sizeof(m));
	if (note_headers(t, &m, 1) < 0 || add_header(t, at, sizeof(m)) < 0)
		return -1;
	const struct lz_message *after = &v->message[--v->n_messages];
	const struct lz_message *before = i < v->n_messages ? &v->message[i] : after;
	const bool other = is_other(v, before, after);
	const bool known = !in_full && !other && !t->cur->call.inside;
	const uint64_t len = known ? m.msg_len : *left;

	if (add_message(t, before, &m.msg_hdr, len, in_full) < 0 ||
	    (other && add_message(t, after, &m.msg_hdr, len, in_full) < 0))
		return -1;
	if (!known && !t->cur->call.inside)
		*left -= least(*left, room_of(v, before));
	v->n_io = after->first;
	return 0;
}

/* Some have come, and then there was an error, which the socket has now: another one may have been stored
 * in part. */
static bool has_failed_then(const struct lz_tracer *t, uint64_t count)
{
	const uint64_t *args = t->cur->call.args;

	return count && count < (uint32_t)args[2] && lz_fd_has_error(t, (int)args[0]);
}

int lz_vectors_capture_messages(struct lz_tracer *t, uint64_t at, uint64_t count)
{
	const struct lz_vectors *v = own(t);
	/* while the call is under way nobody knows how many and how long they will be */
	const bool inside = t->cur->call.inside;
	uint64_t left = LZ_CALL_MOST;

	if (v->broke_off)
		count = 0;
	const bool more = !inside && (v->broke_off || has_failed_then(t, count));
	const uint32_t n = (uint32_t)least(count + more, MOST_MESSAGES);
	const bool odd = !inside && any_odd(v, at, n);
	for (uint32_t i = 0; i < n; i++)
		if (add_one(t, i, at + i * sizeof(struct mmsghdr), odd || i == count, &left) < 0)
			return -1;
	return 0;
}
