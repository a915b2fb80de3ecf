/* A second name for a recording. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/filecopy.h>
#include <common/recdir.h>
#include <common/sparse.h>
#include <common/tree.h>
#include <lizard/error.h>
#include <lizard/recording.h>

static int copy_contents(int from_dir, int to_dir, const char *name, struct lz_work *work)
{
	int from = openat(from_dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	uint64_t size = 0;
	uint32_t crc;
	struct stat st;
	int rc = -1;

	if (from < 0 || fstat(from, &st) < 0) {
		lz_fail_errno("%s", name);
	} else {
		size = (uint64_t)st.st_size;
		rc = lz_copy_file(from, &size, &crc, to_dir, name, work);
	}
	if (from >= 0)
		close(from);
	return rc;
}

/* A recording's files never change, so a link is as good as a copy. */
static int link_or_copy(int from_dir, int to_dir, const char *name, struct lz_work *work)
{
	if (linkat(from_dir, name, to_dir, name, 0) == 0)
		return lz_work_done(work, 0);
	if (errno != EXDEV && errno != EPERM && errno != EMLINK)
		return lz_fail_errno("%s", name);
	return copy_contents(from_dir, to_dir, name, work);
}

/* All plain files of directory FROM. Closes both. */
static int copy_files(int from_dir, int to_dir, struct lz_work *work)
{
	DIR *d = from_dir < 0 ? NULL : fdopendir(dup(from_dir));
	int rc = d && to_dir >= 0 ? 0 : lz_fail_errno("cannot open the directory");
	struct dirent *e;

	while (rc == 0 && (e = readdir(d))) {
		struct stat st;

		if (fstatat(from_dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			rc = link_or_copy(from_dir, to_dir, e->d_name, work);
	}
	if (d)
		closedir(d);
	if (from_dir >= 0)
		close(from_dir);
	if (to_dir >= 0)
		close(to_dir);
	return rc;
}

/* Not through a link in the folder's place: a recording from somebody else would give a name to
 * files of the user's. */
static int copy_level(int from, int to, const char *name, struct lz_work *work)
{
	static const int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

	return copy_files(openat(from, name, how), openat(to, name, how), work);
}

/* What copying reads and writes, if nothing can be linked. */
static uint64_t cost(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	uint64_t sum = 0;
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d)))
		if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
			sum += 2 * lz_file_stored(&st);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return sum;
}

static int copy_all(int from, int to, struct lz_work *work)
{
	if (copy_level(from, to, "files", work) < 0)
		return -1;
	return copy_level(from, to, ".", work);
}

int lz_recording_copy(const char *dir, const char *to)
{
	int from_fd, to_fd, rc = -1;
	struct lz_work work;

	if (lz_recording_busy(dir))
		return lz_fail("%s is still being recorded", dir);
	if (lz_recdir_make(to) < 0)
		return -1;
	from_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	to_fd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	lz_work_begin(&work, "copying the recording", cost(from_fd, "files") + cost(from_fd, "."));
	if (from_fd < 0 || to_fd < 0 || mkdirat(to_fd, "files", 0700) < 0)
		lz_fail_errno("%s", from_fd < 0 ? dir : to);
	else
		rc = copy_all(from_fd, to_fd, &work);
	if (from_fd >= 0)
		close(from_fd);
	if (to_fd >= 0)
		close(to_fd);
	if (rc < 0) {
		lz_fail_in("copying %s to %s", dir, to);
		lz_undo_tree(to);
	}
	lz_work_end(&work);
	return rc;
}
