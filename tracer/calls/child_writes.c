/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of a call that makes a child. */
#include "tracer/calls/calls.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/turns/turns.h"

#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>

int lz_child_writes(struct lz_tracer *t)
{
	struct lz_page_set *s = &t->child_set;
	uint64_t flags = t->cur->call.nr == SYS_clone ? t->cur->call.args[0] : 0;

	lz_thread_born_as(t, t->b.ev.result);
	if ((flags & (CLONE_PARENT_SETTID | CLONE_PIDFD)) &&
	    lz_build_read(t, t->cur->call.args[2], 4) < 0)
		return -1;
	if (flags & CLONE_THREAD && flags & CLONE_CHILD_SETTID &&
	    lz_build_read(t, t->cur->call.args[3], 4) < 0)
		return -1;
	if (lz_child_maps_log(t) < 0 || lz_child_code_log(t) < 0)
		return -1;
	for (size_t i = 0; i < s->n; i++)
		if (lz_vmas_find(&t->vmas, s->addr[i]) >= 0 &&
		    lz_build_write(t, s->addr[i], s->now[i], LZ_PAGE) < 0)
			return -1;
	lz_pages_forget(t, s);
	return 0;
}
