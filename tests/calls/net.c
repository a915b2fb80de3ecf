/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sockets. */
#include "calls.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

RECIPE(socket)
{
	SEE(OK(socket, AF_UNIX, SOCK_STREAM, 0) >= 0);
}

RECIPE(socketpair)
{
	int *s = out(8);
	char b = 0;

	SEE(OK(socketpair, AF_UNIX, SOCK_STREAM, 0, s) == 0);
	SEE(write(s[0], "x", 1) == 1 && read(s[1], &b, 1) == 1 && b == 'x');
}

RECIPE(bind)
{
	struct sockaddr_un a = {AF_UNIX, "here"};

	SEE(OK(bind, socket(AF_UNIX, SOCK_STREAM, 0), &a, sizeof(a)) == 0);
	SEE(access("here", F_OK) == 0);
}

static void connected(int s[2])
{
	struct sockaddr_in a;
	int l = listener(&a);

	s[0] = socket(AF_INET, SOCK_STREAM, 0);
	SEE(connect(s[0], (void *)&a, sizeof(a)) == 0);
	s[1] = accept(l, NULL, NULL);
	SEE(s[1] >= 0);
}

RECIPE(listen)
{
	struct sockaddr_un a = {AF_UNIX, "here"};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	SEE(bind(s, (void *)&a, sizeof(a)) == 0);
	SEE(OK(listen, s, 3) == 0);
	SEE(connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&a, sizeof(a)) == 0);
}

RECIPE(connect)
{
	struct sockaddr_in a;

	listener(&a);
	SEE(OK(connect, socket(AF_INET, SOCK_STREAM, 0), &a, sizeof(a)) == 0);
	/* that cannot wait */
	const int s = socket(AF_INET, SOCK_DGRAM, 0);
	for (int i = 0; i < 3; i++)
		SEE(OK(connect, s, &a, sizeof(a)) == 0);
	FAILS(EINVAL, connect, s, &a, 3);
	FAILS(EFAULT, connect, s, 8, sizeof(a));
	const int t = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	FAILS(EINPROGRESS, connect, t, &a, sizeof(a));
	struct sockaddr_un nobody = {AF_UNIX, "nobody"};
	FAILS(ENOENT, connect, socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), &nobody,
	      sizeof(nobody));
}

/* More room than the address needs, less than it needs. */
static void address_out(long (*call)(int s, void *a, void *n), int s, int again)
{
	struct sockaddr_in *a = out(64);
	unsigned *n = inout(&(unsigned){64}, 4), *small = inout(&(unsigned){3}, 4);

	SEE(call(s, a, n) >= 0);
	SEE(*n == sizeof(*a) && a->sin_family == AF_INET);
	memset(a, 0xa5, 64);
	SEE(call(again, a, small) >= 0);
	SEE(*small == sizeof(*a) && ((unsigned char *)a)[3] == 0xa5);
}

static long call_accept(int s, void *a, void *n)
{
	return OK(accept, s, a, n);
}

static long call_accept4(int s, void *a, void *n)
{
	return OK(accept4, s, a, n, SOCK_CLOEXEC);
}

static int with_clients(void)
{
	struct sockaddr_in a;
	int l = listener(&a);

	for (int i = 0; i < 2; i++)
		SEE(connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&a, sizeof(a)) == 0);
	SEE(fcntl(l, F_SETFL, O_NONBLOCK) == 0);
	return l;
}

RECIPE(accept)
{
	int l = with_clients();

	address_out(call_accept, l, l);
	FAILS(EAGAIN, accept, l, NULL, NULL);
}

RECIPE(accept4)
{
	int l = with_clients();

	address_out(call_accept4, l, l);
	FAILS(EAGAIN, accept4, l, NULL, NULL, 0);
}

static long call_getsockname(int s, void *a, void *n)
{
	return OK(getsockname, s, a, n);
}

static long call_getpeername(int s, void *a, void *n)
{
	return OK(getpeername, s, a, n);
}

RECIPE(getsockname)
{
	int s[2];

	connected(s);
	address_out(call_getsockname, s[0], s[1]);
}

RECIPE(getpeername)
{
	int s[2];

	connected(s);
	address_out(call_getpeername, s[0], s[1]);
}

RECIPE(sendto)
{
	int s[2];
	char b[4] = {0};

	sockets(s, SOCK_DGRAM);
	SEE(OK(sendto, s[0], "abc", 3, 0, NULL, 0) == 3);
	SEE(read(s[1], b, 4) == 3 && !strcmp(b, "abc"));
}

RECIPE(recvfrom)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
	                   *from = out(32);
	socklen_t n = sizeof(to);
	unsigned *len = inout(&(unsigned){32}, 4);
	char *b = out(16);
	int r = socket(AF_INET, SOCK_DGRAM, 0), s = socket(AF_INET, SOCK_DGRAM, 0);

	SEE(bind(r, (void *)&to, n) == 0 && getsockname(r, (void *)&to, &n) == 0);
	SEE(sendto(s, "0123456789", 10, 0, (void *)&to, n) == 10);
	/* The result is longer than the buffer. */
	SEE(OK(recvfrom, r, b, 4, MSG_TRUNC, from, len) == 10);
	SEE(!memcmp(b, "0123\xa5", 5) && *len == sizeof(*from) && from->sin_family == AF_INET);
}

static struct iovec words[2] = {{"abc", 3}, {"defg", 4}};

RECIPE(sendmsg)
{
	int s[2];
	char b[8] = {0};

	sockets(s, SOCK_DGRAM);
	SEE(OK(sendmsg, s[0], &((struct msghdr){.msg_iov = words, .msg_iovlen = 2}), 0) == 7);
	SEE(read(s[1], b, 8) == 7 && !strcmp(b, "abcdefg"));
}

