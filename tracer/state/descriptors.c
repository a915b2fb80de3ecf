/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tracer's descriptors. What it was given is the program's: whoever waits for the end of a
 * pipe must not wait for us. */
#include "tracer/state/state.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static struct rlimit own;

void lz_descriptors_most(void)
{
	if (getrlimit(RLIMIT_NOFILE, &own) == 0)
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){own.rlim_max, own.rlim_max});
}

void lz_descriptors_own(void)
{
	if (own.rlim_max)
		setrlimit(RLIMIT_NOFILE, &own);
}

static void become_null(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	dup2(null, fd);
	close(null);
}

void lz_descriptors_reserve(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_RDWR | O_CLOEXEC); /* the lowest one that is free */
}

/* All that is our own is closed by an execve; what we were given is not, or we would not have
 * it. */
void lz_descriptors_drop(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	become_null(STDIN_FILENO);
	become_null(STDOUT_FILENO);
	while (d && (e = readdir(d))) {
		int fd = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : -1;
		if (fd > STDERR_FILENO && !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
			close(fd);
	}
	if (d)
		closedir(d);
}

void lz_descriptors_silence(void)
{
	become_null(STDERR_FILENO);
}

/* Nobody looks at our messages any more who does not wait for them to end. */
void lz_descriptors_alone(int news)
{
	struct pollfd p = {.fd = news};

	if (news >= 0 && poll(&p, 1, 0) == 1 && p.revents & POLLERR)
		lz_descriptors_silence();
}
