/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading and writing through descriptors. */
#include "calls.h"

#include <linux/falloc.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

RECIPE(read)
{
	int fd = file("f", "0123456789");
	char *b = out(64);

	SEE(OK(read, fd, b, 64) == 10);
	SEE(!memcmp(b, "0123456789\xa5", 11));
	SEE(OK(read, fd, b, 64) == 0);
	FAILS(EBADF, read, -1, b, 1);
}

RECIPE(write)
{
	int fd = file("f", "");
	char b[4] = {0};

	SEE(OK(write, fd, "abc", 3) == 3);
	SEE(pread(fd, b, 4, 0) == 3 && !strcmp(b, "abc"));
}

RECIPE(pread64)
{
	int fd = file("f", "0123456789");
	char *b = out(8);

	SEE(OK(pread64, fd, b, 4, 3) == 4);
	SEE(!memcmp(b, "3456\xa5", 5) && lseek(fd, 0, SEEK_CUR) == 0);
}

RECIPE(pwrite64)
{
	int fd = file("f", "0123456789");
	char b[11] = {0};

	SEE(OK(pwrite64, fd, "xy", 2, 4) == 2);
	SEE(pread(fd, b, 10, 0) == 10 && !strcmp(b, "0123xy6789"));
}

/* Two pieces, the second of which is filled in part. */
static void two(struct iovec io[3], char **a, char **b)
{
	*a = out(4);
	*b = out(20);
	io[0] = (struct iovec){*a, 4};
	io[1] = (struct iovec){NULL, 0};
	io[2] = (struct iovec){*b, 20};
}

RECIPE(readv)
{
	int fd = file("f", "0123456789");
	struct iovec io[3];
	char *a, *b;

	two(io, &a, &b);
	SEE(OK(readv, fd, io, 3) == 10);
	SEE(OK(readv, fd, io, 3) == 0 && lseek(fd, 0, SEEK_SET) == 0);
	SEE(OK(readv, fd, io, 3) == 10);
	SEE(!memcmp(a, "0123", 4) && !memcmp(b, "456789\xa5", 7));
}

RECIPE(preadv)
{
	int fd = file("f", "0123456789");
	struct iovec io[3];
	char *a, *b;

	two(io, &a, &b);
	SEE(OK(preadv, fd, io, 3, 2, 0) == 8);
	SEE(!memcmp(a, "2345", 4) && !memcmp(b, "6789\xa5", 5));
}

RECIPE(preadv2)
{
	int fd = file("f", "0123456789");
	struct iovec io[3];
	char *a, *b;

	two(io, &a, &b);
	lseek(fd, 5, SEEK_SET);
	SEE(OK(preadv2, fd, io, 3, -1, -1, 0) == 5);
	SEE(!memcmp(a, "5678", 4) && !memcmp(b, "9\xa5", 2));
}

static struct iovec words[2] = {{"abc", 3}, {"defg", 4}};

RECIPE(writev)
{
	int fd = file("f", "");
	char b[8] = {0};

	SEE(OK(writev, fd, words, 2) == 7);
	SEE(pread(fd, b, 8, 0) == 7 && !strcmp(b, "abcdefg"));
	SEE(OK(writev, fd, words, 2) == 7);
	SEE(pread(fd, b, 8, 7) == 7 && !strcmp(b, "abcdefg"));
}

RECIPE(pwritev)
{
	int fd = file("f", "0123456789");
	char b[11] = {0};

	SEE(OK(pwritev, fd, words, 2, 1, 0) == 7);
	SEE(pread(fd, b, 10, 0) == 10 && !strcmp(b, "0abcdefg89"));
}

RECIPE(pwritev2)
{
	int fd = file("f", "0123456789");
	char b[20] = {0};

	lseek(fd, 0, SEEK_END);
	SEE(OK(pwritev2, fd, words, 2, -1, -1, 0) == 7);
	SEE(pread(fd, b, 20, 0) == 17 && !strcmp(b, "0123456789abcdefg"));
}

RECIPE(lseek)
{
	int fd = file("f", "0123456789");
	char b;

	SEE(OK(lseek, fd, -3, SEEK_END) == 7);
	SEE(read(fd, &b, 1) == 1 && b == '7');
}

RECIPE(dup)
{
	int fd = file("f", "abc"), other = OK(dup, fd);
	char b;

	SEE(other > fd && read(other, &b, 1) == 1 && lseek(fd, 0, SEEK_CUR) == 1);
}

