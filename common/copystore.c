/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One copy of a file for several recordings: a folder of copies, each named after what tells one
 * version of the file from another, from which they are linked. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/cleanup.h>
#include <common/filecopy.h>
#include <lizard/error.h>

static void key_of(const struct stat *st, char key[96])
{
	snprintf(key, 96, "%llx-%llx-%llx-%llx.%09lx", (unsigned long long)st->st_dev,
	         (unsigned long long)st->st_ino, (unsigned long long)st->st_size,
	         (unsigned long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

int lz_copy_from_store(int store, int fd, uint64_t *size, uint32_t *crc, int dirfd,
                       const char *name)
{
	struct stat st;
	char key[96];

	if (store < 0 || fstat(fd, &st) < 0)
		return lz_copy_file(fd, size, crc, dirfd, name, NULL);
	key_of(&st, key);
	if (linkat(store, key, dirfd, name, 0) == 0) {
		lz_auto_close int copy = openat(dirfd, name, O_RDONLY | O_CLOEXEC);

		if (copy < 0 || fstat(copy, &st) < 0)
			return lz_fail_errno("cannot open the copy files/%s", name);
		*size = (uint64_t)st.st_size;
		return lz_file_crc(copy, crc, NULL);
	}
	if (lz_copy_file(fd, size, crc, dirfd, name, NULL) < 0)
		return -1;
	/* If somebody was faster, or there are no links here, it remains the only one of its
	 * kind. */
	if (linkat(dirfd, name, store, key, 0) < 0 && errno != EEXIST)
		lz_debug("the copy %s is not shared", name);
	return 0;
}
