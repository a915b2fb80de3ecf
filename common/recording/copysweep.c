/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What goes from a store of copies. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <common/base/cleanup.h>
#include <common/recording/copystore.h>
#include <common/base/tree.h>
#include <lizard/error.h>

/* Facts are proven anew after some time, as after a boot: a disk may lose what it has, and files
 * whose folder is another one each time would leave many. */
enum { FACTS_KEPT = 7 * 24 * 3600 };

struct sweep {
	time_t now;
	unsigned seconds;
};

static bool begins(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* The kernel may set a file's time a few milliseconds ahead of what time() says. */
static bool is_old(const struct sweep *s, time_t then, unsigned seconds)
{
	return !seconds || s->now - then >= (time_t)seconds;
}

/* Each link that is made or removed sets the time of the last change. */
static int sweep_copy(int fd, const char *name, void *arg)
{
	const struct sweep *s = arg;
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (begins(name, LZ_COPY_PREFIX) && st.st_nlink == 1 &&
	    is_old(s, st.st_ctim.tv_sec, s->seconds))
		unlinkat(fd, name, 0);
	/* whoever made it was killed before it was renamed */
	if (begins(name, LZ_NEXT_PREFIX) && is_old(s, st.st_ctim.tv_sec, FACTS_KEPT))
		unlinkat(fd, name, 0);
	return 0;
}

static int sweep_facts(int fd, const char *name, void *arg)
{
	const struct sweep *s = arg;
	struct lz_copy c;
	struct stat st;
	char copy[48];

	if (!begins(name, LZ_FACTS_PREFIX) || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	bool usable = lz_facts_read(fd, name, &c) != 0;

	lz_copy_name(&c, copy);
	if (!usable || is_old(s, st.st_mtim.tv_sec, FACTS_KEPT) ||
	    faccessat(fd, copy, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		unlinkat(fd, name, 0);
	lz_copy_free(&c);
	return 0;
}

void lz_copystore_sweep(int fd, unsigned seconds)
{
	struct sweep s = {time(NULL), seconds};

	if (lz_each_entry(fd, ".", sweep_copy, &s) < 0 ||
	    lz_each_entry(fd, ".", sweep_facts, &s) < 0)
		lz_debug("%s", lz_error());
}

/* -1: there is none. */
static int open_store(void)
{
	lz_auto_free char *dir = lz_copystore_dir();

	return dir ? open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
}

static int is_left(int fd, const char *name, void *arg)
{
	(void)fd;
	(void)arg;
	return strcmp(name, LZ_SWEPT) != 0;
}

void lz_copystore_sweep_now(void)
{
	lz_auto_free char *dir = lz_copystore_dir();
	lz_auto_close int fd = open_store();

	if (fd < 0)
		return;
	lz_copystore_sweep(fd, 0);
	if (lz_each_entry(fd, ".", is_left, NULL) != 0)
		return;
	/* who has it open makes copies of his own */
	unlinkat(fd, LZ_SWEPT, 0);
	if (dir && rmdir(dir) < 0)
		lz_debug("the empty store %s stays", dir);
}

static int remove_inode(int fd, const char *name, void *arg)
{
	const struct stat *bad = arg;
	struct stat st;

	if (begins(name, LZ_COPY_PREFIX) && fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_ino == bad->st_ino && st.st_dev == bad->st_dev)
		unlinkat(fd, name, 0);
	return 0;
}

void lz_copystore_distrust(const struct stat *st)
{
	lz_auto_free char *why = strdup(lz_error());
	lz_auto_close int fd = st->st_nlink > 1 ? open_store() : -1;
	struct stat bad = *st;

	if (fd >= 0)
		lz_each_entry(fd, ".", remove_inode, &bad);
	if (why && *why)
		lz_fail("%s", why);
}
