/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a system call is like, by its number and arguments alone. */
#include "tracer/state/state.h"

#include <linux/futex.h>
#include <sys/syscall.h>

bool lz_call_same(const struct lz_call *c, const struct user_regs_struct *r)
{
	if (c->ip != r->rip)
		return false;
	return r->orig_rax == SYS_restart_syscall ||
	       (r->orig_rax == c->nr && r->rdi == c->args[0] && r->rsi == c->args[1] &&
	        r->rdx == c->args[2]);
}

int64_t lz_call_most(const struct lz_call *c)
{
	uint64_t n = LZ_CALL_MOST;

	switch (c->nr) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_sendmmsg:
	case SYS_recvmmsg:
	case SYS_msgrcv: n = c->args[2];
	}
	return n < LZ_CALL_MOST ? (int64_t)n : LZ_CALL_MOST;
}

static bool futex_waits(const struct lz_call *c)
{
	switch ((int)c->args[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2: return true;
	}
	return false;
}

bool lz_call_waits(const struct lz_call *c)
{
	if (!c->inside || c->forced || !c->row)
		return false;
	if (c->nr == SYS_futex)
		return futex_waits(c);
	return c->row->klass == LZ_SC_WAIT || c->row->klass == LZ_SC_WRITE;
}

bool lz_call_has_class(const struct lz_call *c, int klass)
{
	return c->inside && c->row && c->row->klass == klass;
}

/* What the kernel stores for others when a process ends comes before they go on. */
bool lz_call_may_sleep(const struct lz_call *c)
{
	return c->inside && !c->forced && !lz_call_has_class(c, LZ_SC_EXIT);
}
