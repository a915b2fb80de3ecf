/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many system calls, the same in each run; strace's lines are compared with those of lizard strace, from the
 * first getppid() on. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/stat.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int handled;

static void on_signal(int signo)
{
	handled += signo;
}

static void on_info(int signo, siginfo_t *si, void *context)
{
	handled += signo + si->si_int;
	(void)context;
}

static void files(const char *folder)
{
	char buf[300], name[300];
	struct stat st;
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 3, .l_len = 5};
	struct iovec v[2] = {{"one\n", 4}, {"two\0\1\0017\377\n", 9}};
	struct timespec times[2] = {{1000, 5}, {0, UTIME_OMIT}};
	struct statx sx;

	memset(buf, 'x', sizeof(buf));
	chdir(folder);
	open("nothing\there", O_RDONLY);
	int fd = open("data", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	write(fd, "a \"quoted\" \\ line\n", 18);
	write(fd, buf, 300);
	writev(fd, v, 2);
	pwrite(fd, "middle", 6, 20);
	lseek(fd, -9, SEEK_END);
	read(fd, buf, 100);
	pread(fd, buf, 12, 16);
	v[0].iov_base = buf;
	v[1].iov_base = buf + 100;
	preadv(fd, v, 2, 1);
	fstat(fd, &st);
	stat("data", &st);
	fstatat(AT_FDCWD, ".", &st, AT_SYMLINK_NOFOLLOW);
	lstat("/dev/null", &st);
	statx(AT_FDCWD, "data", AT_STATX_SYNC_AS_STAT, STATX_MODE | STATX_SIZE, &sx);
	fchmod(fd, 04711);
	fstat(fd, &st);
	umask(077);
	fcntl(fd, F_GETFL);
	fcntl(fd, F_GETFD);
	fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK);
	fcntl(fd, F_SETLK, &lock);
	fcntl(fd, F_GETLK, &lock);
	flock(fd, LOCK_EX | LOCK_NB);
	ftruncate(fd, 64);
	fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 4096);
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	fdatasync(fd);
	futimens(fd, times);
	close(fcntl(fd, F_DUPFD_CLOEXEC, 50));
	dup2(fd, 60);
	dup3(60, 61, O_CLOEXEC);
	close(60);
	close(61);
	close(fd);
	close(fd);
	mkdir("folder", 0700);
	mkdirat(AT_FDCWD, "folder", 0755);
	symlink("data", "link");
	readlink("link", name, sizeof(name));
	rename("link", "folder/link");
	renameat2(AT_FDCWD, "folder/link", AT_FDCWD, "data", RENAME_NOREPLACE);
	unlink("folder/link");
	access("data", R_OK | W_OK);
	faccessat(AT_FDCWD, "none", F_OK, 0);
	truncate("data", 10);
	DIR *d = opendir("folder");
	while (readdir(d))
		;
	closedir(d);
	unlinkat(AT_FDCWD, "folder", AT_REMOVEDIR);
	ioctl(0, TCGETS, buf);
	int in = open("data", O_RDONLY), out = creat("copy", 0600);
	off_t at = 2;
	sendfile(out, in, &at, 4);
	ioctl(in, FIONREAD, &at);
	close(in);
	close(out);
	unlink("copy");
	unlink("data");
	int watch = inotify_init1(IN_CLOEXEC);
	inotify_add_watch(watch, ".", IN_CREATE | IN_DELETE);
	close(watch);
}

static void waiting(void)
{
	int p[2];
	struct pollfd polled[2];
	struct epoll_event e = {EPOLLIN | EPOLLET, {.u64 = 7}}, got[4];
	struct timeval soon = {0, 1000};
	struct timespec moment = {0, 1000};
	struct itimerspec timer = {{0, 0}, {100, 5}};
	fd_set set;

	pipe2(p, O_CLOEXEC);
	polled[0] = (struct pollfd){p[0], POLLIN | POLLPRI, 0};
	polled[1] = (struct pollfd){p[1], POLLOUT, 0};
	poll(polled, 2, 100);
	poll(polled, 1, 1);
	write(p[1], "x", 1);
	poll(polled, 2, -1);
	FD_ZERO(&set);
	FD_SET(p[0], &set);
	syscall(SYS_select, p[0] + 1, &set, NULL, NULL, NULL);
	FD_ZERO(&set);
	FD_SET(p[0], &set);
	int ep = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e);
	epoll_wait(ep, got, 4, 0);
	epoll_ctl(ep, EPOLL_CTL_DEL, p[0], NULL);
	close(ep);
	close(eventfd(3, EFD_NONBLOCK | EFD_CLOEXEC));
	int t = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	timerfd_settime(t, 0, &timer, NULL);
	close(t);
	nanosleep(&moment, NULL);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
	close(p[0]);
	close(p[1]);
	(void)soon;
}

