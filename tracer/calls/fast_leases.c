/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leases on files that the program reads much of: while one is held, nobody can open the file for
 * writing or cut it. So the log says from where a read was, and the recording keeps the bytes once.
 * Whoever wants to write waits in the kernel, which tells the tracer by LZ_WAKE: docs/design/calls.md. */
#include "tracer/calls/fast.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of a descriptor, in reads that are large enough: less is not worth a lease. Each lease that others
 * want makes the next ones dearer. */
enum { WORTH = 256 << 10, MOST_BROKEN = 6, NEVER = UINT32_MAX };

/* How long a call of the stub's is waited for. */
enum { PAUSE_US = 50, MOST_US = 100000 };

volatile sig_atomic_t lz_lease_wanted;

struct lz_lease *lz_lease_find(struct lz_tracer *t, uint64_t id)
{
	for (uint32_t i = 0; i < t->fast.leases.n; i++)
		if (t->fast.leases.a[i].id == id)
			return &t->fast.leases.a[i];
	return NULL;
}

void lz_leases_note(struct lz_tracer *t, uint64_t nr, const uint64_t *args, int64_t result)
{
	struct lz_leases *l = &t->fast.leases;

	if (nr == SYS_close && args[0] < LZ_FAST_FDS)
		l->given[args[0]] = 0;
	if (!lz_may_be_leased(nr) || result < LZ_LEASED_LEAST || args[0] >= LZ_FAST_FDS)
		return;
	uint32_t *given = &l->given[args[0]];
	if (*given == NEVER || !t->fast.page || t->fast.page->leased[args[0]])
		return;
	*given += *given < NEVER / 2 ? (uint32_t)result : 0;
	l->wanted |= *given >= (uint32_t)WORTH << l->n_broken;
}

/* ---- taking one ---- */

/* The kernel's answer to the lease is of no use before it can wake us. */
static bool take(int fd)
{
	const struct f_owner_ex me = {F_OWNER_TID, gettid()};

	return fcntl(fd, F_SETSIG, LZ_WAKE) == 0 && fcntl(fd, F_SETOWN_EX, &me) == 0 &&
	       fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
}

static uint32_t find_file(const struct lz_leases *l, const struct stat *st)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->a[i].dev == st->st_dev && l->a[i].ino == st->st_ino)
			return l->a[i].id;
	return 0;
}

static void dearer(struct lz_leases *l)
{
	l->n_broken += l->n_broken < MOST_BROKEN;
}

/* Takes FD over. 0: it cannot be had. */
static uint32_t add(struct lz_leases *l, int fd, const struct stat *st, bool *later)
{
	struct lz_kept_file *kept = lz_leases_prove(fd) ? lz_kept_file_new(fd) : NULL;

	if (!kept || !take(fd)) {
		*later = kept && errno == EAGAIN;
		lz_kept_file_free(kept);
		close(fd);
		return 0;
	}
	l->a[l->n++] = (struct lz_lease){++l->last_id, fd, st->st_dev, st->st_ino, kept, 0};
	return l->last_id;
}

/* 0: it cannot be had; *LATER: but when nobody has the file open for writing any more. */
static uint32_t lease_for(struct lz_tracer *t, int fd, bool *later)
{
	struct lz_leases *l = &t->fast.leases;
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)t->p.pid, fd);
	if (!(t->fast.page->fd[fd] & LZ_FD_READ) || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	const uint32_t known = find_file(l, &st);
	if (known || l->n == LZ_LEASES)
		return known;
	const int own = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return own < 0 ? 0 : add(l, own, &st, later);
}

/* Is a descriptor being closed? */
static bool closes_any(const struct lz_tracer *t)
{
	for (size_t i = 0; i < t->n_threads; i++) {
		const struct lz_call *c = &t->thread[i]->call;

		if ((c->inside || c->suspended || c->stepped) &&
		    (c->nr == SYS_close || c->nr == SYS_dup2 || c->nr == SYS_dup3 ||
		     c->nr == SYS_close_range))
			return true;
	}
	return false;
}

