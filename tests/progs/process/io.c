/* System calls that write into memory in many shapes. */
#include "selfcheck.h"
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

static void vectors(void)
{
	int fd[2];
	char a[3], b[10];
	struct iovec out[2] = { { "abcde", 5 }, { "fgh", 3 } }, in[2] = { { a, 3 }, { b, 10 } };

	CHECK(pipe(fd) == 0 && writev(fd[1], out, 2) == 8);
	int n = 0;
	CHECK(ioctl(fd[0], FIONREAD, &n) == 0 && n == 8);
	CHECK(readv(fd[0], in, 2) == 8 && !memcmp(a, "abc", 3) && !memcmp(b, "defgh", 5));
	close(fd[0]);
	close(fd[1]);
}

static void messages(void)
{
	int sv[2], passed = -1;
	char control[CMSG_SPACE(sizeof(int))] = "", byte = 'm', got = 0;
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof control };

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sv) == 0);
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &(int){ 0 }, sizeof(int));
	CHECK(sendmsg(sv[0], &m, 0) == 1);
	io.iov_base = &got;
	memset(control, 0, sizeof control);
	m.msg_controllen = sizeof control;
	CHECK(recvmsg(sv[1], &m, 0) == 1 && got == 'm');
	memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof passed);
	CHECK(passed > 2 && fcntl(passed, F_GETFD) >= 0);
	struct sockaddr_un name;
	socklen_t len = sizeof name;
	CHECK(getsockname(sv[0], (struct sockaddr *)&name, &len) == 0 && name.sun_family == AF_UNIX);
	int type = 0;
	len = sizeof type;
	CHECK(getsockopt(sv[0], SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM);
}

static void waiting(void)
{
	int fd[2], ep = epoll_create1(0), ev = eventfd(0, 0);
	struct epoll_event e = { EPOLLIN, { .u32 = 42 } }, ready[4];
	fd_set set;
	struct timeval tv = { 1, 0 };
	unsigned long long one = 1, count = 0;

	CHECK(pipe(fd) == 0 && ep >= 0 && ev >= 0);
	CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &e) == 0 && epoll_wait(ep, ready, 4, 0) == 0);
	CHECK(write(fd[1], "x", 1) == 1);
	CHECK(epoll_wait(ep, ready, 4, 1000) == 1 && ready[0].data.u32 == 42);
	FD_ZERO(&set);
	FD_SET(fd[0], &set);
	CHECK(select(fd[0] + 1, &set, NULL, NULL, &tv) == 1 && FD_ISSET(fd[0], &set));
	struct pollfd p[2] = { { fd[0], POLLIN, 0 }, { fd[1], POLLOUT, 0 } };
	CHECK(poll(p, 2, 0) == 2 && (p[0].revents & POLLIN) && (p[1].revents & POLLOUT));
	CHECK(write(ev, &one, 8) == 8 && read(ev, &count, 8) == 8 && count == 1);
}

static void questions(void)
{
	struct stat st;
	struct statvfs vfs;
	struct utsname u;
	struct rusage ru;
	struct tms tms;
	struct sysinfo si;
	char path[4096], line[512];
	int lines = 0, entries = 0;

	CHECK(stat("/proc/self/exe", &st) == 0 && S_ISREG(st.st_mode));
	CHECK(statvfs("/", &vfs) == 0 && uname(&u) == 0 && !strcmp(u.sysname, "Linux"));
	CHECK(getrusage(RUSAGE_SELF, &ru) == 0 && times(&tms) != (clock_t)-1 && sysinfo(&si) == 0);
	CHECK(getcwd(path, sizeof path) && readlink("/proc/self/exe", path, sizeof path) > 0);
	FILE *f = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof line, f))
		lines++;
	fclose(f);
	DIR *d = opendir("/usr/bin");
	while (readdir(d))
		entries++;
	closedir(d);
	CHECK(lines > 5 && entries > 50);
	struct winsize w;
	(void)ioctl(1, TIOCGWINSZ, &w);
}

int main(void)
{
	for (int i = 0; i < 10; i++) {
		vectors();
		messages();
		waiting();
		questions();
	}
	DONE();
}
