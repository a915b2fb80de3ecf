/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the program can be dumped: without the right to it, we could not look at one that
 * cannot. It only believes that it is one, until it goes on by itself. */
#include "tracer/calls/calls.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

bool lz_answer_dumpable(struct lz_tracer *t, int64_t *result)
{
	const uint64_t *a = t->cur->call.args;

	if (t->cur->call.nr != SYS_prctl || (a[0] != PR_SET_DUMPABLE && a[0] != PR_GET_DUMPABLE) ||
	    (a[0] == PR_SET_DUMPABLE && a[1] > 1))
		return false;
	if (a[0] == PR_SET_DUMPABLE)
		t->borrowed.undumpable = !a[1];
	*result = 0;
	return a[0] == PR_SET_DUMPABLE || t->borrowed.undumpable;
}

static bool changes_user(uint64_t nr)
{
	switch (nr) {
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

int lz_stay_dumpable(struct lz_tracer *t, int64_t result)
{
	int64_t now, ret;

	if (!changes_user(t->cur->call.nr) || result < 0)
		return 0;
	if (lz_proc_syscall(&t->p, &now, SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0, 0) < 0)
		return -1;
	if (now == 1)
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
