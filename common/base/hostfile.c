/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/base/hostfile.h>
#include <lizard/error.h>

int lz_open_regular(const char *path)
{
	int fd, at = open(path, O_PATH | O_CLOEXEC);
	char name[40];
	struct stat st;

	if (at < 0)
		return lz_fail_errno("cannot open %s", path);
	if (fstat(at, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(at);
		return lz_fail("%s is no regular file", path);
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", at);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		lz_fail_errno("cannot open %s", path);
	close(at);
	return fd;
}

bool lz_is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}
