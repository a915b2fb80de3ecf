/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmds/pack/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/base/cleanup.h>
#include <lizard/error.h>

static int open_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	lz_auto_free char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");

	return folder ? open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600) : -1;
}

int lz_new_file_begin(struct lz_new_file *f, const char *path)
{
	struct stat st;

	*f = (struct lz_new_file){.fd = -1, .path = path};
	errno = EEXIST;
	if (lstat(path, &st) < 0)
		f->fd = open_nameless(path);
	if (f->fd < 0 && errno != EEXIST) {
		f->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		f->named = true;
	}
	return f->fd < 0 ? lz_fail_errno("cannot create %s", path) : 0;
}

static int name(const struct lz_new_file *f)
{
	char here[64];

	snprintf(here, sizeof(here), "/proc/self/fd/%d", f->fd);
	return linkat(AT_FDCWD, here, AT_FDCWD, f->path, AT_SYMLINK_FOLLOW);
}

int lz_new_file_end(struct lz_new_file *f, bool whole)
{
	int rc = whole ? 0 : -1;

	if (rc == 0 && !f->named && name(f) < 0)
		rc = lz_fail_errno("cannot create %s", f->path);
	else
		f->named |= rc == 0;
	if (close(f->fd) < 0 && rc == 0)
		rc = lz_fail_errno("cannot write %s", f->path);
	if (rc < 0 && f->named)
		unlink(f->path);
	return rc;
}
