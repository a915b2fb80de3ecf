/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of the program's descriptors nobody is waited for at: those of files on a disk or in
 * memory, of directories, of /dev/null and its kin. A number becomes that of something else only
 * when it is closed. */
#include "tracer/calls/fast.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

enum { XFS_MAGIC = 0x58465342, F2FS_MAGIC = (int)0xf2f52010, ZFS_MAGIC = 0x2fc12fc1 };

/* Others answer from a process or from another machine. */
static bool is_local(const char *path)
{
	struct statfs s;

	if (statfs(path, &s) < 0)
		return false;
	switch ((uint32_t)s.f_type) {
	case EXT4_SUPER_MAGIC:
	case TMPFS_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case RAMFS_MAGIC:
	case SQUASHFS_MAGIC:
	case ISOFS_SUPER_MAGIC:
	case MSDOS_SUPER_MAGIC:
	case XFS_MAGIC:
	case (uint32_t)F2FS_MAGIC:
	case ZFS_MAGIC: return true;
	}
	return false;
}

static bool is_null_device(const struct stat *st)
{
	enum { MEM = 1, NUL = 3, ZERO = 5, FULL = 7 };
	unsigned minor_ = minor(st->st_rdev);

	return S_ISCHR(st->st_mode) && major(st->st_rdev) == MEM &&
	       (minor_ == NUL || minor_ == ZERO || minor_ == FULL);
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
	if ((!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) || !is_local(path))
		return 0;
	if (S_ISDIR(st.st_mode))
		return LZ_FD_LIST | LZ_FD_CLOSE;
	/* what is mapped changes by a write, and inotify tells of a close */
	bool mapped = t->shared && lz_object_of(t, st.st_dev, st.st_ino, false);
	return mapped ? LZ_FD_READ : LZ_FD_READ | LZ_FD_WRITE | LZ_FD_CLOSE;
}

static void forget(struct lz_tracer *t, uint8_t what)
{
	for (int i = 0; i < LZ_FAST_FDS; i++)
		t->fast.page->fd[i] &= (uint8_t)~what;
}

/* The descriptor that the call has used or made; -1: none that is worth knowing. */
static int fd_of(const struct lz_call *c, int64_t result)
{
	switch (c->nr) {
	case SYS_read:
	case SYS_pread64:
	case SYS_write:
	case SYS_pwrite64:
	case SYS_getdents64: return result >= 0 && c->args[0] < LZ_FAST_FDS ? (int)c->args[0] : -1;
	case SYS_open:
	case SYS_openat:
	case SYS_creat: return result >= 0 && result < LZ_FAST_FDS ? (int)result : -1;
	}
	return -1;
}

void lz_fast_fds_after(struct lz_tracer *t, int64_t result)
{
	const struct lz_call *c = &t->cur->call;
	int fd = fd_of(c, result);

	if (c->nr == SYS_mmap && !(c->args[3] & MAP_ANONYMOUS))
		forget(t, LZ_FD_WRITE | LZ_FD_CLOSE);
	if (fd >= 0 && !t->fast.no_fds)
		t->fast.page->fd[fd] = good_for(t, fd);
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
	case SYS_close_range: forget(t, 0xff); return;
	case SYS_clone:
		if (c->args[0] & CLONE_FILES && !(c->args[0] & CLONE_THREAD)) {
			t->fast.no_fds = true;
			forget(t, 0xff);
		}
		return;
	}
}
