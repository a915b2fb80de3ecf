/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of file systems, by name. */
#include "tracer/state/state.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define XFS_MAGIC 0x58465342
#define F2FS_MAGIC 0xf2f52010
#define ZFS_MAGIC 0x2fc12fc1

/* LOCAL: reads and writes wait for no process and no other machine. LEASES: the kernel grants one for
 * reading only where nobody can store to the file. An overlay does not know who has mapped the file
 * below: who has mapped it and closed it since has nothing open in the overlay. It only knows who has
 * it OPEN. */
enum leases { NO_LEASES, OPEN, LEASES };
static const struct kind {
	uint32_t magic;
	bool local;
	enum leases leases;
} kinds[] = {
    {EXT4_SUPER_MAGIC, true, LEASES},  {XFS_MAGIC, true, LEASES},
    {BTRFS_SUPER_MAGIC, true, LEASES}, {F2FS_MAGIC, true, LEASES},
    {TMPFS_MAGIC, true, LEASES},       {RAMFS_MAGIC, true, LEASES},
    {MSDOS_SUPER_MAGIC, true, LEASES}, {SQUASHFS_MAGIC, true, LEASES},
    {ISOFS_SUPER_MAGIC, true, LEASES}, {OVERLAYFS_SUPER_MAGIC, true, OPEN},
    {ZFS_MAGIC, true, NO_LEASES},
};

/* A memfd and the like are open for writing without the kernel's counting them, which grants a lease
 * all the same. They have no name; who has deleted a file of a tmpfs is taken for one, too. */
static bool is_uncounted(int fd, const struct statfs *s)
{
	struct stat st;

	return (s->f_type == TMPFS_MAGIC || s->f_type == RAMFS_MAGIC) &&
	       (fstat(fd, &st) < 0 || st.st_nlink == 0);
}

static struct kind kind_of(const struct statfs *s)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].magic == (uint32_t)s->f_type)
			return kinds[i];
	return (struct kind){0};
}

bool lz_is_local(const char *path)
{
	struct statfs s;

	return statfs(path, &s) == 0 && kind_of(&s).local;
}

static enum leases leases_of(int fd)
{
	struct statfs s;

	return fstatfs(fd, &s) < 0 || is_uncounted(fd, &s) ? NO_LEASES : kind_of(&s).leases;
}

bool lz_leases_prove(int fd)
{
	return leases_of(fd) == LEASES;
}

bool lz_leases_show_open(int fd)
{
	return leases_of(fd) != NO_LEASES;
}
