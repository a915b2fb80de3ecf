/* Files: statx, extended attributes, random bytes, files without a name, holes, locks of the open file, vectors with flags, links,
 * directories as descriptors, memory as a file; and calls that a program has to do without. */
#include "selfcheck.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

static int dir;

static void attributes(int fd)
{
	char got[64] = "", list[256];
	struct statx x;

	CHECK(statx(fd, "", AT_EMPTY_PATH, STATX_ALL, &x) == 0 && x.stx_size == 5 && S_ISREG(x.stx_mode));
	CHECK(statx(dir, "file", AT_SYMLINK_NOFOLLOW, STATX_INO, &x) == 0 && x.stx_mask & STATX_INO);
	if (fsetxattr(fd, "user.lizard", "value", 5, XATTR_CREATE) < 0) {
		CHECK(errno == EOPNOTSUPP || errno == EPERM || errno == ENOTSUP);
		return;
	}
	CHECK(fgetxattr(fd, "user.lizard", got, sizeof(got)) == 5 && !strcmp(got, "value"));
	CHECK(flistxattr(fd, list, sizeof(list)) >= 12 && fgetxattr(fd, "user.lizard", NULL, 0) == 5);
	CHECK(fremovexattr(fd, "user.lizard") == 0 && fgetxattr(fd, "user.lizard", got, 64) == -1 && errno == ENODATA);
}

static void contents(int fd)
{
	struct iovec in[2], out[2] = {{"01234", 5}, {"56789", 5}};
	char a[4], b[8];

	in[0] = (struct iovec){a, 4};
	in[1] = (struct iovec){b, 6};
	CHECK(pwritev2(fd, out, 2, 0, RWF_DSYNC) == 10 && preadv2(fd, in, 2, 0, 0) == 10 && !memcmp(b, "456789", 6));
	CHECK(fallocate(fd, 0, 0, 20000) == 0 || errno == EOPNOTSUPP);
	CHECK(ftruncate(fd, 100000) == 0 && lseek(fd, 0, SEEK_END) == 100000);
	CHECK(pwrite(fd, "end", 3, 99997) == 3 && lseek(fd, 30000, SEEK_HOLE) >= 30000);
	CHECK(pread(fd, b, 3, 99997) == 3 && !memcmp(b, "end", 3) && sync_file_range(fd, 0, 10, 0) == 0);
	CHECK(posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED) == 0 && fdatasync(fd) == 0 && ftruncate(fd, 5) == 0);
}

static void names(void)
{
	struct dirent *e;
	int n = 0, fd = openat(dir, ".", O_TMPFILE | O_RDWR, 0600);
	char to[16] = "";

	if (fd >= 0) {
		char path[64];
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		CHECK(write(fd, "tmp", 3) == 3 && linkat(AT_FDCWD, path, dir, "named", AT_SYMLINK_FOLLOW) == 0);
		CHECK(unlinkat(dir, "named", 0) == 0 && close(fd) == 0);
	}
	CHECK(linkat(dir, "file", dir, "second", 0) == 0 && symlinkat("file", dir, "link") == 0);
	CHECK(readlinkat(dir, "link", to, sizeof(to)) == 4 && !strcmp(to, "file") && mkdirat(dir, "sub", 0700) == 0);
	CHECK(renameat2(dir, "second", dir, "file", RENAME_NOREPLACE) == -1 && errno == EEXIST);
	CHECK(renameat2(dir, "sub", dir, "link", RENAME_EXCHANGE) == 0 && faccessat(dir, "file", R_OK, 0) == 0);
	DIR *d = fdopendir(dup(dir));
	while ((e = readdir(d)))
		n++;
	CHECK(n == 6 && closedir(d) == 0);
	CHECK(unlinkat(dir, "sub", 0) == 0 && unlinkat(dir, "link", AT_REMOVEDIR) == 0 && unlinkat(dir, "second", 0) == 0);
}

static void locks_and_memory(int fd)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1}, probe = l;
	int second = openat(dir, "file", O_RDWR), memory = memfd_create("lizard", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fcntl(fd, F_OFD_SETLK, &l) == 0 && fcntl(second, F_OFD_GETLK, &probe) == 0 && probe.l_type == F_WRLCK);
	CHECK(fcntl(second, F_OFD_SETLK, &l) == -1 && (errno == EAGAIN || errno == EACCES) && close(second) == 0);
	CHECK(ftruncate(memory, 4096) == 0 && fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL) == 0);
	CHECK(write(memory, "x", 1) == -1 && errno == EPERM && fcntl(memory, F_GET_SEALS) == (F_SEAL_WRITE | F_SEAL_SEAL));
}

int main(void)
{
	char name[] = "/tmp/lizard-files-XXXXXX";
	unsigned char random[300] = {0};
	int sum = 0;

	CHECK(mkdtemp(name) && (dir = open(name, O_DIRECTORY | O_PATH)) >= 0 && close(dir) == 0);
	CHECK((dir = open(name, O_DIRECTORY | O_RDONLY | O_CLOEXEC)) >= 0);
	int fd = openat(dir, "file", O_CREAT | O_EXCL | O_RDWR, 0600);
	CHECK(fd >= 0 && write(fd, "12345", 5) == 5);
	attributes(fd);
	contents(fd);
	names();
	locks_and_memory(fd);
	CHECK(unlinkat(dir, "file", 0) == 0 && rmdir(name) == 0);
	CHECK(getrandom(random, sizeof(random), 0) == sizeof(random) && getentropy(random, 16) == 0);
	for (size_t i = 0; i < sizeof(random); i++)
		sum += random[i];
	CHECK(sum > 0);
	/* rings of requests: it has to go on without them */
	char params[128] = {0};
	long ring = syscall(SYS_io_uring_setup, 4, params);
	CHECK(ring >= 0 || errno == ENOSYS || errno == EPERM);
	DONE();
}
