/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names, directories, attributes. */
#include "calls.h"

#include <dirent.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

static bool there(const char *name)
{
	return access(name, F_OK) == 0;
}

static struct stat state(const char *name)
{
	struct stat st = {0};

	SEE(lstat(name, &st) == 0);
	return st;
}

/* A new directory has two entries. */
static bool lists_none(int fd)
{
	char b[1024];

	return make_call(SYS_getdents64, (long[6]){fd, (long)b, sizeof(b)}, __LINE__, 0) == 48 &&
	       close(fd) == 0;
}

RECIPE(open)
{
	int fd = OK(open, "f", O_RDWR | O_CREAT, 0640);

	SEE(write(fd, "abc", 3) == 3 && state("f").st_size == 3);
	SEE(OK(open, "f", O_RDWR | O_TRUNC) > fd);
	SEE(state("f").st_size == 0);
	FAILS(ENOENT, open, "none", O_RDONLY);
	SEE(mkdir("d", 0700) == 0 && lists_none(OK(open, "d", O_RDONLY | O_DIRECTORY)));
	FAILS(ENOTDIR, open, "f", O_RDONLY | O_DIRECTORY);
	FAILS(EISDIR, open, "d", O_RDWR);
	SEE(lists_none(OK(open, "d", O_RDONLY)));
	SEE(symlink("f", "l") == 0 && write(OK(open, "l", O_WRONLY), "12", 2) == 2);
	FAILS(ELOOP, open, "l", O_WRONLY | O_NOFOLLOW);
	FAILS(EEXIST, open, "l", O_RDWR | O_CREAT | O_EXCL, 0600);
	SEE(write(OK(open, "/dev/null", O_WRONLY), "12", 2) == 2);
	SEE(state("f").st_size == 2 && OK(open, ".", 020200000 | O_RDWR /* O_TMPFILE */, 0600) > 0);
	SEE(unlink("l") == 0 && symlink("made", "l") == 0);
	SEE(OK(open, "l", O_RDWR | O_CREAT, 0600) > 0 && there("made"));
}

RECIPE(openat)
{
	SEE(OK(openat, AT_FDCWD, "f", O_RDWR | O_CREAT, 0600) >= 0);
	SEE(there("f"));
	SEE(mkdir("d", 0700) == 0 && lists_none(OK(openat, AT_FDCWD, "d", O_RDONLY | O_DIRECTORY)));
	FAILS(ENOTDIR, openat, AT_FDCWD, "f", O_RDONLY | O_DIRECTORY);
	int d = open("d", O_RDONLY | O_DIRECTORY);
	SEE(write(OK(openat, d, "in", O_WRONLY | O_CREAT | O_EXCL, 0600), "abc", 3) == 3);
	SEE(lseek(OK(openat, d, "in", O_RDONLY), 0, SEEK_END) == 3);
	FAILS(ENOENT, openat, d, "f", O_RDONLY);
	FAILS(EBADF, openat, 99, "f", O_RDONLY);
	FAILS(EFAULT, openat, d, 8, O_RDONLY);
	SEE(OK(openat, AT_FDCWD, "/proc/self/status", O_RDONLY) > 0);
}

RECIPE(openat2)
{
	struct open_how how = {.flags = O_RDWR | O_CREAT, .mode = 0600, .resolve = RESOLVE_BENEATH};

	SEE(OK(openat2, AT_FDCWD, "f", &how, sizeof(how)) >= 0);
	SEE(there("f"));
	FAILS(EXDEV, openat2, AT_FDCWD, "/etc", &how, sizeof(how));
}

RECIPE(creat)
{
	SEE(OK(creat, "f", 0600) >= 0);
	SEE(there("f"));
}

RECIPE(stat)
{
	struct stat *st = out(sizeof(*st));

	file("f", "abc");
	SEE(OK(stat, "f", st) == 0);
	SEE(st->st_size == 3 && S_ISREG(st->st_mode));
}

RECIPE(lstat)
{
	struct stat *st = out(sizeof(*st));

	SEE(symlink("none", "l") == 0);
	SEE(OK(lstat, "l", st) == 0);
	SEE(S_ISLNK(st->st_mode) && st->st_size == 4);
}

RECIPE(fstat)
{
	struct stat *st = out(sizeof(*st));

	SEE(OK(fstat, file("f", "abcd"), st) == 0);
	SEE(st->st_size == 4);
}

RECIPE(newfstatat)
{
	struct stat *st = out(sizeof(*st));

	SEE(OK(newfstatat, file("f", "abcd"), "", st, AT_EMPTY_PATH) == 0);
	SEE(st->st_size == 4);
}

RECIPE(statx)
{
	struct statx *st = out(sizeof(*st));

	file("f", "abc");
	SEE(OK(statx, AT_FDCWD, "f", 0, STATX_BASIC_STATS, st) == 0);
	SEE(st->stx_size == 3);
}

