/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a descriptor of the program is. A call that would be refused is made all the same where the
 * kernel refuses it because of its descriptor. */
#include "tracer/calls/calls.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

bool lz_fd_is_open(const struct lz_tracer *t, int fd)
{
	char path[64], line[128];
	uint64_t flags = O_PATH;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)t->p.pid, fd);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "flags: %" SCNo64, &flags) == 1)
			break;
	if (f)
		fclose(f);
	return !(flags & O_PATH);
}

bool lz_fd_is_socket(const struct lz_tracer *t, int fd)
{
	static const char kind[] = "socket:";
	char path[64], link[sizeof(kind)];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)t->p.pid, fd);
	return readlink(path, link, sizeof(link)) > (ssize_t)strlen(kind) &&
	       memcmp(link, kind, strlen(kind)) == 0;
}

/* The first thread may be gone, or have other descriptors; before Linux 6.9 it must do. */
int lz_fd_copy(const struct lz_tracer *t, int fd)
{
	const int thread = (int)syscall(SYS_pidfd_open, t->p.pid, PIDFD_THREAD);
	const int process = thread < 0 ? (int)syscall(SYS_pidfd_open, t->tid, 0) : thread;
	const int copy = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, fd, 0);

	if (process >= 0)
		close(process);
	return copy;
}

bool lz_fd_has_error(const struct lz_tracer *t, int fd)
{
	struct pollfd p = {.fd = lz_fd_copy(t, fd)};

	if (p.fd < 0)
		return false;
	const bool has = poll(&p, 1, 0) > 0 && p.revents & POLLERR;
	close(p.fd);
	return has;
}