/* A message with a descriptor in it. */
static void send_descriptor(int s)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct msghdr m = {.msg_iov = words,
	                   .msg_iovlen = 2,
	                   .msg_control = control,
	                   .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int fd = file("sent", "its text");

	c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	SEE(sendmsg(s, &m, 0) == 7);
	close(fd);
}

static struct msghdr receiving(struct iovec io[2])
{
	io[0] = (struct iovec){out(2), 2};
	io[1] = (struct iovec){out(50), 50};
	return (struct msghdr){.msg_name = out(128),
	                       .msg_namelen = 128,
	                       .msg_iov = io,
	                       .msg_iovlen = 2,
	                       .msg_control = out(100),
	                       .msg_controllen = 100};
}

static void see_descriptor(const struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fd;

	SEE(c && c->cmsg_type == SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	SEE(lseek(fd, 0, SEEK_END) == 8);
	SEE(!memcmp(m->msg_iov[0].iov_base, "ab", 2) &&
	    !memcmp(m->msg_iov[1].iov_base, "cdefg\xa5", 6));
}

/* Connected both ways and with names, so that the sender's comes along. */
static void named(int s[2])
{
	struct sockaddr_un a = {AF_UNIX, "one"}, b = {AF_UNIX, "two"};

	s[0] = socket(AF_UNIX, SOCK_DGRAM, 0), s[1] = socket(AF_UNIX, SOCK_DGRAM, 0);
	SEE(bind(s[0], (void *)&a, sizeof(a)) == 0 && bind(s[1], (void *)&b, sizeof(b)) == 0);
	SEE(connect(s[0], (void *)&b, sizeof(b)) == 0);
}

RECIPE(recvmsg)
{
	struct iovec io[2];
	struct msghdr in = receiving(io), *m = inout(&in, sizeof(in));
	int s[2];

	named(s);
	send_descriptor(s[0]);
	SEE(OK(recvmsg, s[1], m, 0) == 7);
	see_descriptor(m);
	SEE(!strcmp(((struct sockaddr_un *)m->msg_name)->sun_path, "one") && m->msg_namelen < 128);
}

RECIPE(recvmmsg)
{
	struct iovec io[3][2];
	struct mmsghdr in[3] = {{receiving(io[0])}, {receiving(io[1])}, {receiving(io[2])}},
	               *m = inout(in, sizeof(in));
	struct timespec *t = inout(&(struct timespec){5, 0}, sizeof(*t));
	int s[2];

	named(s);
	send_descriptor(s[0]), send_descriptor(s[0]);
	SEE(OK(recvmmsg, s[1], m, 3, MSG_WAITFORONE, t) == 2);
	see_descriptor(&m[0].msg_hdr), see_descriptor(&m[1].msg_hdr);
	SEE(m[1].msg_len == 7 && t->tv_sec <= 5);
}

RECIPE(sendmmsg)
{
	struct mmsghdr two[2] = {{.msg_hdr = {.msg_iov = words, .msg_iovlen = 2}, .msg_len = 99},
	                         {.msg_hdr = {.msg_iov = words, .msg_iovlen = 1}, .msg_len = 99}},
	               *m = inout(two, sizeof(two));
	int s[2];

	sockets(s, SOCK_DGRAM);
	SEE(OK(sendmmsg, s[0], m, 2, 0) == 2);
	SEE(m[0].msg_len == 7 && m[1].msg_len == 3);
}

RECIPE(shutdown)
{
	int s[2];
	char b;

	sockets(s, SOCK_STREAM);
	SEE(OK(shutdown, s[0], SHUT_WR) == 0);
	SEE(read(s[1], &b, 1) == 0);
}

RECIPE(setsockopt)
{
	int s = socket(AF_INET, SOCK_STREAM, 0), value = 0;
	socklen_t n = sizeof(value);

	SEE(OK(setsockopt, s, SOL_SOCKET, SO_KEEPALIVE, &((int){1}), 4) == 0);
	SEE(getsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &value, &n) == 0 && value == 1);
	REFUSES(ENOPROTOOPT, setsockopt, s, 263 /* SOL_PACKET */, 5 /* PACKET_RX_RING */, &value,
	        4);
}

RECIPE(getsockopt)
{
	int s[2], *value = out(32);
	unsigned *n = inout(&(unsigned){32}, 4);

	sockets(s, SOCK_STREAM);
	SEE(OK(getsockopt, s[0], SOL_SOCKET, SO_TYPE, value, n) == 0);
	SEE(*n == 4 && *value == SOCK_STREAM);
	*n = 32;
	SEE(OK(getsockopt, s[0], SOL_SOCKET, SO_PEERCRED, value, n) == 0);
	SEE(*n == 12 && value[0] == getpid());
	/* Too small: it fails and says how much it would be. */
	*n = 0;
	SEE(SYS(getsockopt, s[0], SOL_SOCKET, 59 /* SO_PEERGROUPS */, value, n) <= 0);

	/* In instructions, first only how many. */
	struct sock_filter code[3] = {{.code = BPF_LD | BPF_W | BPF_LEN},
	                              {.code = BPF_RET | BPF_A},
	                              {.code = BPF_RET, .k = 77}},
	                   *got = out(sizeof(code));
	struct sock_fprog program = {3, code};

	SEE(setsockopt(s[0], SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0);
	*n = 0;
	SEE(OK(getsockopt, s[0], SOL_SOCKET, SO_GET_FILTER, got, n) == 0 && *n == 3);
	SEE(OK(getsockopt, s[0], SOL_SOCKET, SO_GET_FILTER, got, n) == 0 && got[2].k == 77);
}
