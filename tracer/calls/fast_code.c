/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program may write its own code into a file, or send it. */
#include "tracer/calls/fast.h"
#include "tracer/code/code.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { MOST_IOV = 1024 };

static void give(struct lz_tracer *t, uint64_t start, uint64_t len)
{
	const struct lz_sites *s = &t->fast.sites;
	uint64_t end = start + len;

	for (size_t i = 0; end > start && i < s->n_code; i++)
		if (start < s->code_of[i].end && end > s->code_of[i].start) {
			lz_detours_moved(t, start, end, start);
			return;
		}
}

static void give_iovecs(struct lz_tracer *t, uint64_t at, uint64_t count)
{
	struct iovec io[MOST_IOV];

	count = count < MOST_IOV ? count : MOST_IOV;
	count = lz_proc_read_some(&t->p, at, io, count * sizeof(*io)) / sizeof(*io);
	for (uint64_t i = 0; i < count; i++)
		give(t, (uint64_t)(uintptr_t)io[i].iov_base, io[i].iov_len);
}

static void give_message(struct lz_tracer *t, uint64_t at)
{
	struct msghdr m;

	if (lz_proc_read_some(&t->p, at, &m, sizeof(m)) == sizeof(m))
		give_iovecs(t, (uint64_t)(uintptr_t)m.msg_iov, m.msg_iovlen);
}

static void give_messages(struct lz_tracer *t, uint64_t at, uint64_t count)
{
	for (count = count < MOST_IOV ? count : MOST_IOV; count;
	     count--, at += sizeof(struct mmsghdr))
		give_message(t, at);
}

void lz_fast_give_code(struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;

	switch (c->nr) {
	case SYS_write:
	case SYS_pwrite64:
	case SYS_sendto: give(t, c->args[1], c->args[2]); return;
	case SYS_writev:
	case SYS_pwritev:
	case SYS_pwritev2:
	case SYS_vmsplice:
	case SYS_process_vm_writev: give_iovecs(t, c->args[1], c->args[2]); return;
	case SYS_sendmsg: give_message(t, c->args[1]); return;
	case SYS_sendmmsg: give_messages(t, c->args[1], c->args[2]); return;
	/* it may be the program's own memory */
	case SYS_process_vm_readv: give_iovecs(t, c->args[3], c->args[4]); return;
	case SYS_msgsnd: give(t, c->args[1], c->args[2] + sizeof(long)); return;
	case SYS_mq_timedsend: give(t, c->args[1], c->args[2]); return;
	case SYS_setxattr:
	case SYS_lsetxattr:
	case SYS_fsetxattr: give(t, c->args[2], c->args[3]); return;
	}
}
