/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a system call has done to files and memory that are mapped: written, cut, extended,
 * removed, passed on. */
#include "tracer/calls/calls.h"
#include "tracer/calls/written_range.h"
#include "tracer/code/code.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/turns/shared_memory_lock.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum { MADV_REMOVE_ = 9 };

static const struct lz_call *call_of(const struct lz_tracer *t)
{
	return &t->cur->call;
}

/* A call that may have made a new descriptor, or closed one. */
static void forget_fds(struct lz_tracer *t, int64_t result)
{
	struct lz_shared *s = t->shared;
	const struct lz_call *c = call_of(t);

	switch (c->nr) {
	case SYS_read:
	case SYS_pread64:
	case SYS_lseek: return;
	case SYS_close:
		if (c->args[0] < LZ_FDS)
			s->fd[c->args[0]] = LZ_FD_UNKNOWN;
		return;
	case SYS_close_range:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_pipe:
	case SYS_pipe2:
	case SYS_socketpair: memset(s->fd, LZ_FD_UNKNOWN, sizeof(s->fd)); return;
	}
	if (result >= 0 && result < LZ_FDS)
		s->fd[result] = LZ_FD_UNKNOWN;
}

static bool is_write(uint64_t nr)
{
	return nr == SYS_write || nr == SYS_writev || nr == SYS_pwrite64 || nr == SYS_pwritev;
}

/* truncate() names its file. */
static uint32_t truncated(struct lz_tracer *t, struct stat *st)
{
	char path[4096 + 64], name[4096];

	if (call_of(t)->nr != SYS_truncate)
		return 0;
	size_t n = lz_proc_read_some(&t->p, call_of(t)->args[0], name, sizeof(name) - 1);
	name[n] = 0;
	snprintf(path, sizeof(path), "/proc/%d/%s%s", (int)t->p.pid, *name == '/' ? "root" : "cwd/",
	         name);
	return stat(path, st) == 0 ? lz_object_of(t, st->st_dev, st->st_ino, false) : 0;
}

static int after_remove(struct lz_tracer *t, uint32_t *changed)
{
	const struct lz_call *c = call_of(t);
	ptrdiff_t i = lz_vmas_find(&t->vmas, c->args[0]);

	if (i < 0)
		return 0;
	struct lz_area a = t->vmas.a[i];
	uint64_t at = a.object_at + (c->args[0] - a.v.start);
	*changed = a.object;
	if (a.object)
		return lz_shared_log_object(t, a.object, (struct lz_written){at, at + c->args[1]});
	return lz_shared_log(t, lz_page_down(c->args[0]), lz_page_up(c->args[0] + c->args[1]));
}

/* *CHANGED: the object that the call has written to. */
static int after_write(struct lz_tracer *t, int64_t result, uint32_t *changed)
{
	const struct lz_call *c = call_of(t);
	struct stat st;
	int fd = lz_changed_fd(c, result);
	uint32_t object = result >= 0 ? truncated(t, &st) : 0;

	if (c->nr == SYS_madvise && c->args[2] == MADV_REMOVE_ && result == 0)
		return after_remove(t, changed);
	if (fd < 0 || !is_write(c->nr))
		forget_fds(t, result);
	if (fd >= 0 && result >= 0)
		object = lz_object_of_fd(t, fd, &st);
	*changed = object;
	if (!object)
		return 0;
	lz_clock_file_written(t, object);
	uint64_t had = lz_object(t, object)->size;
	if (lz_shared_resize(t, object, (uint64_t)st.st_size) < 0)
		return -1;
	/* With O_APPEND whatever is written comes there. */
	if (lz_shared_log_object(t, object, (struct lz_written){had, (uint64_t)st.st_size}) < 0)
		return -1;
	return fd < 0 ? 0
	              : lz_shared_log_object(t, object, lz_written_range(t, fd, (uint64_t)result));
}

/* A descriptor that is sent away may be mapped elsewhere. Nothing is noted of a call that sends none. */
static void pass_on(struct lz_tracer *t, int64_t result)
{
	const struct lz_vectors *v = &t->cur->vectors;
	const uint64_t nr = call_of(t)->nr;

	if (result < 0 || (nr != SYS_sendmsg && nr != SYS_sendmmsg))
		return;
	for (uint32_t i = 0; i < v->n_messages; i++)
		if (v->message[i].control_len) {
			lz_share_with_others(t);
			return;
		}
}

/* The last time, where nobody could store any more before it began. */
static int compare(struct lz_tracer *t)
{
	const bool over = lz_unwatch_due(t);

	if (lz_shared_sync(t) < 0)
		return -1;
	if (over)
		lz_unwatch(t);
	return 0;
}

int lz_shared_call(struct lz_tracer *t, int64_t result)
{
	uint32_t changed = 0;

	if (!t->shared)
		return 0;
	if (lz_shared_lock_enter(t) < 0)
		return -1;
	pass_on(t, result);
	if (after_write(t, result, &changed) < 0 || lz_outside_call(t, changed) < 0)
		return -1;
	return lz_shared_by_others(t) ? compare(t) : 0;
}