RECIPE(statfs)
{
	struct statfs *s = out(sizeof(*s));

	SEE(OK(statfs, "/proc", s) == 0);
	SEE(s->f_type == 0x9fa0);
}

RECIPE(fstatfs)
{
	struct statfs *s = out(sizeof(*s));

	SEE(OK(fstatfs, file("f", ""), s) == 0);
	SEE(s->f_bsize > 0);
}

RECIPE(ustat)
{
	SEE(OK(ustat, state("/").st_dev, out(32)) == 0);
}

RECIPE(access)
{
	file("f", "");
	SEE(OK(access, "f", R_OK) == 0);
	FAILS(ENOENT, access, "none", R_OK);
}

RECIPE(faccessat)
{
	file("f", "");
	SEE(OK(faccessat, AT_FDCWD, "f", W_OK) == 0);
}

RECIPE(faccessat2)
{
	file("f", "");
	SEE(OK(faccessat2, AT_FDCWD, "f", W_OK, AT_EACCESS) == 0);
}

RECIPE(getdents)
{
	char *b = out(4096);
	int d = open(".", O_RDONLY | O_DIRECTORY);

	file("a-file", "");
	long n = OK(getdents, d, b, 4096);
	SEE(n > 0 && memmem(b, (size_t)n, "a-file", 7));
}

RECIPE(getdents64)
{
	char *b = out(4096);
	int d = open(".", O_RDONLY | O_DIRECTORY);

	file("a-file", "");
	long n = OK(getdents64, d, b, 4096);
	SEE(n > 0 && memmem(b, (size_t)n, "a-file", 7));
	SEE(OK(getdents64, d, b, 4096) == 0);
}

RECIPE(getcwd)
{
	char *b = out(4096);
	long n = OK(getcwd, b, 4096);

	SEE(b[0] == '/' && strlen(b) == (size_t)n - 1);
}

RECIPE(chdir)
{
	mkdir("d", 0700);
	SEE(OK(chdir, "d") == 0);
	SEE(there("../d"));
}

RECIPE(fchdir)
{
	mkdir("d", 0700);
	SEE(OK(fchdir, open("d", O_RDONLY)) == 0);
	SEE(there("../d"));
}

RECIPE(rename)
{
	file("f", "");
	SEE(OK(rename, "f", "g") == 0);
	SEE(there("g") && !there("f"));
}

RECIPE(renameat)
{
	file("f", "");
	SEE(OK(renameat, AT_FDCWD, "f", AT_FDCWD, "g") == 0);
	SEE(there("g") && !there("f"));
}

RECIPE(renameat2)
{
	file("f", "abc"), file("g", "");
	SEE(OK(renameat2, AT_FDCWD, "f", AT_FDCWD, "g", RENAME_EXCHANGE) == 0);
	SEE(state("g").st_size == 3 && state("f").st_size == 0);
}

RECIPE(mkdir)
{
	SEE(OK(mkdir, "d", 0700) == 0);
	SEE(S_ISDIR(state("d").st_mode));
}

RECIPE(mkdirat)
{
	SEE(OK(mkdirat, AT_FDCWD, "d", 0700) == 0);
	SEE(S_ISDIR(state("d").st_mode));
}

RECIPE(rmdir)
{
	mkdir("d", 0700);
	SEE(OK(rmdir, "d") == 0);
	SEE(!there("d"));
}

RECIPE(link)
{
	file("f", "");
	SEE(OK(link, "f", "g") == 0);
	SEE(state("f").st_nlink == 2);
}

RECIPE(linkat)
{
	file("f", "");
	SEE(OK(linkat, AT_FDCWD, "f", AT_FDCWD, "g", 0) == 0);
	SEE(state("g").st_nlink == 2);
}

RECIPE(unlink)
{
	file("f", "");
	SEE(OK(unlink, "f") == 0);
	SEE(!there("f"));
}

RECIPE(unlinkat)
{
	mkdir("d", 0700);
	SEE(OK(unlinkat, AT_FDCWD, "d", AT_REMOVEDIR) == 0);
	SEE(!there("d"));
}

RECIPE(symlink)
{
	SEE(OK(symlink, "there", "l") == 0);
	SEE(S_ISLNK(state("l").st_mode));
}

RECIPE(symlinkat)
{
	SEE(OK(symlinkat, "there", AT_FDCWD, "l") == 0);
	SEE(S_ISLNK(state("l").st_mode));
}

RECIPE(readlink)
{
	char *b = out(64);

	SEE(symlink("there", "l") == 0);
	SEE(OK(readlink, "l", b, 64) == 5);
	SEE(!memcmp(b, "there\xa5", 6));
	SEE(OK(readlink, "l", b, 2) == 2);
}

