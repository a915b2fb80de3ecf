/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files of /proc are the program's own. */
#include "tracer/calls/proc_files.h"
#include "tracer/state/state.h"

#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Wherever /proc is mounted. */
static bool split(const char *path, unsigned *tid, char name[LZ_PROC_NAME])
{
	const char *proc = strstr(path, "/proc/");
	unsigned pid;
	int end = 0;

	if (!proc)
		return false;
	if (sscanf(proc, "/proc/%u/task/%u/%15[a-z_]%n", &pid, tid, name, &end) != 3 &&
	    sscanf(proc, "/proc/%u/%15[a-z_]%n", tid, name, &end) != 2)
		return false;
	return !proc[end];
}

bool lz_proc_file_own(const struct lz_tracer *t, int fd, struct lz_proc_file *file)
{
	char link[64], path[256];
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
	file->who = lz_thread_find(t, (pid_t)tid);
	if (!file->who) /* a /proc of its PID namespace */
		file->who = lz_thread_named(t, (pid_t)tid);
	return file->who;
}
