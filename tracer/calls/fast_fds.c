/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of the program's descriptors nobody is waited for at: those of files on a disk or in
 * memory, of directories, of /dev/null and its kin. A number becomes that of something else only
 * when it is closed. */
#include "tracer/calls/fast.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>

static bool is_null_device(const struct stat *st)
{
	enum { MEM = 1, NUL = 3, ZERO = 5, FULL = 7 };
	unsigned minor_ = minor(st->st_rdev);

	return S_ISCHR(st->st_mode) && major(st->st_rdev) == MEM &&
	       (minor_ == NUL || minor_ == ZERO || minor_ == FULL);
}

static void add_local(struct lz_call_page *page, dev_t dev)
{
	for (int i = 0; i < LZ_LOCAL_DISKS; i++) {
		if (!page->local[i])
			page->local[i] = dev;
		if (page->local[i] == dev)
			return;
	}
}

/* The link's permissions say for what the descriptor was opened. */
static bool may_write(const char *path)
{
	struct stat link;

	return lstat(path, &link) < 0 || link.st_mode & S_IWUSR;
}

static uint8_t good_for(const struct lz_tracer *t, int fd)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)t->p.pid, fd);
	if (stat(path, &st) < 0)
		return 0;
	if (is_null_device(&st))
		return LZ_FD_READ | LZ_FD_WRITE | LZ_FD_CLOSE;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return lz_fast_kind(t, fd, path, &st);
	if (!lz_is_local(path))
		return LZ_FD_WAITS;
	add_local(t->fast.page, st.st_dev);
	if (S_ISDIR(st.st_mode))
		return LZ_FD_LIST | LZ_FD_CLOSE;
	if (!may_write(path))
		return LZ_FD_READ | LZ_FD_CLOSE;
	/* what is mapped changes by a write, and inotify tells of a close */
	bool mapped = t->shared && lz_object_of(t, st.st_dev, st.st_ino, false);
	return mapped ? LZ_FD_READ : LZ_FD_READ | LZ_FD_WRITE | LZ_FD_CLOSE;
}

static void forget_all(struct lz_tracer *t)
{
	memset(t->fast.page->fd, 0, sizeof(t->fast.page->fd));
	memset(t->fast.page->alone, 0, sizeof(t->fast.page->alone));
	memset(t->fast.page->leased, 0, sizeof(t->fast.page->leased));
}

void lz_fast_fds_mapped(struct lz_tracer *t)
{
	for (int i = 0; i < LZ_FAST_FDS; i++)
		if (t->fast.page->fd[i] & LZ_FD_WRITE)
			t->fast.page->fd[i] &= (uint8_t) ~(LZ_FD_WRITE | LZ_FD_CLOSE);
}

/* The descriptor that the call has used or made; -1: none that is worth knowing. */
static int64_t fd_of(const struct lz_call *c, int64_t result)
{
	switch (c->nr) {
	case SYS_read:
	case SYS_pread64:
	case SYS_readv:
	case SYS_preadv:
	case SYS_preadv2:
	case SYS_write:
	case SYS_pwrite64:
	case SYS_writev:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendfile:
	case SYS_getdents64: return result >= 0 || result == -EAGAIN ? (int64_t)c->args[0] : -1;
	/* as what it gives is as the listening one */
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect: return (int64_t)c->args[0];
	case SYS_open:
	case SYS_openat:
	case SYS_creat:
	case SYS_dup:
	case SYS_dup2:
	case SYS_dup3:
	case SYS_socket:
	case SYS_eventfd2:
	case SYS_timerfd_create: return result;
	}
	return -1;
}

static void look_at(struct lz_tracer *t, int64_t fd)
{
	uint8_t *known = fd >= 0 && fd < LZ_FAST_FDS ? &t->fast.page->fd[fd] : NULL;

	if (known && !t->fast.no_fds && !(*known & (LZ_FD_WAITS | LZ_FD_KIND)))
		*known = good_for(t, (int)fd);
}

/* Those that it has stored at AT. */
static void look_at_pair(struct lz_tracer *t, uint64_t at)
{
	int fd[2];

	if (lz_proc_read_some(&t->p, at, fd, sizeof(fd)) != sizeof(fd))
		return;
	look_at(t, fd[0]);
	look_at(t, fd[1]);
}

void lz_fast_fds_after(struct lz_tracer *t, int64_t result)
{
	const struct lz_call *c = &t->cur->call;

	if (c->nr == SYS_mmap && !(c->args[3] & MAP_ANONYMOUS))
		lz_fast_fds_mapped(t);
	look_at(t, fd_of(c, result));
	lz_leases_note(t, c->nr, c->args, result);
	if (c->nr == SYS_sendfile && result >= 0)
		look_at(t, (int64_t)c->args[1]);
	if (result == 0 && (c->nr == SYS_pipe || c->nr == SYS_pipe2))
		look_at_pair(t, c->args[0]);
	if (result == 0 && c->nr == SYS_socketpair)
		look_at_pair(t, c->args[3]);
}

void lz_fast_fds_begin(struct lz_tracer *t)
{
	static const char *const places[] = {"exe", "cwd"};
	char path[64];
	struct stat st;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)t->p.pid, places[i]);
		if (stat(path, &st) == 0 && lz_is_local(path))
			add_local(t->fast.page, st.st_dev);
	}
}

void lz_fast_fds_resume(struct lz_tracer *t)
{
	const struct lz_shared *s = t->shared;
	struct lz_call_page *page = t->fast.page;

	for (uint64_t nr = 0; (t->fast.no_fds || t->fast.leased) && nr < LZ_FAST_CALLS; nr++)
		if (lz_makes_fds(page->call[nr].rule))
			page->call[nr].may = 0;
	if (!s || s->n_objects + s->n_shared == t->fast.n_mapped)
		return;
	for (uint32_t i = 1; i < s->n_objects; i++) {
		uint8_t *how = &page->mapped[lz_mapped_slot(s->object[i].dev, s->object[i].ino)];
		const uint8_t is = s->object[i].shared ? LZ_MAPPED_SHARED : LZ_MAPPED_PRIVATE;

		if (*how < is)
			*how = is;
	}
	t->fast.n_mapped = s->n_objects + s->n_shared;
}

/* A child has the descriptors in common with the program, or one of its threads has others. */
static bool parts_ways(const struct lz_call *c)
{
	switch (c->nr) {
	case SYS_clone: return !(c->args[0] & CLONE_FILES) == !!(c->args[0] & CLONE_THREAD);
	case SYS_unshare: return c->args[0] & CLONE_FILES;
	case SYS_close_range: return c->args[2] & CLOSE_RANGE_UNSHARE;
	default: return false;
	}
}

void lz_fast_fds_part(struct lz_tracer *t)
{
	if (!parts_ways(&t->cur->call))
		return;
	t->fast.no_fds = true;
	if (t->fast.page)
		forget_all(t);
}

void lz_fast_fds_before(struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;

	switch (c->nr) {
	case SYS_close:
		if (c->args[0] < LZ_FAST_FDS)
			t->fast.page->fd[c->args[0]] = 0;
		return;
	case SYS_dup2:
	case SYS_dup3:
		if (c->args[1] < LZ_FAST_FDS)
			t->fast.page->fd[c->args[1]] = 0;
		return;
	case SYS_close_range: forget_all(t); break;
	/* it waits for more than what has come */
	case SYS_setsockopt:
		if ((int)c->args[1] == SOL_SOCKET && (int)c->args[2] == SO_RCVLOWAT)
			t->fast.page->tries = 0;
		return;
	}
}