RECIPE(readlinkat)
{
	char *b = out(64);

	SEE(symlink("there", "l") == 0);
	SEE(OK(readlinkat, AT_FDCWD, "l", b, 64) == 5);
	SEE(!memcmp(b, "there\xa5", 6));
}

RECIPE(chmod)
{
	file("f", "");
	SEE(OK(chmod, "f", 0440) == 0);
	SEE((state("f").st_mode & 07777) == 0440);
}

RECIPE(fchmod)
{
	SEE(OK(fchmod, file("f", ""), 0440) == 0);
	SEE((state("f").st_mode & 07777) == 0440);
}

RECIPE(fchmodat)
{
	file("f", "");
	SEE(OK(fchmodat, AT_FDCWD, "f", 0440) == 0);
	SEE((state("f").st_mode & 07777) == 0440);
}

RECIPE(fchmodat2)
{
	file("f", "");
	SEE(OK(fchmodat2, AT_FDCWD, "f", 0440, AT_SYMLINK_NOFOLLOW) == 0);
	SEE((state("f").st_mode & 07777) == 0440);
}

/* root gives files away, anybody may keep his own. */
static long other(void)
{
	return geteuid() == 0 ? 1234 : (long)geteuid();
}

RECIPE(chown)
{
	file("f", "");
	PRIV(chown, "f", other(), -1);
	SEE(state("f").st_uid == other());
}

RECIPE(fchown)
{
	PRIV(fchown, file("f", ""), other(), -1);
	SEE(state("f").st_uid == other());
}

RECIPE(lchown)
{
	SEE(symlink("none", "l") == 0);
	PRIV(lchown, "l", other(), -1);
	SEE(state("l").st_uid == other());
}

RECIPE(fchownat)
{
	SEE(symlink("none", "l") == 0);
	PRIV(fchownat, AT_FDCWD, "l", other(), -1, AT_SYMLINK_NOFOLLOW);
	SEE(state("l").st_uid == other());
}

RECIPE(umask)
{
	umask(022);
	SEE(OK(umask, 077) == 022);
	SEE(umask(0) == 077);
}

RECIPE(utime)
{
	file("f", "");
	SEE(OK(utime, "f", &((struct utimbuf){1000, 2000})) == 0);
	SEE(state("f").st_atime == 1000 && state("f").st_mtime == 2000);
}

static struct timeval past[2] = {{1000, 5}, {2000, 6}};

RECIPE(utimes)
{
	file("f", "");
	SEE(OK(utimes, "f", past) == 0);
	SEE(state("f").st_mtime == 2000);
}

RECIPE(futimesat)
{
	file("f", "");
	SEE(OK(futimesat, AT_FDCWD, "f", past) == 0);
	SEE(state("f").st_mtime == 2000);
}

RECIPE(utimensat)
{
	struct timespec t[2] = {{1000, 5}, {2000, 6}};

	file("f", "");
	SEE(OK(utimensat, AT_FDCWD, "f", t, 0) == 0);
	SEE(state("f").st_mtim.tv_nsec == 6);
}

RECIPE(mknod)
{
	SEE(OK(mknod, "p", S_IFIFO | 0600, 0) == 0);
	SEE(S_ISFIFO(state("p").st_mode));
}

RECIPE(mknodat)
{
	SEE(OK(mknodat, AT_FDCWD, "p", S_IFIFO | 0600, 0) == 0);
	SEE(S_ISFIFO(state("p").st_mode));
}

/* ---- extended attributes ---- */

static char value[32];

/* A file with one attribute, if the file system has them. */
static int with_xattr(void)
{
	int fd = file("f", "");

	if (fsetxattr(fd, "user.colour", "green", 5, 0) < 0 && errno == EOPNOTSUPP)
		skip("no extended attributes on this file system");
	SEE(fgetxattr(fd, "user.colour", value, sizeof(value)) == 5);
	return fd;
}

static bool has(const char *text)
{
	memset(value, 0, sizeof(value));
	return getxattr("f", "user.colour", value, sizeof(value)) >= 0 && !strcmp(value, text);
}

RECIPE(setxattr)
{
	with_xattr();
	SEE(OK(setxattr, "f", "user.colour", "red", 3, 0) == 0);
	SEE(has("red"));
}

RECIPE(lsetxattr)
{
	with_xattr();
	SEE(OK(lsetxattr, "f", "user.colour", "red", 3, 0) == 0);
	SEE(has("red"));
}

RECIPE(fsetxattr)
{
	SEE(OK(fsetxattr, with_xattr(), "user.colour", "red", 3, 0) == 0);
	SEE(has("red"));
}

struct xattr_args {
	uint64_t value;
	uint32_t size, flags;
};

