/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What programs need whose calls wait for somebody outside. */
#include "kinds.h"
#include "caught.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { ROUNDS = 100 };
#define FAILS(error, call) SEE((call) == -1 && errno == (error))

static int s[2];
static void ended_well(void)
{
	int status;

	while (wait(&status) > 0)
		SEE(status == 0);
}

/* Somebody outside who answers each byte with N, after a while. */
static void begin(int n)
{
	char b[8] = "answers";

	SEE(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	if (fork()) {
		close(s[1]);
		return;
	}
	close(s[0]);
	while (read(s[1], b, 1) == 1) {
		usleep(500);
		if (write(s[1], b, (size_t)n) != n)
			_exit(1);
	}
	_exit(0);
}

static void end(void)
{
	close(s[0]);
	ended_well();
}

static bool ask(void)
{
	return write(s[0], "a", 1) == 1;
}

static fd_set set_of(int a, int b)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(a, &set);
	FD_SET(b, &set);
	return set;
}
