/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/base/dir.h>
#include <common/base/tree.h>
#include <lizard/error.h>

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

int lz_each_entry(int at, const char *name, int (*fn)(int dirfd, const char *name, void *arg),
                  void *arg)
{
	DIR *d = lz_open_dir(at, name);
	struct dirent *e;
	int rc = 0;

	if (!d)
		return errno == ENOENT ? 0 : lz_fail_errno("cannot open %s", name);
	while (rc == 0 && (e = readdir(d)))
		if (!is_dots(e->d_name))
			rc = fn(dirfd(d), e->d_name, arg);
	closedir(d);
	return rc;
}

int lz_remove_at(int fd, const char *name, void *arg)
{
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
		return unlinkat(fd, name, 0) < 0 ? lz_fail_errno("cannot remove %s", name) : 0;
	if (lz_each_entry(fd, name, lz_remove_at, arg) < 0)
		return -1;
	return unlinkat(fd, name, AT_REMOVEDIR) < 0 ? lz_fail_errno("cannot remove %s", name) : 0;
}

int lz_remove_tree(const char *path)
{
	return lz_remove_at(AT_FDCWD, path, NULL);
}

void lz_undo_tree(const char *path)
{
	char *why = strdup(lz_error());

	lz_remove_tree(path);
	lz_fail("%s", why ? why : "no memory");
	free(why);
}
