/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descriptors whose position is the program's alone: it has opened the file itself, and no other
 * process has had the chance to get a copy. The stub notes those that it opens. */
#include "tracer/calls/fast.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>

static uint8_t *alone(struct lz_tracer *t)
{
	return t->fast.page ? t->fast.page->alone : t->fast.alone;
}

static void set(struct lz_tracer *t, uint64_t fd, uint8_t is_alone)
{
	if (fd >= LZ_FAST_FDS)
		return;
	alone(t)[fd] = is_alone;
	if (t->fast.page)
		t->fast.page->leased[fd] = 0;
}

/* A child has copies, and a message can have. */
static bool gives_copies(const struct lz_call *c)
{
	switch (c->nr) {
	case SYS_fork:
	case SYS_vfork:
	case SYS_clone3:
	case SYS_sendmsg:
	case SYS_sendmmsg: return true;
	case SYS_clone: return !(c->args[0] & CLONE_THREAD);
	}
	return false;
}

void lz_positions_before(struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;

	switch (c->nr) {
	case SYS_close: set(t, c->args[0], 0); return;
	case SYS_dup2:
	case SYS_dup3:
		/* itself: nothing is closed */
		if (c->args[0] != c->args[1])
			set(t, c->args[1], 0);
		return;
	case SYS_close_range:
	case SYS_unshare:
		for (uint64_t fd = 0; fd < LZ_FAST_FDS; fd++)
			set(t, fd, 0);
		return;
	}
	if (gives_copies(c))
		memset(alone(t), 0, LZ_FAST_FDS);
}

void lz_positions_after(struct lz_tracer *t, int64_t result)
{
	const struct lz_call *c = &t->cur->call;

	if (result < 0 || t->fast.no_fds)
		return;
	switch (c->nr) {
	case SYS_open:
	case SYS_openat:
	case SYS_openat2:
	case SYS_creat: set(t, (uint64_t)result, 1); return;
	case SYS_dup:
	case SYS_dup2:
	case SYS_dup3:
		if ((uint64_t)result != c->args[0])
			set(t, (uint64_t)result, c->args[0] < LZ_FAST_FDS && alone(t)[c->args[0]]);
		return;
	case SYS_fcntl:
		if (c->args[1] == F_DUPFD || c->args[1] == F_DUPFD_CLOEXEC)
			set(t, (uint64_t)result, c->args[0] < LZ_FAST_FDS && alone(t)[c->args[0]]);
		return;
	}
}
