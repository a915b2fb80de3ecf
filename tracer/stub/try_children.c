/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: waits for children. */
#include "tracer/stub/try.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Would it have waited? Then it does so now, if it may. */
PART int64_t later(struct attempt *t)
{
	const int64_t result = lz_may_wait_inside(t->p) ? lz_stub_wait_in(t->p, t->regs) : -EAGAIN;

	return result == -EINTR ? -EAGAIN : result;
}

uint32_t lz_try_wait4(struct attempt *t)
{
	const uint64_t *a = t->args;
	int64_t result = lz_try_call(SYS_wait4, a[0], a[1], a[2] | WNOHANG, a[3], a[4], a[5]);

	if (!result && !(a[2] & WNOHANG))
		result = later(t);
	if (result == -EAGAIN)
		return LZ_STOP;
	if (result < 0)
		return lz_finish_empty(t, result);
	if (a[1])
		add(t, a[1], sizeof(int));
	if (a[3])
		add(t, a[3], sizeof(struct rusage));
	return lz_finish_with_pieces(t, result);
}

/* What the kernel stores of it. */
INLINE void copy_info(volatile siginfo_t *to, const siginfo_t *from)
{
	to->si_signo = from->si_signo;
	to->si_errno = from->si_errno;
	to->si_code = from->si_code;
	to->si_pid = from->si_pid;
	to->si_uid = from->si_uid;
	to->si_status = from->si_status;
}

/* All that is read or stored there later. */
INLINE void touch_info(uint64_t at)
{
	(void)*(const volatile uint8_t *)(at + sizeof(siginfo_t) - 1);
	copy((uint8_t *)at, at, offsetof(siginfo_t, si_status) + sizeof(int));
}

uint32_t lz_try_waitid(struct attempt *t)
{
	const uint64_t *a = t->args, at = a[2];
	siginfo_t *const info = (siginfo_t *)(t->piece + 2);

	if (at)
		touch_info(at);
	int64_t result =
	    lz_try_call(SYS_waitid, a[0], a[1], (uint64_t)info, a[3] | WNOHANG, a[4], a[5]);
	const bool waits = !result && !info->si_signo && !(a[3] & WNOHANG);
	if (waits)
		result = later(t);
	if (result == -EAGAIN)
		return LZ_STOP;
	/* the kernel says so if it finds no memory there, and has waited for the child */
	set_made(t->p, result < 0 || waits ? result : -EFAULT);
	if (at && !waits && result != -EFAULT)
		copy_info((volatile siginfo_t *)at, info);
	if (at)
		add(t, at, sizeof(*info));
	if (a[4] && result >= 0)
		add(t, a[4], sizeof(struct rusage));
	return lz_finish_with_pieces(t, result);
}
