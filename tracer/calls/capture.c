/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a system call wrote into the program's memory, from the table. */
#include "tracer/calls/calls.h"
#include "tracer/log/log.h"
#include "tracer/state/state.h"

#include <errno.h>
#include <lizard/error.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
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
	case LZ_OUT_IOV: return lz_vectors_note(t, args[o->a], args[o->b]);
	case LZ_OUT_MSG: return lz_vectors_note_message(t, args[o->a]);
	case LZ_OUT_MMSG: return lz_vectors_note_messages(t, args[o->a], (uint32_t)args[o->b]);
	case LZ_OUT_SPECIAL: return lz_capture_prepare_special(t);
	}
	return 0;
}

/* Whether descriptors are sent along is asked behind the call. */
static int prepare_sent(struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;

	if (t->n_shared && c->nr == SYS_sendmsg)
		return lz_vectors_note_message(t, c->args[1]);
	if (t->n_shared && c->nr == SYS_sendmmsg)
		return lz_vectors_note_messages(t, c->args[1], c->args[2]);
	return 0;
}

int lz_capture_prepare(struct lz_tracer *t)
{
	struct lz_call *c = &t->cur->call;

	lz_vectors_begin(t);
	if (prepare_sent(t) < 0)
		return -1;
	for (int i = 0; i < LZ_SYS_OUTS && c->row->out[i].kind; i++)
		if (prepare_one(t, &c->row->out[i], &c->in_len[i]) < 0)
			return -1;
	return 0;
}

/* So much of a value may have been written whose length the program has given as BEFORE, and the kernel as
 * AFTER. The kernel looks at the length late: it may lie in what else the call writes. */
static uint64_t most_of_value(const struct lz_sys_out *o, uint32_t before, uint32_t after)
{
	const uint64_t n = min64(before, after), address = sizeof(struct sockaddr_storage);

	return o->always && n > address ? min64(n, LZ_CALL_MOST) : min64(after, address);
}

static int vallen(struct lz_tracer *t, const struct lz_sys_out *o, uint32_t before)
{
	uint64_t at = t->cur->call.args[o->b];
	uint32_t after = 0;

	if (!at || lz_proc_read_some(&t->p, at, &after, 4) != 4)
		return 0;
	if (lz_build_read(t, at, 4) < 0)
		return -1;
	return lz_build_read(t, t->cur->call.args[o->a], most_of_value(o, before, after));
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
	case LZ_OUT_IOV: return lz_vectors_capture(t, ret);
	case LZ_OUT_MSG: return lz_vectors_capture_message(t, at, ret);
	case LZ_OUT_MMSG: return lz_vectors_capture_messages(t, at, ret);
	case LZ_OUT_SPECIAL: return lz_capture_special(t, result);
	}
	return lz_fail("system call %s: unknown kind of output %d", t->cur->call.row->name,
	               o->kind);
}

/* Ended in the middle: what came before may have been written. ioctl and futex have their own
 * rules. */
static bool broke_off(const struct lz_call *c, const struct lz_vectors *v, int64_t result)
{
	/* only the length of a name is looked at late */
	if (result == -EINVAL && v->n_messages && !v->message[0].name)
		return false;
	return (lz_breaks_off(c->nr, c->args, result) && c->nr != SYS_ioctl &&
	        c->nr != SYS_futex) ||
	       (result == -ENOMEM && c->nr == SYS_mincore);
}

int lz_capture(struct lz_tracer *t, int64_t result)
{
	const struct lz_call *c = &t->cur->call;
	const struct lz_syscall *row = c->row;
	struct lz_vectors *v = &t->cur->vectors;

	v->broke_off = broke_off(c, v, result);
	const int64_t wrote = v->broke_off ? lz_call_most(c) : result;

	for (int i = 0; row && i < LZ_SYS_OUTS && row->out[i].kind; i++)
		if ((wrote >= 0 || row->out[i].always) && capture_one(t, i, wrote) < 0)
			return -1;
	return lz_names_note(t, result);
}
