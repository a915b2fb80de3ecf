/* errors CASE: a system call that fails, and has written before it did. Says what is there then. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static unsigned char out[256];

static int shown(long result, const void *bytes, size_t n)
{
	unsigned sum = 1;

	for (size_t i = 0; i < n; i++)
		sum = sum * 31 + ((const unsigned char *)bytes)[i];
	printf("%ld errno %d sum %x\n", result, result < 0 ? errno : 0, sum);
	return result >= 0;
}

/* A page, behind which nothing is mapped. */
static char *page(void)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + PAGE, PAGE);
	return memset(p, 0x5a, PAGE);
}

/* Ten bytes in a pipe, of which there is room for four. */
static int filled(void)
{
	int fds[2];

	return pipe(fds) < 0 || write(fds[1], "0123456789", 10) != 10 ? -1 : fds[0];
}

int main(int argc, char **argv)
{
	char *end = page() + PAGE - 4;
	struct iovec io = {end, 10};

	memset(out, 0x5a, sizeof(out));
	if (argc == 1)
		puts("socketpair waitid timer_create mincore read readv getcwd capset");
	else if (!strcmp(argv[1], "socketpair"))
		return shown(socketpair(AF_INET, SOCK_STREAM, 0, (int *)out), out, 8);
	else if (!strcmp(argv[1], "waitid"))
		return shown(waitid(P_ALL, 0, (siginfo_t *)out, WEXITED), out, sizeof(siginfo_t));
	else if (!strcmp(argv[1], "timer_create")) /* the clock of a process that there is not */
		return shown(syscall(SYS_timer_create, ~99999999 << 3 | 2, NULL, out), out, 4);
	else if (!strcmp(argv[1], "mincore"))
		return shown(mincore(end + 4 - PAGE, 2 * PAGE, out), out, 4);
	else if (!strcmp(argv[1], "read"))
		return shown(read(filled(), end, 10), end, 4);
	else if (!strcmp(argv[1], "readv"))
		return shown(readv(filled(), &io, 1), end, 4);
	else if (!strcmp(argv[1], "getcwd"))
		return shown(syscall(SYS_getcwd, end + 2, 100), end, 4);
	else if (!strcmp(argv[1], "capset")) {
		struct __user_cap_header_struct h = {.version = 1};
		return shown(syscall(SYS_capset, &h, out), &h, sizeof(h));
	}
	return 0;
}