RECIPE(setxattrat)
{
	struct xattr_args a = {(uintptr_t) "red", 3, 0};

	with_xattr();
	SEE(OK(setxattrat, AT_FDCWD, "f", 0, "user.colour", &a, sizeof(a)) == 0);
	SEE(has("red"));
}

RECIPE(getxattr)
{
	char *b = out(64);

	with_xattr();
	SEE(OK(getxattr, "f", "user.colour", NULL, 0) == 5);
	SEE(OK(getxattr, "f", "user.colour", b, 64) == 5 && !memcmp(b, "green\xa5", 6));
}

RECIPE(lgetxattr)
{
	char *b = out(64);

	with_xattr();
	SEE(OK(lgetxattr, "f", "user.colour", b, 64) == 5 && !memcmp(b, "green\xa5", 6));
}

RECIPE(fgetxattr)
{
	char *b = out(64);

	SEE(OK(fgetxattr, with_xattr(), "user.colour", b, 64) == 5 && !memcmp(b, "green\xa5", 6));
}

RECIPE(getxattrat)
{
	char *b = out(64);
	struct xattr_args a = {(uintptr_t)b, 64, 0};

	with_xattr();
	SEE(OK(getxattrat, AT_FDCWD, "f", 0, "user.colour", &a, sizeof(a)) == 5);
	SEE(!memcmp(b, "green\xa5", 6));
}

static bool lists(const char *b, long n)
{
	return n > 0 && memmem(b, (size_t)n, "user.colour", 12);
}

RECIPE(listxattr)
{
	char *b = out(256);

	with_xattr();
	SEE(lists(b, OK(listxattr, "f", b, 256)));
}

RECIPE(llistxattr)
{
	char *b = out(256);

	with_xattr();
	SEE(lists(b, OK(llistxattr, "f", b, 256)));
}

RECIPE(flistxattr)
{
	char *b = out(256);

	SEE(lists(b, OK(flistxattr, with_xattr(), b, 256)));
}

RECIPE(listxattrat)
{
	char *b = out(256);

	with_xattr();
	SEE(lists(b, OK(listxattrat, AT_FDCWD, "f", 0, b, 256)));
}

RECIPE(removexattr)
{
	with_xattr();
	SEE(OK(removexattr, "f", "user.colour") == 0);
	SEE(!has("green"));
}

RECIPE(lremovexattr)
{
	with_xattr();
	SEE(OK(lremovexattr, "f", "user.colour") == 0);
	SEE(!has("green"));
}

RECIPE(fremovexattr)
{
	SEE(OK(fremovexattr, with_xattr(), "user.colour") == 0);
	SEE(!has("green"));
}

RECIPE(removexattrat)
{
	with_xattr();
	SEE(OK(removexattrat, AT_FDCWD, "f", 0, "user.colour") == 0);
	SEE(!has("green"));
}

RECIPE(file_getattr)
{
	uint32_t *a = out(24);

	file("f", "");
	long r = SYS(file_getattr, AT_FDCWD, "f", a, 24, 0);
	if (r == -EOPNOTSUPP)
		skip("no such attributes on this file system");
	SEE(r == 0 && a[0] != 0xa5a5a5a5);
}

RECIPE(file_setattr)
{
	uint32_t a[6] = {0x80 /* FS_XFLAG_NODUMP */};
	int fd = file("f", "");
	long flags = 0;

	long r = SYS(file_setattr, AT_FDCWD, "f", a, 24, 0);
	if (r == -EOPNOTSUPP)
		skip("no such attributes on this file system");
	SEE(r == 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && flags & FS_NODUMP_FL);
}

/* ---- handles ---- */

struct handle {
	unsigned bytes;
	int type;
	unsigned char handle[128];
};

RECIPE(name_to_handle_at)
{
	struct handle *h = inout(&(struct handle){128}, sizeof(*h)),
	              *small = inout(&(struct handle){0}, sizeof(*h));
	int *mount = out(4);

	file("f", "");
	long r = SYS(name_to_handle_at, AT_FDCWD, "f", h, mount, 0);
	if (r == -EOPNOTSUPP)
		skip("no handles on this file system");
	SEE(r == 0 && h->bytes > 0 && h->bytes < 128);
	FAILS(EOVERFLOW, name_to_handle_at, AT_FDCWD, "f", small, mount, 0);
	SEE(small->bytes == h->bytes);
}

RECIPE(open_by_handle_at)
{
	struct handle h = {128};
	int mount, fd = file("f", "abc");

	if (syscall(SYS_name_to_handle_at, AT_FDCWD, "f", &h, &mount, 0) < 0)
		skip("no handles on this file system");
	int again = PRIV(open_by_handle_at, fd, &h, O_RDONLY);
	SEE(lseek(again, 0, SEEK_END) == 3);
}