RECIPE(dup2)
{
	SEE(OK(dup2, file("f", "abc"), 99) == 99);
	SEE(lseek(99, 0, SEEK_END) == 3);
}

RECIPE(dup3)
{
	SEE(OK(dup3, file("f", "abc"), 99, O_CLOEXEC) == 99);
	SEE(fcntl(99, F_GETFD) == FD_CLOEXEC);
	FAILS(EINVAL, dup3, 99, 99, 0);
}

RECIPE(close)
{
	int fd = file("f", "abc");

	SEE(OK(close, fd) == 0);
	SEE(lseek(fd, 0, SEEK_CUR) < 0 && errno == EBADF);
}

RECIPE(close_range)
{
	int fd = file("f", "abc");

	dup2(fd, 50), dup2(fd, 51), dup2(fd, 53);
	SEE(OK(close_range, 50, 52, 0) == 0);
	SEE(fcntl(50, F_GETFD) < 0 && fcntl(51, F_GETFD) < 0 && fcntl(53, F_GETFD) == 0);
}

RECIPE(fcntl)
{
	int fd = file("f", "abc"), other, p[2];
	struct flock want = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 2}, *l;
	int *owner;

	SEE(OK(fcntl, fd, F_DUPFD_CLOEXEC, 80) == 80);
	SEE(OK(fcntl, fd, F_GETFL) & O_RDWR);
	other = open("f", O_RDWR);
	SEE(OK(fcntl, other, F_OFD_SETLK, &want) == 0);
	l = inout(&want, sizeof(want));
	SEE(OK(fcntl, fd, F_OFD_GETLK, l) == 0);
	SEE(l->l_type == F_WRLCK && l->l_pid == -1);
	l = inout(&want, sizeof(want));
	SEE(OK(fcntl, fd, F_GETLK, l) == 0 && l->l_pid == -1);
	pair(p);
	SEE(OK(fcntl, p[0], F_SETOWN, getpid()) == 0);
	owner = out(8);
	SEE(OK(fcntl, p[0], F_GETOWN_EX, owner) == 0 && owner[1] == getpid());
	SEE(OK(fcntl, p[0], F_GETPIPE_SZ) >= 4096);
	SEE(OK(fcntl, fd, F_GET_RW_HINT, out(8)) == 0);
	SEE(OK(fcntl, fd, 17 /* F_GETOWNER_UIDS */, out(8)) == 0);
}

RECIPE(flock)
{
	int fd = file("f", ""), other = open("f", O_RDWR);

	SEE(OK(flock, fd, LOCK_EX) == 0);
	FAILS(EWOULDBLOCK, flock, other, LOCK_EX | LOCK_NB);
}

RECIPE(fsync)
{
	SEE(OK(fsync, file("f", "abc")) == 0);
}

RECIPE(fdatasync)
{
	SEE(OK(fdatasync, file("f", "abc")) == 0);
}

RECIPE(sync)
{
	SEE(OK(sync) == 0);
}

RECIPE(syncfs)
{
	SEE(OK(syncfs, file("f", "abc")) == 0);
}

RECIPE(sync_file_range)
{
	SEE(OK(sync_file_range, file("f", "abc"), 0, 3, 7) == 0);
}

static long size_of(int fd)
{
	return lseek(fd, 0, SEEK_END);
}

RECIPE(truncate)
{
	int fd = file("f", "0123456789");

	SEE(OK(truncate, "f", 4) == 0);
	SEE(size_of(fd) == 4);
}

RECIPE(ftruncate)
{
	int fd = file("f", "0123456789");

	SEE(OK(ftruncate, fd, 9000) == 0);
	SEE(size_of(fd) == 9000);
}

RECIPE(fallocate)
{
	int fd = file("f", "0123456789");
	char b[2];

	SEE(OK(fallocate, fd, 0, 0, 5000) == 0);
	SEE(size_of(fd) == 5000);
	if (SYS(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1, 2) == 0)
		SEE(pread(fd, b, 2, 1) == 2 && all_zero(b, 2));
}

RECIPE(fadvise64)
{
	SEE(OK(fadvise64, file("f", "abc"), 0, 0, POSIX_FADV_WILLNEED) == 0);
}

RECIPE(readahead)
{
	SEE(OK(readahead, file("f", "abc"), 0, 3) == 0);
}

RECIPE(pipe)
{
	int *p = out(8);
	char b = 0;

	SEE(OK(pipe, p) == 0);
	SEE(write(p[1], "x", 1) == 1 && read(p[0], &b, 1) == 1 && b == 'x');
}

