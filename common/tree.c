#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/tree.h>
#include <lizard/error.h>

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Only the directory that was asked for may be named by a link, none of those in it. */
static DIR *open_dir(int at, const char *name)
{
	int links = at == AT_FDCWD ? 0 : O_NOFOLLOW;
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | links);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

int lz_each_entry(int at, const char *name, int (*fn)(int dirfd, const char *name, void *arg),
                  void *arg)
{
	DIR *d = open_dir(at, name);
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
