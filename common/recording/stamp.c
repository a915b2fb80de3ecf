/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <common/base/tree.h>
#include <common/recording/flowsum.h>
#include <common/recording/parts.h>
#include <common/recording/stamp.h>
#include <lizard/error.h>

struct seen {
	char name[LZ_PART_NAME];
	uint64_t device, file, mode, size;
	int64_t changed[2], written[2];
};

/* In whichever order they come. */
static int add(int dirfd, const char *name, void *arg)
{
	struct seen seen;
	struct stat st;
	uint64_t *sum = arg;

	if (strcmp(name, "meta") != 0 && !lz_part_is_file(name))
		return 0;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return lz_fail_errno("cannot look at %s", name);
	memset(&seen, 0, sizeof(seen));
	snprintf(seen.name, sizeof(seen.name), "%s", name);
	seen.device = st.st_dev;
	seen.file = st.st_ino;
	seen.mode = st.st_mode;
	seen.size = (uint64_t)st.st_size;
	seen.changed[0] = st.st_ctim.tv_sec;
	seen.changed[1] = st.st_ctim.tv_nsec;
	seen.written[0] = st.st_mtim.tv_sec;
	seen.written[1] = st.st_mtim.tv_nsec;
	*sum += lz_flow_sum_of((const uint8_t *)&seen, sizeof(seen));
	return 0;
}

int lz_recording_stamp(int dirfd, uint64_t *stamp)
{
	*stamp = 0;
	return lz_each_entry(dirfd, ".", add, stamp) < 0 ? -1 : 0;
}
