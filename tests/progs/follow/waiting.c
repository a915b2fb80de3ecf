/* What can be waited for from several processes: epoll over pipes of many children, eventfd, timerfd, signalfd, pidfd and
 * inotify, inherited descriptors included; record locks and flock. */
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

enum { CHILDREN = 5 };

static int ev, lock_fd;

static int says(void *arg)
{
	int fd = *(int *)arg;

	for (int i = 0; i < 4; i++) {
		usleep(1000);
		CHECK(write(fd, "x", 1) == 1);
	}
	return 111;
}

static void many(void)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), fds[CHILDREN][2], open_ends = CHILDREN, bytes = 0;
	pid_t pid[CHILDREN];
	struct epoll_event got[3];
	char b[16];

	for (int i = 0; i < CHILDREN; i++) {
		struct epoll_event e = {EPOLLIN, {.u32 = (uint32_t)i}};
		CHECK(pipe(fds[i]) == 0 && epoll_ctl(ep, EPOLL_CTL_ADD, fds[i][0], &e) == 0);
		pid[i] = child(says, &fds[i][1]);
		close(fds[i][1]);
	}
	while (open_ends) {
		int n = epoll_wait(ep, got, 3, -1);
		CHECK(n > 0);
		for (int i = 0; i < n; i++) {
			ssize_t len = read(fds[got[i].data.u32][0], b, sizeof(b));
			bytes += (int)len;
			if (len == 0) { /* the other children have it open, too */
				CHECK(epoll_ctl(ep, EPOLL_CTL_DEL, fds[got[i].data.u32][0], NULL) == 0);
				close(fds[got[i].data.u32][0]);
				open_ends--;
			}
		}
	}
	CHECK(bytes == 4 * CHILDREN);
	for (int i = 0; i < CHILDREN; i++)
		ends_with(pid[i], 111);
}

static int counts_up(void *arg)
{
	uint64_t n = 3;

	for (int i = 0; i < 5; i++)
		CHECK(write(ev, &n, sizeof(n)) == sizeof(n));
	return 112;
}

static void descriptors(void)
{
	struct itimerspec when = {{0, 2000000}, {0, 2000000}};
	uint64_t n, sum = 0;
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	struct signalfd_siginfo info;
	sigset_t set;

	CHECK((ev = eventfd(0, EFD_CLOEXEC)) >= 0);
	pid_t pid = child(counts_up, NULL);
	while (sum < 15) {
		CHECK(read(ev, &n, sizeof(n)) == sizeof(n));
		sum += n;
	}
	ends_with(pid, 112);
	CHECK(sum == 15 && timerfd_settime(timer, 0, &when, NULL) == 0);
	for (sum = 0; sum < 3; sum += n)
		CHECK(read(timer, &n, sizeof(n)) == sizeof(n));

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int sfd = signalfd(-1, &set, SFD_CLOEXEC);
	pid = child(counts_up, NULL);
	CHECK(read(sfd, &info, sizeof(info)) == sizeof(info));
	CHECK(info.ssi_signo == SIGCHLD && info.ssi_pid == (uint32_t)pid && info.ssi_status == 112);
	ends_with(pid, 112);

	pid = child(counts_up, NULL);
	struct pollfd p = {(int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0};
	CHECK(p.fd >= 0 && poll(&p, 1, -1) == 1 && p.revents == POLLIN);
	ends_with(pid, 112);
	CHECK(syscall(SYS_pidfd_send_signal, p.fd, SIGTERM, NULL, 0) == -1 && errno == ESRCH);
}

static int touches(void *arg)
{
	int fd = open("file", O_CREAT | O_WRONLY, 0600);

	CHECK(fd >= 0 && write(fd, "1", 1) == 1 && close(fd) == 0);
	CHECK(rename("file", "other") == 0 && unlink("other") == 0);
	return 113;
}

static void files(void)
{
	char dir[] = "/tmp/lizard-waiting-XXXXXX";
	union {
		struct inotify_event e;
		char bytes[4096];
	} b;
	uint32_t seen = 0, want = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE;
	int in = inotify_init1(0);

	CHECK(mkdtemp(dir) && chdir(dir) == 0 && inotify_add_watch(in, ".", want) == 1);
	pid_t pid = child(touches, NULL);
	while (!(seen & IN_DELETE)) {
		ssize_t n = read(in, &b, sizeof(b));
		CHECK(n > 0);
		for (char *at = b.bytes; at < b.bytes + n;) {
			struct inotify_event e;
			memcpy(&e, at, sizeof(e));
			seen |= e.mask;
			at += sizeof(e) + e.len;
		}
	}
	CHECK(seen == want && chdir("/") == 0 && rmdir(dir) == 0);
	ends_with(pid, 113);
}

static int holds(void *arg)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 5};
	int *fds = arg;

	CHECK(fcntl(lock_fd, F_SETLK, &l) == 0 && write(fds[1], "h", 1) == 1);
	usleep(20000);
	return pwrite(lock_fd, "held", 4, 10) == 4 ? 114 : 1; /* its end unlocks */
}

static int holds_all(void *arg)
{
	int *fds = arg, fd = open("/proc/self/exe", O_RDONLY);

	CHECK(flock(fd, LOCK_EX) == 0 && write(fds[1], "h", 1) == 1);
	usleep(20000);
	return 115;
}

static void locks(void)
{
	struct flock l = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 12, .l_len = 1};
	char name[] = "/tmp/lizard-locks-XXXXXX", b[4];
	int fds[2], fd = open("/proc/self/exe", O_RDONLY);

	CHECK((lock_fd = mkstemp(name)) >= 0 && unlink(name) == 0 && pipe(fds) == 0);
	pid_t pid = child(holds, fds);
	CHECK(read(fds[0], b, 1) == 1 && fcntl(lock_fd, F_GETLK, &l) == 0);
	CHECK(l.l_type == F_WRLCK && l.l_pid == pid && l.l_start == 10);
	l = (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 12, .l_len = 1};
	CHECK(fcntl(lock_fd, F_SETLKW, &l) == 0 && pread(lock_fd, b, 4, 10) == 4 && !memcmp(b, "held", 4));
	ends_with(pid, 114);
	pid = child(holds_all, fds);
	CHECK(read(fds[0], b, 1) == 1 && flock(fd, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK);
	CHECK(flock(fd, LOCK_EX) == 0);
	ends_with(pid, 115);
}

int main(void)
{
	many();
	descriptors();
	files();
	locks();
	DONE();
}
