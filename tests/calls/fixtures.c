/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calls.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

int file(const char *name, const char *text)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	SEE(fd >= 0);
	SEE(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	lseek(fd, 0, SEEK_SET);
	return fd;
}

void pair(int p[2])
{
	SEE(pipe(p) == 0);
}

void sockets(int s[2], int type)
{
	SEE(socketpair(AF_UNIX, type, 0, s) == 0);
}

int listener(struct sockaddr_in *address)
{
	socklen_t n = sizeof(*address);
	int s = socket(AF_INET, SOCK_STREAM, 0);

	memset(address, 0, sizeof(*address));
	address->sin_family = AF_INET;
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	SEE(bind(s, (void *)address, n) == 0);
	SEE(listen(s, 5) == 0);
	SEE(getsockname(s, (void *)address, &n) == 0);
	return s;
}

int sleeper(void)
{
	int pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the test fail */
		for (;;)
			pause();
	}
	SEE(pid > 0);
	return pid;
}

/* Whoever waits for a child that runs yet is interrupted by its SIGCHLD. */
int ended(void)
{
	int pid = fork();

	if (pid == 0)
		_exit(7);
	SEE(pid > 0);
	struct pollfd child = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	while (child.fd >= 0 && poll(&child, 1, -1) < 0)
		SEE(errno == EINTR);
	close(child.fd);
	siginfo_t si;
	SEE(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT) == 0);
	return pid;
}

void end_child(int pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void unshared(int flags)
{
	if (unshare(flags) < 0)
		skip("no new namespace for this user");
}

bool all_zero(const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((const uint8_t *)p)[i])
			return false;
	return true;
}
