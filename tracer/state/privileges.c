/* SPDX-License-Identifier: GPL-3.0-or-later */
/* May this program be traced here, and would it be the same program then? */
#include "tracer/state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The number behind KEY in a file of /proc; -1: not there. */
static long number_in(const char *path, const char *key)
{
	FILE *f = fopen(path, "re");
	char line[256];
	long n = -1;

	while (f && n < 0 && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			n = strtol(line + strlen(key), NULL, 10);
	if (f)
		fclose(f);
	return n;
}

static const char yama[] = "/proc/sys/kernel/yama/ptrace_scope";

bool lz_only_ancestors_trace(void)
{
	const int fd = open(yama, O_RDONLY | O_CLOEXEC);
	char scope = '1';

	/* a /proc may have no /proc/sys */
	if (fd < 0)
		return errno != ENOENT || access("/proc/sys/kernel", F_OK) < 0;
	if (read(fd, &scope, 1) < 0)
		lz_debug("cannot read %s", yama);
	close(fd);
	return scope != '0';
}

int lz_cannot_trace(pid_t pid)
{
	int why = errno;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	long other = number_in(path, "TracerPid:"), scope = number_in(yama, "");

	if (why == ENOSYS)
		return lz_fail(
		    "cannot trace the program: there is no ptrace here; is this lizard-trace being "
		    "recorded itself?");
	if (why == EPERM && other > 0)
		return lz_fail(
		    "cannot trace the program: process %ld traces it already (a debugger, or "
		    "strace -f?)",
		    other);
	if (why == EPERM && scope > 2)
		return lz_fail("cannot trace the program: the kernel forbids it to all; "
		               "/proc/sys/kernel/yama/ptrace_scope is %ld and must be 2 or less",
		               scope);
	errno = why;
	if (why == EPERM)
		return lz_fail_errno(
		    "cannot trace the program: ptrace is refused; in a container, allow it "
		    "with --cap-add=SYS_PTRACE or a seccomp profile that has ptrace");
	return lz_fail_errno("cannot trace the program");
}

/* What kind of program PID runs, if it would have privileges that it does not get from its user. */
static const char *privileged(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (geteuid() == 0 || stat(path, &st) < 0)
		return NULL;
	if (st.st_mode & S_ISUID && st.st_uid != geteuid())
		return "set-user-ID";
	if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getegid())
		return "set-group-ID";
	return getxattr(path, "security.capability", NULL, 0) > 0 ? "one with file capabilities"
	                                                          : NULL;
}

/* Traced by somebody without the right to it, a program does not get the privileges of its file,
 * so it is another program than without us. */
int lz_check_privileges(pid_t pid)
{
	const char *what = privileged(pid);

	return what ? lz_fail("the program is %s: the kernel takes its privileges away while it is "
	                      "traced, so "
	                      "it is not run. Record it as root, or a copy without them",
	                      what)
	            : 0;
}

void lz_tell_privileges(pid_t pid)
{
	const char *what = privileged(pid);
	char link[64], path[PATH_MAX];

	if (!what)
		return;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = 0;
	lz_warn(
	    "process %d runs %s, which is %s, without its privileges: the kernel gives them to no "
	    "program that is traced when it starts, unless root traces it",
	    (int)pid, path, what);
}
