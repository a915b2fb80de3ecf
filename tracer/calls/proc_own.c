/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files of /proc are the program's own. */
#include "tracer/calls/proc_files.h"
#include "tracer/state/state.h"

#include <ctype.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* PATH ends in /TID/NAME, wherever /proc is mounted, or is not. */
static bool split(const char *path, unsigned *tid, char name[LZ_PROC_NAME])
{
	const char *end = strrchr(path, '/'), *number = end;

	if (!end || strlen(end + 1) >= LZ_PROC_NAME)
		return false;
	while (number > path && isdigit((unsigned char)number[-1]))
		number--;
	if (number == end || number == path || number[-1] != '/')
		return false;
	strcpy(name, end + 1);
	*tid = (unsigned)strtoul(number, NULL, 10);
	return true;
}

/* What is told of a first thread that is gone is mended as that of any other one. */
static const struct lz_thread *one_of(const struct lz_tracer *t, const struct lz_thread *th,
                                      bool first)
{
	return th || !first ? th : t->cur;
}

/* Another /proc may be one of the program's PID namespace. */
static const struct lz_thread *thread_of(const struct lz_tracer *t, const char *link, pid_t tid)
{
	const struct lz_thread *who = one_of(t, lz_thread_find(t, tid), (uint32_t)tid == t->tid);
	struct stat ours, file;

	if (who || stat("/proc", &ours) < 0 || stat(link, &file) < 0 || file.st_dev == ours.st_dev)
		return who;
	return one_of(t, lz_thread_named(t, tid), (uint32_t)tid == t->own_tid);
}

bool lz_proc_file_own(const struct lz_tracer *t, int fd, struct lz_proc_file *file)
{
	char link[64], path[PATH_MAX];
	struct statfs fs;
	unsigned tid;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)t->p.pid, fd);
	const ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = 0;
	if (!split(path, &tid, file->name) || statfs(link, &fs) < 0 ||
	    fs.f_type != PROC_SUPER_MAGIC)
		return false;
	file->who = thread_of(t, link, (pid_t)tid);
	return file->who;
}
