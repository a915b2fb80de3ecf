/* Writes a number in the way that the first argument says: a known one, or one drawn by code that the program makes, where
 * nobody looks for rdrand. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	static const unsigned char rdrand_ret[] = {0x48, 0x0f, 0xc7, 0xf0, 0xc3};
	unsigned long (*draw)(void) = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy((void *)draw, rdrand_ret, sizeof rdrand_ret);
	unsigned long n = argc > 2 ? draw() : 7;
	struct iovec io[] = {{"n: ", 3}, {&n, sizeof n}};
	struct msghdr m = {.msg_iov = io, .msg_iovlen = 2};
	int s[2], fd = open("/dev/null", O_WRONLY);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
	ssize_t done = 0;
	switch (*argv[1]) {
	case 'w': done = write(fd, &n, sizeof n); break;
	case 'v': done = writev(fd, io, 2); break;
	case 'p': done = pwrite(fd, &n, sizeof n, 0); break;
	case 'V': done = pwritev(fd, io, 2, 0); break;
	case '2': done = pwritev2(fd, io, 2, 0, 0); break;
	case 's': done = send(s[0], &n, sizeof n, 0); break;
	case 'm': done = sendmsg(s[0], &m, 0); break;
	}
	return done < 8;
}