static void take_wanted(struct lz_tracer *t)
{
	struct lz_leases *l = &t->fast.leases;

	if (!l->wanted || t->fast.no_fds || t->fast.leased || t->fast.page->busy || closes_any(t))
		return;
	l->wanted = false;
	for (int fd = 0; fd < LZ_FAST_FDS; fd++) {
		uint32_t *given = &l->given[fd];

		if (*given == NEVER || *given < (uint32_t)WORTH << l->n_broken)
			continue;
		bool later = false;
		t->fast.page->leased[fd] = lease_for(t, fd, &later);
		*given = t->fast.page->leased[fd] || later ? 0 : NEVER;
		if (later)
			dearer(l);
	}
	t->fast.page->leases = l->n;
}

/* ---- giving one back ---- */

/* A file that was closed is often opened again. */
static bool is_done_with(const struct lz_tracer *t, struct lz_lease *l)
{
	static const uint64_t long_ns = 1000000000;
	const uint64_t now = lz_now();

	for (int fd = 0; fd < LZ_FAST_FDS; fd++)
		if (t->fast.page->leased[fd] == l->id) {
			l->unused_since = 0;
			return false;
		}
	if (!l->unused_since)
		l->unused_since = now;
	return now - l->unused_since >= long_ns;
}

static bool is_wanted_by_others(const struct lz_lease *l)
{
	return fcntl(l->fd, F_GETLEASE) != F_RDLCK;
}

/* False: a read of the stub's is under way, as before that. It takes milliseconds if it is a long one,
 * and more on a slow disk. A thread that stands does not end it. */
static bool stop_reads(struct lz_tracer *t, uint32_t id)
{
	const int tries = t->cur->running ? MOST_US / PAUSE_US : 1;

	for (int fd = 0; fd < LZ_FAST_FDS; fd++)
		if (t->fast.page->leased[fd] == id)
			__atomic_store_n(&t->fast.page->leased[fd], 0, __ATOMIC_SEQ_CST);
	for (int i = 0; i < tries; i++) {
		if (!__atomic_load_n(&t->fast.page->refers, __ATOMIC_SEQ_CST))
			return true;
		usleep(PAUSE_US);
	}
	return false;
}

static void forget(struct lz_leases *l, uint32_t i)
{
	lz_kept_file_free(l->a[i].kept);
	close(l->a[i].fd);
	l->a[i] = l->a[--l->n];
}

/* Of those that others wait for, which the kernel shows as if they were given back. The device there
 * may be another one than stat() tells, as on Btrfs. */
static bool is_listed(const struct lz_lease *l)
{
	FILE *f = fopen("/proc/locks", "re");
	char line[256];
	uint64_t ino;
	int pid;
	bool found = !f;

	while (!found && fgets(line, sizeof(line), f))
		found =
		    sscanf(line, "%*d: LEASE BREAKING %*s %d %*x:%*x:%" SCNu64, &pid, &ino) == 2 &&
		    pid == getpid() && ino == l->ino;
	if (f)
		fclose(f);
	return found;
}

bool lz_lease_is_held(const struct lz_lease *l)
{
	return !is_wanted_by_others(l) || is_listed(l);
}

int lz_lease_lost(void)
{
	return lz_fail("somebody has opened a file for writing that the program reads, and "
	               "the recorder has not answered in time "
	               "(/proc/sys/fs/lease-break-time): what was read is not known");
}

/* That it is ours to give back tells that it was ours all the time. */
static int give_back(struct lz_tracer *t, uint32_t i)
{
	struct lz_leases *l = &t->fast.leases;
	const bool held = fcntl(l->a[i].fd, F_SETLEASE, F_UNLCK) == 0;

	forget(l, i);
	t->fast.page->leases = l->n;
	return held ? 0 : lz_lease_lost();
}

/* 1: not now. All that refers to the file becomes events first. */
static int let_go(struct lz_tracer *t, uint32_t i)
{
	if (!stop_reads(t, t->fast.leases.a[i].id))
		return 1;
	lz_stream_offset(t);
	return lz_fast_drain(t) < 0 ? -1 : give_back(t, i);
}