static void sockets(const char *folder)
{
	int s[2], on = 1;
	struct sockaddr_un u = {.sun_family = AF_UNIX};
	struct sockaddr_in i = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(5), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	char buf[100];
	struct iovec v[2] = {{"hello, ", 7}, {"world", 5}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
	socklen_t len = sizeof(on);

	socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s);
	send(s[0], "some text", 9, MSG_NOSIGNAL);
	recv(s[1], buf, sizeof(buf), MSG_DONTWAIT);
	recv(s[1], buf, sizeof(buf), MSG_DONTWAIT);
	sendmsg(s[0], &m, MSG_NOSIGNAL);
	v[0].iov_base = buf;
	v[1].iov_base = buf + 50;
	recvmsg(s[1], &m, 0);
	shutdown(s[0], SHUT_WR);
	close(s[0]);
	close(s[1]);
	strcpy(u.sun_path, "no-such-socket");
	s[0] = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	connect(s[0], (struct sockaddr *)&u, sizeof(u));
	close(s[0]);
	s[0] = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
	setsockopt(s[0], SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(s[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	getsockopt(s[0], SOL_SOCKET, SO_TYPE, &on, &len);
	i.sin_port = htons(1);
	connect(s[0], (struct sockaddr *)&i, sizeof(i));
	connect(s[0], (struct sockaddr *)&six, sizeof(six));
	close(s[0]);
	(void)folder;
}

static void signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_NODEFER};
	sigset_t set, old, all;
	stack_t stack = {.ss_sp = NULL, .ss_flags = SS_DISABLE, .ss_size = 0};
	union sigval value = {.sival_int = 5};

	sigemptyset(&sa.sa_mask);
	sigaddset(&sa.sa_mask, SIGHUP);
	sigaction(SIGUSR1, &sa, NULL);
	sa.sa_sigaction = on_info;
	sa.sa_flags = SA_SIGINFO;
	sigaction(SIGUSR2, &sa, NULL);
	sigaction(SIGRTMIN + 1, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &set, &old);
	kill(getpid(), SIGUSR1);
	sigqueue(getpid(), SIGUSR2, value);
	sigpending(&all);
	sigfillset(&all);
	sigdelset(&all, SIGUSR1);
	sigsuspend(&all);
	sigprocmask(SIG_SETMASK, &old, NULL);
	raise(SIGRTMIN + 1);
	sigaltstack(&stack, NULL);
}

static void memory(void)
{
	char *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	mprotect(m, 4096, PROT_NONE);
	mprotect(m, 4096, PROT_READ | PROT_EXEC);
	m = mremap(m + 4096, 4096, 16384, MREMAP_MAYMOVE);
	madvise(m, 4096, MADV_DONTNEED);
	madvise(m, 4096, MADV_NORMAL);
	msync(m, 4096, MS_SYNC | MS_INVALIDATE);
	munmap(m, 16384);
	mmap(NULL, 0, PROT_NONE, MAP_PRIVATE, -1, 0);
	mlock((void *)8, 4096);
	close(memfd_create("name", MFD_CLOEXEC));
}

static void process(void)
{
	struct rlimit limit;
	struct rusage usage;
	struct utsname name;
	struct timespec t;
	cpu_set_t cpus;
	char title[17];
	static uint32_t word = 3;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 200;
	setrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
	getrlimit(RLIMIT_CORE, &limit);
	getrusage(RUSAGE_SELF, &usage);
	getpriority(PRIO_PROCESS, 0);
	uname(&name);
	prctl(PR_SET_NAME, "another name");
	prctl(PR_GET_NAME, title);
	prctl(PR_GET_DUMPABLE);
	syscall(SYS_clock_getres, CLOCK_REALTIME, &t);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
	syscall(SYS_futex, &word, FUTEX_WAIT, 4, NULL);
	syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 4, NULL, NULL, ~0);
	sched_yield();
	sched_getscheduler(0);
	sched_get_priority_max(SCHED_FIFO);
	getuid();
	setpgid(0, -1);
	wait(NULL);
	execl("/nonexistent/program", "program", "an argument", NULL);
	(void)cpus;
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : ".";

	getppid();
	files(folder);
	waiting();
	sockets(folder);
	signals();
	memory();
	process();
	return handled == 0;
}
