/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of the recorded program's world: /proc/PID of the recording, the recording's copies of
 * mapped files, and, where allowed, the host's. */
#include "replayer/front/inside.h"

#include <common/base/cleanup.h>
#include <common/base/filecopy.h>
#include <common/base/hostfile.h>
#include <common/base/printable.h>
#include <lizard/error.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The part of PATH behind /proc/PID/ or /proc/PID/task/TID/; NULL if it is another path. */
static const char *proc_name(const struct lz_front *f, const char *path)
{
	unsigned pid, tid;
	int at = 0;

	if (sscanf(path, "/proc/%u/task/%u/%n", &pid, &tid, &at) == 2 && at)
		return pid == f->pid ? path + at : NULL;
	at = 0;
	if (sscanf(path, "/proc/%u/%n", &pid, &at) == 1 && at)
		return pid == f->pid ? path + at : NULL;
	return NULL;
}

/* TEXT as a file that is in memory only. */
static int text_file(const char *text, size_t len)
{
	int fd = memfd_create("lizard-proc", MFD_CLOEXEC);

	if (fd < 0)
		return lz_fail_errno("making a file in memory");
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n <= 0) {
			lz_fail_errno("writing a file in memory");
			close(fd);
			return -1;
		}
		text += n;
		len -= (size_t)n;
	}
	return fd;
}

static int open_proc(struct lz_front *f, const char *name)
{
	size_t len;
	char *text = lz_front_proc_file(f, name, &len);

	if (!text)
		return lz_fail("the recording knows nothing of /proc/%u/%s", f->pid, name);
	int fd = text_file(text, len);

	free(text);
	return fd;
}

static int open_copy(struct lz_front *f, const char *path)
{
	char *copy = lz_reader_object_of(f->reader, path);
	int fd = copy ? lz_open_regular(copy) : -1;

	free(copy);
	return fd;
}

/* The file that was mapped as PATH, or as what PATH leads to, if it is here as it was then. */
static int open_mapped(struct lz_front *f, const char *path)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return -1;
	for (uint32_t i = 0; i < lz_reader_n_files(f->reader); i++) {
		const struct lz_file *file = lz_reader_file(f->reader, i);

		if (!file->build_id[0] ||
		    (strcmp(file->path, path) != 0 && strcmp(file->path, real) != 0))
			continue;
		int fd = lz_open_regular(file->path);
		lz_auto_free char *id = fd < 0 ? NULL : lz_build_id_fd(fd);

		if (id && strcmp(id, file->build_id) == 0)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

/* The path of the recording's file that is shown as PATH; PATH itself if none is. */
static const char *shown_as(struct lz_front *f, const char *path)
{
	const char *found = path;

	for (uint32_t i = 0; strstr(path, "\\x") && i < lz_reader_n_files(f->reader); i++) {
		const struct lz_file *file = lz_reader_file(f->reader, i);
		char *shown = lz_dup_printable(file->path);

		if (shown && strcmp(shown, path) == 0)
			found = file->path;
		free(shown);
	}
	return found;
}

int lz_front_open(struct lz_front *f, const char *name)
{
	const char *proc = proc_name(f, name), *path = shown_as(f, name);
	char real[PATH_MAX];

	if (proc)
		return open_proc(f, proc);
	int fd = open_copy(f, path);

	/* By another name of this machine's, as /lib for /usr/lib. */
	if (fd < 0 && realpath(path, real))
		fd = open_copy(f, real);
	if (fd < 0)
		fd = open_mapped(f, path);
	if (fd < 0 && f->host_files)
		fd = lz_open_regular(path);
	return fd < 0 ? lz_fail("there is no file %s", path) : fd;
}

char *lz_front_readlink(struct lz_front *f, const char *path)
{
	char target[4096];
	const char *proc = proc_name(f, path);
	const char *to = proc ? lz_front_proc_link(f, proc) : NULL;

	if (to)
		return lz_dup_printable(to);
	ssize_t n = proc || !f->host_files ? -1 : readlink(path, target, sizeof target);

	if (n >= 0)
		return strndup(target, (size_t)n);
	lz_fail("there is no link %s", path);
	return NULL;
}