/* False: the stub makes a call, as before that. Behind a wait before a call it sees that it may not. */
static bool stop_calls(struct lz_tracer *t)
{
	struct lz_call_page *page = t->fast.page;
	const int tries = t->cur->running ? MOST_US / PAUSE_US : 1;

	if (!page)
		return true;
	__atomic_store_n(&page->go, 0, __ATOMIC_SEQ_CST);
	for (int i = 0; i < tries; i++) {
		if (!__atomic_load_n(&page->busy, __ATOMIC_SEQ_CST) ||
		    __atomic_load_n(&page->waits, __ATOMIC_SEQ_CST) == LZ_WAITS_BEFORE)
			return true;
		usleep(PAUSE_US);
	}
	return false;
}

/* Of what is mapped: from the next call on there are stops. A call that is under way could tell the
 * program that somebody has stored there. */
static void look_at_guards(struct lz_tracer *t)
{
	if (!lz_guards_wanted(t))
		return;
	if (stop_calls(t))
		lz_guards_give(t);
	else /* at the next stop, or tick */
		lz_lease_wanted = 1;
}

int lz_leases_look(struct lz_tracer *t)
{
	struct lz_leases *l = &t->fast.leases;

	lz_lease_wanted = 0;
	look_at_guards(t);
	for (uint32_t i = l->n; t->fast.page && i-- > 0;) {
		const bool wanted = is_wanted_by_others(&l->a[i]);

		if (!wanted && !is_done_with(t, &l->a[i]) && !lz_kept_file_full(l->a[i].kept))
			continue;
		if (wanted)
			dearer(l);
		const int later = let_go(t, i);
		if (later < 0)
			return -1;
		if (later) /* at the next stop, or tick */
			lz_lease_wanted = 1;
	}
	return 0;
}

/* ---- calls that would notice ---- */

/* It would not wait for a lease, or would fail because the file is open here. A child that shares memory
 * may wait for one while nobody looks, until it has called execve. */
static bool would_notice(const struct lz_call *c)
{
	switch (c->nr) {
	case SYS_fork:
	case SYS_vfork:
	case SYS_clone3: return true;
	case SYS_clone: return !(c->args[0] & CLONE_THREAD);
	case SYS_open: return lz_opens_in_spite_of_lease(c->args[1]);
	case SYS_openat: return lz_opens_in_spite_of_lease(c->args[2]);
	case SYS_openat2:
	case SYS_open_by_handle_at:
	case SYS_umount2:
	case SYS_mount: return true;
	case SYS_fcntl: return c->args[1] == F_SETLEASE;
	}
	return false;
}

/* Is one of these under way? */
static bool any_notices(const struct lz_tracer *t)
{
	for (size_t i = 0; i < t->n_threads; i++) {
		const struct lz_call *c = &t->thread[i]->call;

		if ((c->inside || c->suspended || c->stepped) && would_notice(c))
			return true;
	}
	return false;
}

/* ---- when ---- */

int lz_leases_at_stop(struct lz_tracer *t)
{
	if (lz_lease_wanted && lz_leases_look(t) < 0)
		return -1;
	if (!t->fast.page)
		return 0;
	take_wanted(t);
	if (t->has_children && t->n_shared && !t->fast.leased && !t->fast.page->busy &&
	    !any_notices(t))
		t->fast.page->guards = lz_guards_take(t);
	return 0;
}

int lz_leases_end(struct lz_tracer *t)
{
	int ret = 0;

	lz_guards_end(t);
	/* the program is not in the stub any more */
	while (t->fast.leases.n)
		if (give_back(t, t->fast.leases.n - 1) < 0)
			ret = -1;
	if (t->fast.page) {
		memset(t->fast.page->leased, 0, sizeof(t->fast.page->leased));
		t->fast.page->guards = 0;
	}
	return ret;
}

void lz_leases_drop(struct lz_tracer *t)
{
	lz_guards_end(t);
	while (t->fast.leases.n)
		forget(&t->fast.leases, t->fast.leases.n - 1);
}

int lz_leases_before(struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;

	return would_notice(c) ? lz_leases_end(t) : 0;
}
