/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/base/dir.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

DIR *lz_open_dir(int at, const char *name)
{
	int links = at == AT_FDCWD ? 0 : O_NOFOLLOW;
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | links);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int why = errno;

	if (!d && fd >= 0)
		close(fd);
	errno = why;
	return d;
}
