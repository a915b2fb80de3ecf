/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a descriptor that may wait. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int option(int fd, int which)
{
	socklen_t len = sizeof(int);
	int value = -1;

	return getsockopt(fd, SOL_SOCKET, which, &value, &len) < 0 ? -1 : value;
}

/* Those that do what MSG_DONTWAIT says, and give whatever has come. */
static enum lz_fd_kind kind_of_socket(int fd)
{
	const int domain = option(fd, SO_DOMAIN), type = option(fd, SO_TYPE);

	if (option(fd, SO_RCVLOWAT) != 1)
		return LZ_KIND_NONE;
	if (domain == AF_UNIX)
		return type == SOCK_STREAM  ? LZ_KIND_UNIX_STREAM
		       : type == SOCK_DGRAM ? LZ_KIND_DATAGRAM
		                            : LZ_KIND_NONE;
	if (domain != AF_INET && domain != AF_INET6)
		return LZ_KIND_NONE;
	switch (option(fd, SO_PROTOCOL)) {
	case IPPROTO_TCP: return LZ_KIND_STREAM;
	case IPPROTO_UDP: return LZ_KIND_DATAGRAM;
	}
	return LZ_KIND_NONE;
}

static enum lz_fd_kind socket_of(const struct lz_tracer *t, int fd)
{
	enum lz_fd_kind kind = LZ_KIND_NONE;
	const int copy = lz_fd_copy(t, fd);

	if (copy >= 0) {
		kind = kind_of_socket(copy);
		close(copy);
	}
	return kind;
}

static bool is_counter(const char *path)
{
	char name[64] = "";

	return readlink(path, name, sizeof(name) - 1) > 0 &&
	       (!strcmp(name, "anon_inode:[eventfd]") || !strcmp(name, "anon_inode:[timerfd]"));
}

uint8_t lz_fast_kind(const struct lz_tracer *t, int fd, const char *path, const struct stat *st)
{
	enum lz_fd_kind kind = LZ_KIND_NONE;

	if (S_ISFIFO(st->st_mode))
		kind = LZ_KIND_PIPE;
	else if (S_ISSOCK(st->st_mode))
		kind = socket_of(t, fd);
	else if (is_counter(path))
		kind = LZ_KIND_COUNTER;
	if (!kind)
		return LZ_FD_WAITS;
	/* whether a socket lingers then is asked before */
	return (uint8_t)(kind << LZ_FD_KIND_SHIFT) | LZ_FD_CLOSE;
}
