/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "restorer/share.h"

#include <lizard/error.h>
#include <lizard/restore.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>

enum { NS_PER_US = 1000, NS_PER_S = 1000000000 };

static struct timeval timeval(uint64_t ns)
{
	return (struct timeval){.tv_sec = (time_t)(ns / NS_PER_S),
	                        .tv_usec = (suseconds_t)(ns % NS_PER_S / NS_PER_US)};
}

int lz_stub_alarm(struct lz_proc *p, uint64_t ns)
{
	const uint64_t at = p->syscall_insn + LZ_STUB_CODE_ROOM;
	struct itimerval t = {timeval(ns), timeval(ns)};
	int64_t result;

	if (lz_proc_write_own(p, at, &t, sizeof t) < 0 ||
	    lz_proc_syscall(p, &result, SYS_setitimer, ITIMER_REAL, at, 0, 0, 0, 0) < 0)
		return -1;
	return result
	           ? lz_fail("the replay process cannot set an alarm: %s", strerror((int)-result))
	           : 0;
}
