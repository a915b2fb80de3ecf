#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>
#include <elfutils/libdwelf.h>
#include <libelf.h>
#include <zlib.h>
#include <common/filecopy.h>
#include <common/hostfile.h>
#include <lizard/error.h>
#include <lizard/recording.h>

static int write_whole(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int copy_plainly(int from, int to)
{
	static const size_t size = 256 << 10;
	char *buf = malloc(size);
	off_t at = 0;
	ssize_t n = -1;

	while (buf && (n = pread(from, buf, size, at)) > 0) {
		if (write_whole(to, buf, (size_t)n) < 0) {
			n = -1;
			break;
		}
		at += n;
	}
	free(buf);
	return n < 0 ? -1 : 0;
}

/* The kernel's own copy; 1: it can't here, nothing was written. */
static int copy_in_kernel(int from, int to, uint64_t size)
{
	loff_t at = 0;

	while ((uint64_t)at < size) {
		ssize_t n = copy_file_range(from, &at, to, NULL, size - (uint64_t)at, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ENOSPC)
			return -1;
		if (n == 0) /* it has become shorter meanwhile */
			return 0;
		if (n < 0)
			return at == 0 ? 1 : -1;
	}
	return 0;
}

int lz_file_crc(int fd, uint32_t *crc)
{
	static const size_t size = 256 << 10;
	uint8_t *buf = malloc(size);
	off_t at = 0;
	ssize_t n = -1;

	*crc = 0;
	while (buf && (n = pread(fd, buf, size, at)) > 0) {
		*crc = (uint32_t)crc32_z(*crc, buf, (size_t)n);
		at += n;
	}
	free(buf);
	return n < 0 ? lz_fail_errno("cannot read a mapped file") : 0;
}

int lz_copy_file(int fd, uint64_t *size, uint32_t *crc, int dirfd, const char *name)
{
	struct stat st;
	int to = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int rc;

	if (to < 0)
		return lz_fail_errno("cannot create the copy files/%s", name);
	rc = ioctl(to, FICLONE, fd) == 0 ? 0 : copy_in_kernel(fd, to, *size);
	if (rc == 1)
		rc = copy_plainly(fd, to);
	if (rc == 0 && fstat(to, &st) == 0)
		*size = (uint64_t)st.st_size;
	if (rc == 0)
		rc = lz_file_crc(to, crc);
	if (rc < 0) {
		rc = lz_fail_errno("cannot copy a mapped file to files/%s", name);
		unlinkat(dirfd, name, 0);
	}
	close(to);
	return rc;
}

char *lz_build_id_fd(int fd)
{
	const void *bits = NULL;
	ssize_t n = -1;
	char *hex;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		n = dwelf_elf_gnu_build_id(elf, &bits);
	if (n < 0 || n > 64)
		n = 0;
	hex = calloc((size_t)n * 2 + 1, 1);
	for (ssize_t i = 0; hex && i < n; i++) {
		static const char digit[] = "0123456789abcdef";
		unsigned char c = ((const unsigned char *)bits)[i];

		hex[2 * i] = digit[c >> 4];
		hex[2 * i + 1] = digit[c & 15];
	}
	elf_end(elf);
	if (!hex)
		lz_fail("no memory");
	return hex;
}

char *lz_build_id(const char *path)
{
	/* the path may come from a recording */
	int fd = lz_open_regular(path);
	char *hex;

	if (fd < 0)
		return NULL;
	hex = lz_build_id_fd(fd);
	close(fd);
	return hex;
}
