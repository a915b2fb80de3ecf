/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the program can be dumped. Without the right to look at one that cannot, it is made
 * dumpable again: it only believes that it is not, until it goes on by itself. */
#include "tracer/calls/calls.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

bool lz_answer_dumpable(struct lz_tracer *t, int64_t *result)
{
	const uint64_t *a = t->cur->call.args;

	*result = 0;
	return t->cur->call.nr == SYS_prctl && a[0] == PR_GET_DUMPABLE && t->borrowed.undumpable;
}

static bool may_change(const struct lz_call *c)
{
	switch (c->nr) {
	case SYS_prctl: return c->args[0] == PR_SET_DUMPABLE;
	case SYS_setuid:
	case SYS_setgid:
	case SYS_setreuid:
	case SYS_setregid:
	case SYS_setresuid:
	case SYS_setresgid:
	case SYS_setfsuid:
	case SYS_setfsgid:
	case SYS_capset: return true;
	}
	return false;
}

static bool may_look(const struct lz_tracer *t)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)t->p.pid);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int lz_stay_dumpable(struct lz_tracer *t, int64_t result)
{
	int64_t now, ret;

	if (!may_change(&t->cur->call) || result < 0)
		return 0;
	if (lz_proc_syscall(&t->p, &now, SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0, 0) < 0)
		return -1;
	if (t->cur->call.nr == SYS_prctl)
		t->borrowed.undumpable = false;
	if (now == 1 || may_look(t))
		return 0;
	t->borrowed.undumpable = true;
	return lz_proc_syscall(&t->p, &ret, SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0, 0);
}

int lz_set_undumpable(struct lz_tracer *t, struct lz_proc *c)
{
	int64_t ret;

	if (!t->borrowed.undumpable)
		return 0;
	return lz_proc_syscall(c, &ret, SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0);
}
