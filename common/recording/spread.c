/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <common/base/cleanup.h>
#include <common/recording/recdir.h>

/* As chattr +T. Other file systems may mean something else by it. */
static void spread(const char *dir)
{
	lz_auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs fs;
	int flags = 0;

	if (fd < 0 || fstatfs(fd, &fs) < 0 || fs.f_type != EXT4_SUPER_MAGIC ||
	    ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return;
	flags |= FS_TOPDIR_FL;
	ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

int lz_make_spread(const char *dir)
{
	int ret = mkdir(dir, 0700);

	if (ret == 0)
		spread(dir);
	return ret;
}
