/* A file that is mapped shared, to read only, and a child that has, or has not, what it takes to store there. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static const char *path;
static size_t size;
static unsigned sum;

static unsigned char *map(int prot, int fd)
{
	unsigned char *mem = mmap(NULL, size, prot, MAP_SHARED, fd, 0);

	if (mem == MAP_FAILED)
		exit(2);
	return mem;
}

static void look(const volatile unsigned char *mem)
{
	for (size_t i = 0; i < size; i += 4096)
		sum = sum * 31 + mem[i];
}

/* The child has another program at once. */
static void read_only(void)
{
	const unsigned char *mem = map(PROT_READ, open(path, O_RDONLY));
	char *args[] = {"true", NULL};
	pid_t child;

	look(mem);
	if (posix_spawnp(&child, "true", NULL, NULL, args, environ) || waitpid(child, NULL, 0) < 0)
		exit(2);
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	look(mem);
}

static void send_fd(int to, int fd, int several)
{
	union {
		struct cmsghdr h;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.h = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec one = {"", 1};
	struct msghdr m = {.msg_iov = &one,
	                   .msg_iovlen = 1,
	                   .msg_control = &control,
	                   .msg_controllen = sizeof(control)};

	struct mmsghdr second[2] = {{m}, {m}};

	memcpy(CMSG_DATA(&control.h), &fd, sizeof(fd));
	second[0].msg_hdr.msg_controllen = 0;
	if (several ? sendmmsg(to, second, 2, 0) != 2 : sendmsg(to, &m, 0) != 1)
		exit(2);
}

static int receive_fd(int from)
{
	char bytes[CMSG_SPACE(sizeof(int))], c;
	struct iovec one = {&c, 1};
	struct msghdr m = {.msg_iov = &one,
	                   .msg_iovlen = 1,
	                   .msg_control = bytes,
	                   .msg_controllen = sizeof(bytes)};
	int fd;

	if (recvmsg(from, &m, 0) != 1)
		exit(2);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

static void child(unsigned char *mem, int from, int to)
{
	char c;

	while (read(from, &c, 1) == 1 && c < 5) {
		mem[4096] = (unsigned char)(c + 100);
		if (write(to, &c, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void stored_by_child(const char *way)
{
	int there[2], back[2], sockets[2], fd = -1;
	unsigned char *mem = NULL;
	char c, proc[64];

	if (pipe(there) < 0 || pipe(back) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
		exit(2);
	if (strcmp(way, "made-writable") == 0)
		mem = map(PROT_READ, open(path, O_RDWR));
	else if (strcmp(way, "then-read-only") == 0)
		mem = map(PROT_READ | PROT_WRITE, open(path, O_RDWR));
	else if (strcmp(way, "mapped-later") == 0)
		fd = open(path, O_RDWR);
	else if (strcmp(way, "by-descriptor") == 0)
		mem = map(PROT_READ, open(path, O_RDONLY)), fd = open(path, O_RDWR);
	else if (strcmp(way, "unlinked") == 0)
		fd = open(path, O_RDONLY), unlink(path), mem = map(PROT_READ, fd);
	if (mem)
		look(mem);
	if (fork() == 0) {
		if (strncmp(way, "sent", 4) == 0) {
			if (way[4] && read(sockets[1], &c, 1) != 1)
				_exit(1);
			fd = receive_fd(sockets[1]);
		} else if (strcmp(way, "unlinked") == 0) {
			snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
			fd = open(proc, O_RDWR);
		}
		if (fd >= 0)
			mem = map(PROT_READ | PROT_WRITE, fd);
		else
			mprotect(mem, size, PROT_READ | PROT_WRITE);
		child(mem, there[0], back[1]);
	}
	if (!mem)
		look(mem = map(PROT_READ, open(path, O_RDONLY)));
	if (strncmp(way, "sent", 4) == 0)
		send_fd(sockets[0], open(path, O_RDWR), way[4]);
	mprotect(mem, size, PROT_READ);
	for (char i = 0; i < 6; i++) {
		if (write(there[1], &i, 1) != 1)
			exit(3);
		if (i < 5 && (read(back[0], &c, 1) != 1 || mem[4096] != i + 100))
			exit(4);
	}
	wait(NULL);
	look(mem);
}

int main(int argc, char **argv)
{
	path = argv[2];
	size = (size_t)atol(argv[3]);
	if (strcmp(argv[1], "read-only") == 0)
		read_only();
	else
		stored_by_child(argv[1]);
	printf("%s: all is well, %x\n", argv[1], sum);
	return 0;
}
