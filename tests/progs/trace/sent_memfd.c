/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sent_memfd SOCKET own: has memory of its own (memfd_create), sends it to who connects, and stores an x there when that one
 * has mapped it.
 * sent_memfd SOCKET read|write: is that one, with a mapping to read or to write as well, and prints what it sees. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char byte;
static union {
	struct cmsghdr h;
	char bytes[CMSG_SPACE(sizeof(int))];
} control = {.h = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
static struct iovec one = {&byte, 1};
static struct msghdr message = {
    .msg_iov = &one, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};

static int give(int s, const struct sockaddr_un *at)
{
	int fd = memfd_create("sent", 0);

	if (ftruncate(fd, PAGE) || bind(s, (const struct sockaddr *)at, sizeof(*at)) ||
	    listen(s, 1))
		return 1;
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int to = accept(s, NULL, NULL);
	memcpy(CMSG_DATA(&control.h), &fd, sizeof(fd));
	if (p == MAP_FAILED || sendmsg(to, &message, 0) != 1 || read(to, &byte, 1) != 1)
		return 1;
	p[0] = 'x';
	return write(to, "", 1) != 1 || read(to, &byte, 1) != 0;
}

static int take(int s, const struct sockaddr_un *at, int prot)
{
	int fd;

	if (connect(s, (const struct sockaddr *)at, sizeof(*at)) || recvmsg(s, &message, 0) != 1)
		return 1;
	memcpy(&fd, CMSG_DATA(&control.h), sizeof(fd));
	volatile char *p = mmap(NULL, PAGE, prot, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return 1;
	char before = p[0];
	if (write(s, "", 1) != 1 || read(s, &byte, 1) != 1)
		return 1;
	printf("%d %c\n", before, p[0]);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_un at = {AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", argv[1]);
	if (!strcmp(argv[2], "own"))
		return give(s, &at);
	return take(s, &at, !strcmp(argv[2], "write") ? PROT_READ | PROT_WRITE : PROT_READ);
}
