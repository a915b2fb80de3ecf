/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The descriptor from which inotify is read. Closing it waits until no CPU can be looking at the
 * files any more, up to 20 ms: several times what a short program takes. So the kernel is left to
 * do that by itself. */
#include "tracer/memory/objects.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

/* A user may have few, and those that were closed lately count until the kernel is done. */
int lz_notes_open(void)
{
	enum { TRIES = 10, PAUSE_US = 2000 };
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	for (int i = 0; i < TRIES && fd < 0 && errno == EMFILE; i++) {
		usleep(PAUSE_US);
		fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	}
	return fd;
}

/* Into a message to END that holds END as well: nobody can read it once END is closed here. */
static int send_to_itself(int from, int end, int fd)
{
	const int fds[2] = {end, fd};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(fds))];
	} control = {.head = {.cmsg_level = SOL_SOCKET,
	                      .cmsg_type = SCM_RIGHTS,
	                      .cmsg_len = CMSG_LEN(sizeof(fds))}};
	struct iovec byte = {"", 1};
	const struct msghdr m = {.msg_iov = &byte,
	                         .msg_iovlen = 1,
	                         .msg_control = &control,
	                         .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.head), fds, sizeof(fds));
	return sendmsg(from, &m, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* Since Linux 6.10 such messages are collected by a thread of the kernel; before, here and now. */
void lz_notes_close(int fd)
{
	int pair[2];

	if (fd < 0)
		return;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) == 0) {
		/* if it fails, FD is simply closed */
		send_to_itself(pair[0], pair[1], fd);
		close(pair[0]);
		close(pair[1]);
	}
	close(fd);
}