RECIPE(pipe2)
{
	int *p = out(8);

	SEE(OK(pipe2, p, O_CLOEXEC | O_NONBLOCK) == 0);
	SEE(fcntl(p[0], F_GETFD) == FD_CLOEXEC && fcntl(p[1], F_GETFL) & O_NONBLOCK);
}

RECIPE(sendfile)
{
	int fd = file("f", "0123456789"), p[2];
	long *at = inout(&(long){2}, 8);
	char b[8] = {0};

	pair(p);
	SEE(OK(sendfile, p[1], fd, at, 5) == 5);
	SEE(*at == 7 && read(p[0], b, 8) == 5 && !strcmp(b, "23456"));
	/* that cannot wait */
	const int other = file("g", "");
	SEE(OK(sendfile, other, fd, NULL, 4) == 4);
	SEE(OK(sendfile, other, fd, at, 100) == 3 && *at == 10);
	SEE(OK(sendfile, other, fd, at, 100) == 0);
	SEE(pread(other, b, 8, 0) == 7 && !memcmp(b, "0123789", 7));
	FAILS(EBADF, sendfile, other, 99, at, 1);
	SEE(fcntl(p[1], F_SETFL, O_NONBLOCK) == 0);
	*at = 1;
	SEE(OK(sendfile, p[1], fd, at, 2) == 2 && *at == 3 && read(p[0], b, 8) == 2);
	while (write(p[1], b, 8) > 0)
		;
	FAILS(EAGAIN, sendfile, p[1], fd, at, 2);
	FAILS(EFAULT, sendfile, p[1], fd, 8, 2);
}

RECIPE(copy_file_range)
{
	int from = file("f", "0123456789"), to = file("g", "");
	long *in = inout(&(long){2}, 8), *at = inout(&(long){1}, 8);
	char b[8] = {0};

	SEE(OK(copy_file_range, from, in, to, at, 4, 0) == 4);
	SEE(*in == 6 && *at == 5 && pread(to, b, 8, 1) == 4 && !strcmp(b, "2345"));
}

RECIPE(splice)
{
	int fd = file("f", "0123456789"), p[2];
	long *in = inout(&(long){2}, 8), *at = inout(&(long){12}, 8);
	char b[8] = {0};

	pair(p);
	SEE(OK(splice, fd, in, p[1], NULL, 4, 0) == 4);
	SEE(OK(splice, p[0], NULL, fd, at, 4, 0) == 4);
	SEE(*in == 6 && *at == 16 && pread(fd, b, 8, 12) == 4 && !strcmp(b, "2345"));
}

RECIPE(tee)
{
	int p[2], q[2];
	char a[4] = {0}, b[4] = {0};

	pair(p), pair(q);
	SEE(write(p[1], "abc", 3) == 3);
	SEE(OK(tee, p[0], q[1], 3, 0) == 3);
	SEE(read(p[0], a, 3) == 3 && read(q[0], b, 3) == 3 && !strcmp(a, "abc") &&
	    !strcmp(b, "abc"));
}

RECIPE(vmsplice)
{
	int p[2];
	struct iovec from = {"abcdef", 6}, to = {out(16), 16};

	pair(p);
	SEE(OK(vmsplice, p[1], &from, 1, 0) == 6);
	SEE(OK(vmsplice, p[0], &to, 1, 0) == 6);
	SEE(!memcmp(to.iov_base, "abcdef\xa5", 7));
}

RECIPE(memfd_create)
{
	int fd = OK(memfd_create, "name", MFD_ALLOW_SEALING);

	SEE(ftruncate(fd, 100) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
	SEE(ftruncate(fd, 10) < 0 && errno == EPERM);
	REFUSES(EINVAL, memfd_create, "huge", MFD_HUGETLB);
}

RECIPE(getrandom)
{
	char *b = out(777);

	SEE(OK(getrandom, b, 777, 0) == 777);
	SEE(!all_zero(b, 777));
}

RECIPE(cachestat)
{
	int fd = file("f", "0123456789");
	uint64_t range[2] = {0, 0}, *c = out(40);

	SEE(OK(cachestat, fd, range, c, 0) == 0);
	SEE(c[0] == 1);
}

RECIPE(kcmp)
{
	int fd = file("f", ""), other = dup(fd);

	SEE(OK(kcmp, getpid(), getpid(), 0 /* KCMP_FILE */, fd, other) == 0);
	SEE(OK(kcmp, getpid(), getpid(), 0, fd, 1) > 0);
}
