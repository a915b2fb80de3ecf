/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A second name for a recording. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <common/base/cleanup.h>
#include <common/base/dir.h>
#include <common/base/filecopy.h>
#include <common/recording/recdir.h>
#include <common/base/sparse.h>
#include <common/base/tree.h>
#include <lizard/error.h>
#include <lizard/recording.h>

static int copy_contents(int from_dir, int to_dir, const char *name, struct lz_work *work)
{
	lz_auto_close int from = openat(from_dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	uint64_t size;
	uint32_t crc;
	struct stat st;

	if (from < 0 || fstat(from, &st) < 0)
		return lz_fail_errno("%s", name);
	size = (uint64_t)st.st_size;
	return lz_copy_file(from, &size, &crc, to_dir, name, work);
}

/* A recording's files never change, so a link is as good as a copy. Points do. */
static int link_or_copy(int from_dir, int to_dir, const char *name, struct lz_work *work)
{
	if (strcmp(name, LZ_POINTS_FILE) == 0)
		return copy_contents(from_dir, to_dir, name, work);
	if (linkat(from_dir, name, to_dir, name, 0) == 0)
		return lz_work_done(work, 0);
	if (errno != EXDEV && errno != EPERM && errno != EMLINK)
		return lz_fail_errno("%s", name);
	return copy_contents(from_dir, to_dir, name, work);
}

/* All plain files of the directory NAME; those that a link leads to are somebody else's. */
static int copy_files(int from, int to, const char *name, struct lz_work *work)
{
	lz_auto_close int to_dir =
	    openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = to_dir < 0 ? NULL : lz_open_dir(from, name);
	int rc = d ? 0 : lz_fail_errno("cannot open the directory");
	struct dirent *e;

	while (rc == 0 && (e = readdir(d))) {
		struct stat st;

		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			rc = link_or_copy(dirfd(d), to_dir, e->d_name, work);
	}
	if (d)
		closedir(d);
	return rc;
}

/* What copying reads and writes, if nothing can be linked. */
static uint64_t cost(int dir, const char *name)
{
	DIR *d = lz_open_dir(dir, name);
	uint64_t sum = 0;
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d)))
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			sum += 2 * lz_file_stored(&st);
	if (d)
		closedir(d);
	return sum;
}

static int copy_all(int from, int to, struct lz_work *work)
{
	if (copy_files(from, to, "files", work) < 0)
		return -1;
	return copy_files(from, to, ".", work);
}

int lz_recording_copy(const char *dir, const char *to)
{
	struct lz_work work;
	int rc = -1;

	if (lz_recording_busy(dir))
		return lz_fail("%s is still being recorded", dir);
	if (lz_recdir_make(to) < 0)
		return -1;
	lz_auto_close int from_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	lz_auto_close int to_fd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	lz_work_begin(&work, "copying the recording", cost(from_fd, "files") + cost(from_fd, "."));
	if (from_fd < 0 || to_fd < 0 || mkdirat(to_fd, "files", 0700) < 0)
		lz_fail_errno("%s", from_fd < 0 ? dir : to);
	else
		rc = copy_all(from_fd, to_fd, &work);
	if (rc < 0) {
		lz_fail_in("copying %s to %s", dir, to);
		lz_undo_tree(to);
	}
	lz_work_end(&work);
	return rc;
}
