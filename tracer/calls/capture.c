/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a system call wrote into the program's memory, from the table. */
#include "tracer/calls/calls.h"
#include "tracer/log/log.h"
#include "tracer/state/state.h"

#include <errno.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { MAX_IOV = 1024 };

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint32_t read_iovecs(struct lz_tracer *t, uint64_t at, uint64_t count, struct iovec *io)
{
	count = min64(count, MAX_IOV);
	return (uint32_t)(lz_proc_read_some(&t->p, at, io, count * sizeof(*io)) / sizeof(*io));
}

/* The vector of COUNT at AT, which the call may overwrite. */
static int note_iovecs(struct lz_tracer *t, uint64_t at, uint64_t count)
{
	struct lz_thread *th = t->cur;

	if (!th->iov && !(th->iov = malloc(MAX_IOV * sizeof(*th->iov))))
		return lz_fail("no memory for the vector of a system call");
	th->n_iov = read_iovecs(t, at, count, th->iov);
	th->call.has_iov = true;
	return 0;
}

static int note_message(struct lz_tracer *t, uint64_t at)
{
	struct msghdr m;

	if (lz_proc_read_some(&t->p, at, &m, sizeof(m)) != sizeof(m))
		return 0;
	return note_iovecs(t, (uint64_t)(uintptr_t)m.msg_iov, m.msg_iovlen);
}

static int prepare_one(struct lz_tracer *t, const struct lz_sys_out *o, uint32_t *in_len)
{
	const uint64_t *args = t->cur->call.args;

	*in_len = 0;
	switch (o->kind) {
	case LZ_OUT_VALLEN:
		if (args[o->b])
			lz_proc_read_some(&t->p, args[o->b], in_len, sizeof(*in_len));
		return 0;
	case LZ_OUT_IOV: return note_iovecs(t, args[o->a], args[o->b]);
	case LZ_OUT_MSG: return note_message(t, args[o->a]);
	}
	return 0;
}

int lz_capture_prepare(struct lz_tracer *t)
{
	struct lz_call *c = &t->cur->call;

	c->has_iov = false;
	for (int i = 0; i < LZ_SYS_OUTS && c->row->out[i].kind; i++)
		if (prepare_one(t, &c->row->out[i], &c->in_len[i]) < 0)
			return -1;
	return 0;
}

static int vallen(struct lz_tracer *t, const struct lz_sys_out *o, uint32_t before)
{
	uint64_t at = t->cur->call.args[o->b];
	uint32_t after = 0;

	if (!at || lz_proc_read_some(&t->p, at, &after, 4) != 4)
		return 0;
	if (lz_build_read(t, at, 4) < 0)
		return -1;
	return lz_build_read(t, t->cur->call.args[o->a], min64(before, after));
}

static int add_scattered(struct lz_tracer *t, const struct iovec *io, uint32_t count, uint64_t len)
{
	for (uint32_t i = 0; i < count && len; i++) {
		uint64_t n = min64(len, io[i].iov_len);
		if (lz_build_read(t, (uint64_t)(uintptr_t)io[i].iov_base, n) < 0)
			return -1;
		len -= n;
	}
	return 0;
}

int lz_capture_iovecs(struct lz_tracer *t, uint64_t addr, uint64_t count, uint64_t len)
{
	struct iovec io[MAX_IOV];

	return add_scattered(t, io, read_iovecs(t, addr, count, io), len);
}

/* The same of the call's own vector. */
static int own_iovecs(struct lz_tracer *t, uint64_t addr, uint64_t count, uint64_t len)
{
	if (t->cur->call.has_iov)
		return add_scattered(t, t->cur->iov, t->cur->n_iov, len);
	return lz_capture_iovecs(t, addr, count, len);
}

/* The lengths in the header are those after the call: the kernel has written them. */
static int message(struct lz_tracer *t, uint64_t addr, uint64_t len)
{
	struct msghdr m;

	if (lz_proc_read_some(&t->p, addr, &m, sizeof(m)) != sizeof(m))
		return 0;
	if (lz_build_read(t, addr, sizeof(m)) < 0 ||
	    lz_build_read(t, (uint64_t)(uintptr_t)m.msg_name,
	                  min64(m.msg_namelen, sizeof(struct sockaddr_storage))) < 0 ||
	    lz_build_read(t, (uint64_t)(uintptr_t)m.msg_control, min64(m.msg_controllen, 1 << 20)) <
	        0)
		return -1;
	return own_iovecs(t, (uint64_t)(uintptr_t)m.msg_iov, m.msg_iovlen, len);
}

static int messages(struct lz_tracer *t, uint64_t addr, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		struct mmsghdr m;
		uint64_t at = addr + (uint64_t)i * sizeof(m);
		if (lz_proc_read_some(&t->p, at, &m, sizeof(m)) != sizeof(m))
			break;
		/* While the call is under way nobody knows how long it will be. */
		uint64_t len = t->cur->call.inside ? SIZE_MAX : m.msg_len;
		if (message(t, at, len) < 0 || lz_build_read(t, at, sizeof(m)) < 0)
			return -1;
	}
	return 0;
}

static int capture_one(struct lz_tracer *t, int i, int64_t result)
{
	const struct lz_sys_out *o = &t->cur->call.row->out[i];
	const uint64_t *args = t->cur->call.args;
	uint64_t at = args[o->a], count = args[o->b], ret = result > 0 ? (uint64_t)result : 0;

	/* a length may be wanted alone */
	if (!at && o->kind != LZ_OUT_SPECIAL && o->kind != LZ_OUT_VALLEN)
		return 0;
	switch (o->kind) {
	case LZ_OUT_FIX: return lz_build_read(t, at, o->size);
	case LZ_OUT_RET: return lz_build_read(t, at, min64(ret, count));
	case LZ_OUT_RETN: return lz_build_read(t, at, ret * o->size);
	case LZ_OUT_LEN: return lz_build_read(t, at, min64(count, 1 << 20));
	case LZ_OUT_ARR: return lz_build_read(t, at, min64(count, 1 << 20) * o->size);
	case LZ_OUT_BITS:
	case LZ_OUT_FDSET: return lz_build_read(t, at, (min64(count, 1 << 20) + 63) / 64 * 8);
	case LZ_OUT_VALLEN: return vallen(t, o, t->cur->call.in_len[i]);
	case LZ_OUT_IOV: return own_iovecs(t, at, count, ret);
	case LZ_OUT_MSG: return message(t, at, ret);
	case LZ_OUT_MMSG: return messages(t, at, result);
	case LZ_OUT_SPECIAL: return lz_capture_special(t, result);
	}
	return lz_fail("system call %s: unknown kind of output %d", t->cur->call.row->name,
	               o->kind);
}

/* Ended in the middle: what came before may have been written. ioctl and futex have their own
 * rules. */
static bool broke_off(const struct lz_call *c, int64_t result)
{
	return (result == -EFAULT && c->nr != SYS_ioctl && c->nr != SYS_futex) ||
	       (result == -ENOMEM && c->nr == SYS_mincore);
}

int lz_capture(struct lz_tracer *t, int64_t result)
{
	const struct lz_call *c = &t->cur->call;
	const struct lz_syscall *row = c->row;
	int64_t wrote = broke_off(c, result) ? lz_call_most(c) : result;

	for (int i = 0; row && i < LZ_SYS_OUTS && row->out[i].kind; i++)
		if ((wrote >= 0 || row->out[i].always) && capture_one(t, i, wrote) < 0)
			return -1;
	return lz_names_note(t, result);
}
