/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seccomp(2) and its part of prctl(2), with the kernel's checks in the kernel's order. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/calls/filter.h"
#include "tracer/code/code.h"
#include "tracer/filters/bpf.h"
#include "tracer/filters/filters.h"
#include "tracer/state/state.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Newer than Debian 12's headers. */
enum { TSYNC_ESRCH = 1 << 4, WAIT_KILLABLE_RECV = 1 << 5 };
/* MAX_INSNS_PER_PATH */
enum { MOST_OF_ALL = (1 << 18) / sizeof(struct sock_filter) };

/* Has the thread given up its privileges, or the right to filter what they could do? */
static bool may_filter(const struct lz_thread *th)
{
	uint64_t effective = 0;
	char path[64], line[256];
	int none = 0;

	snprintf(path, sizeof(path), "/proc/%u/status", th->tid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "CapEff: %" SCNx64, &effective);
		sscanf(line, "NoNewPrivs: %d", &none);
	}
	if (f)
		fclose(f);
	return none || th->no_new_privs || effective >> CAP_SYS_ADMIN & 1;
}

/* NULL: *ERROR. */
static struct lz_filter *read_filter(struct lz_tracer *t, uint64_t at, int64_t *error)
{
	struct {
		uint16_t n;
		uint64_t code;
	} p;

	*error = -EFAULT;
	if (lz_proc_read_some(&t->p, at, &p, sizeof(p)) != sizeof(p))
		return NULL;
	*error = -EINVAL;
	if (!p.n || p.n > LZ_BPF_MOST)
		return NULL;
	*error = -EACCES;
	if (!may_filter(t->cur))
		return NULL;
	*error = -ENOMEM;
	struct lz_filter *f = lz_filter_new(p.n);
	if (!f)
		return NULL;
	const size_t len = p.n * sizeof(f->code[0]);
	*error = lz_proc_read_some(&t->p, p.code, f->code, len) == len ? -EINVAL : -EFAULT;
	if (*error == -EINVAL && lz_bpf_valid(f->code, p.n))
		return f;
	lz_filter_drop(f);
	return NULL;
}

/* A thread that cannot have what the current one has; NULL: none. */
static const struct lz_thread *cannot_follow(const struct lz_tracer *t)
{
	for (size_t i = 0; i < t->n_threads; i++) {
		const struct lz_thread *th = t->thread[i];

		if (!th->ended && (th->strict || !lz_filter_has(t->cur->filter, th->filter)))
			return th;
	}
	return NULL;
}

static void give_to_all(struct lz_tracer *t)
{
	for (size_t i = 0; i < t->n_threads; i++) {
		struct lz_thread *th = t->thread[i];

		if (th == t->cur || th->ended)
			continue;
		lz_filter_drop(th->filter);
		th->filter = lz_filter_keep(t->cur->filter);
		th->no_new_privs = true;
	}
}

static int64_t attach(struct lz_tracer *t, struct lz_filter *f, uint32_t flags)
{
	const bool all = flags & SECCOMP_FILTER_FLAG_TSYNC;
	const struct lz_thread *other = all ? cannot_follow(t) : NULL;

	if (t->cur->strict)
		return -EINVAL;
	if (lz_filter_size(t->cur->filter) + lz_filter_size(f) > MOST_OF_ALL)
		return -ENOMEM;
	if (other)
		return flags & TSYNC_ESRCH ? -ESRCH : (int64_t)other->own_tid;
	f->before = t->cur->filter;
	t->cur->filter = lz_filter_keep(f);
	if (all)
		give_to_all(t);
	lz_fast_filter(t);
	return 0;
}

static int64_t set_filter(struct lz_tracer *t, uint32_t flags, uint64_t at, bool by_prctl)
{
	const uint32_t known = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG |
	                       SECCOMP_FILTER_FLAG_SPEC_ALLOW | TSYNC_ESRCH;
	const uint32_t listens = SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE_RECV;
	int64_t ret;

	/* libseccomp asks for each flag without a filter */
	if (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER && !(flags & ~(known | listens)) && at)
		return lz_refused(-EINVAL, "seccomp with a listener");
	if (flags & ~known)
		return -EINVAL;
	struct lz_filter *f = read_filter(t, at, &ret);
	if (!f)
		return ret;
	f->flags = flags & ~(uint32_t)(SECCOMP_FILTER_FLAG_TSYNC | TSYNC_ESRCH);
	f->by_prctl = by_prctl;
	ret = attach(t, f, flags);
	lz_filter_drop(f);
	return ret;
}

static int64_t set_strict(struct lz_tracer *t)
{
	if (t->cur->filter)
		return -EINVAL;
	t->cur->strict = true;
	t->cur->tsc_mode = PR_TSC_SIGSEGV; /* mode 1 takes it away */
	lz_detours_end_counters(t);
	lz_fast_filter(t);
	return 0;
}

static int64_t action_avail(struct lz_tracer *t, uint32_t flags, uint64_t at)
{
	uint32_t action;

	if (flags)
		return -EINVAL;
	if (lz_proc_read_some(&t->p, at, &action, sizeof(action)) != sizeof(action))
		return -EFAULT;
	switch (action) {
	case SECCOMP_RET_KILL_PROCESS:
	case SECCOMP_RET_KILL_THREAD:
	case SECCOMP_RET_TRAP:
	case SECCOMP_RET_ERRNO:
	case SECCOMP_RET_TRACE:
	case SECCOMP_RET_LOG:
	case SECCOMP_RET_ALLOW: return 0;
	}
	return -EOPNOTSUPP;
}

static int64_t answer_seccomp(struct lz_tracer *t)
{
	const uint64_t *a = t->cur->call.args;
	const uint32_t flags = (uint32_t)a[1];

	switch ((uint32_t)a[0]) {
	case SECCOMP_SET_MODE_STRICT: return flags || a[2] ? -EINVAL : set_strict(t);
	case SECCOMP_SET_MODE_FILTER: return set_filter(t, flags, a[2], false);
	case SECCOMP_GET_ACTION_AVAIL: return action_avail(t, flags, a[2]);
	}
	return -EINVAL;
}

static bool answer_prctl(struct lz_tracer *t, int64_t *result)
{
	const uint64_t *a = t->cur->call.args;

	switch (a[0]) {
	case PR_GET_SECCOMP: *result = lz_filter_mode(t->cur); return true;
	case PR_SET_SECCOMP:
		*result = -EINVAL;
		if (a[1] == SECCOMP_MODE_STRICT)
			*result = set_strict(t);
		else if (a[1] == SECCOMP_MODE_FILTER)
			*result = set_filter(t, 0, a[2], true);
		return true;
	case PR_GET_NO_NEW_PRIVS:
		*result = 1;
		return t->cur->no_new_privs && !a[1] && !a[2] && !a[3] && !a[4];
	}
	return false;
}

bool lz_filter_answer(struct lz_tracer *t, int64_t *result)
{
	if (t->cur->call.nr == SYS_prctl)
		return answer_prctl(t, result);
	if (t->cur->call.nr != SYS_seccomp)
		return false;
	*result = answer_seccomp(t);
	return true;
}
