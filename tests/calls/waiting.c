/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waiting for descriptors, and descriptors to wait for. */
#include "calls.h"

#include <sys/fanotify.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>

/* A pipe that can be read and one that can't. */
static void ready(int *yes, int *no)
{
	int p[2], q[2];

	pair(p), pair(q);
	SEE(write(p[1], "x", 1) == 1);
	*yes = p[0];
	*no = q[0];
}

static const struct timespec soon = {0, 2000000};

RECIPE(poll)
{
	int yes, no;

	ready(&yes, &no);
	struct pollfd *p = inout((struct pollfd[2]){{no, POLLIN, 0x7f}, {yes, POLLIN, 0x7f}}, 16);
	SEE(OK(poll, p, 2, 1000) == 1);
	SEE(p[0].revents == 0 && p[1].revents == POLLIN);
	SEE(OK(poll, p, 1, 1) == 0);
}

RECIPE(ppoll)
{
	int yes, no;

	ready(&yes, &no);
	struct pollfd *p = inout((struct pollfd[2]){{no, POLLIN, 0x7f}, {yes, POLLIN, 0x7f}}, 16);
	struct timespec *t = inout(&soon, sizeof(soon));
	SEE(OK(ppoll, p, 1, t, NULL, 8) == 0);
	SEE(all_zero(t, 16));
	SEE(OK(ppoll, p, 2, NULL, NULL, 8) == 1 && p[1].revents == POLLIN);
}

RECIPE(select)
{
	int yes, no;
	fd_set set;

	ready(&yes, &no);
	FD_ZERO(&set);
	FD_SET(yes, &set);
	FD_SET(no, &set);
	fd_set *r = inout(&set, 8), *w = inout(&set, 8), *x = inout(&set, 8);
	long *t = inout((long[2]){0, 5000}, 16);
	SEE(OK(select, (yes > no ? yes : no) + 1, r, w, x, t) == 1);
	SEE(FD_ISSET(yes, r) && !FD_ISSET(no, r));
	FD_ZERO(&set);
	FD_SET(no, &set);
	memcpy(r, &set, 8);
	SEE(OK(select, no + 1, r, NULL, NULL, t) == 0 && t[1] == 0);
}

RECIPE(pselect6)
{
	int yes, no;
	fd_set set;

	ready(&yes, &no);
	FD_ZERO(&set);
	FD_SET(yes, &set);
	FD_SET(no, &set);
	fd_set *r = inout(&set, 8), *w = inout(&set, 8), *x = inout(&set, 8);
	struct timespec *t = inout(&soon, sizeof(soon));
	SEE(OK(pselect6, (yes > no ? yes : no) + 1, r, w, x, t, NULL) == 1);
	SEE(FD_ISSET(yes, r) && !FD_ISSET(no, r) && !FD_ISSET(yes, w) && !FD_ISSET(no, x));
}

static int epoll(int *fd)
{
	int yes, no, e = epoll_create1(0);
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = 0x1234567890abcdef};

	ready(&yes, &no);
	SEE(epoll_ctl(e, EPOLL_CTL_ADD, yes, &ev) == 0);
	if (fd)
		*fd = no;
	return e;
}

RECIPE(epoll_create)
{
	SEE(OK(epoll_create, 5) >= 0);
}

RECIPE(epoll_create1)
{
	SEE(fcntl((int)OK(epoll_create1, EPOLL_CLOEXEC), F_GETFD) == FD_CLOEXEC);
}

RECIPE(epoll_ctl)
{
	int no, e = epoll(&no);
	struct epoll_event ev = {.events = EPOLLIN};

	SEE(OK(epoll_ctl, e, EPOLL_CTL_ADD, no, &ev) == 0);
	FAILS(EEXIST, epoll_ctl, e, EPOLL_CTL_ADD, no, &ev);
}

RECIPE(epoll_wait)
{
	struct epoll_event *ev = out(3 * sizeof(*ev));

	SEE(OK(epoll_wait, epoll(NULL), ev, 3, 1000) == 1);
	SEE(ev->data.u64 == 0x1234567890abcdef && ev->events == EPOLLIN);
}

RECIPE(epoll_pwait)
{
	struct epoll_event *ev = out(3 * sizeof(*ev));

	SEE(OK(epoll_pwait, epoll(NULL), ev, 3, 1000, NULL, 8) == 1);
	SEE(ev->data.u64 == 0x1234567890abcdef);
}

RECIPE(epoll_pwait2)
{
	struct epoll_event *ev = out(3 * sizeof(*ev));

	SEE(OK(epoll_pwait2, epoll(NULL), ev, 3, &soon, NULL, 8) == 1);
	SEE(ev->data.u64 == 0x1234567890abcdef);
}

RECIPE(eventfd)
{
	uint64_t n = 0;

	SEE(read((int)OK(eventfd, 5), &n, 8) == 8 && n == 5);
}

RECIPE(eventfd2)
{
	uint64_t n = 0;
	int fd = OK(eventfd2, 5, EFD_SEMAPHORE);

	SEE(read(fd, &n, 8) == 8 && n == 1);
}

static int blocked_signal(sigset_t *set)
{
	sigemptyset(set), sigaddset(set, SIGUSR1);
	SEE(sigprocmask(SIG_BLOCK, set, NULL) == 0);
	return raise(SIGUSR1);
}

RECIPE(signalfd)
{
	struct signalfd_siginfo info = {0};
	sigset_t set;

	SEE(blocked_signal(&set) == 0);
	SEE(read((int)OK(signalfd, -1, &set, 8), &info, sizeof(info)) == sizeof(info));
	SEE(info.ssi_signo == SIGUSR1);
}

RECIPE(signalfd4)
{
	struct signalfd_siginfo info = {0};
	sigset_t set;

	SEE(blocked_signal(&set) == 0);
	SEE(read((int)OK(signalfd4, -1, &set, 8, SFD_CLOEXEC), &info, sizeof(info)) ==
	    sizeof(info));
	SEE(info.ssi_signo == SIGUSR1);
}

static const struct itimerspec later = {{5, 0}, {100, 0}};

RECIPE(timerfd_create)
{
	uint64_t n = 0;
	int fd = OK(timerfd_create, CLOCK_MONOTONIC, 0);

	SEE(timerfd_settime(fd, 0, &(struct itimerspec){{0, 0}, {0, 1000}}, NULL) == 0);
	SEE(read(fd, &n, 8) == 8 && n == 1);
}

RECIPE(timerfd_settime)
{
	struct itimerspec *old = out(sizeof(*old));
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	SEE(OK(timerfd_settime, fd, 0, &later, old) == 0 && all_zero(old, sizeof(*old)));
	SEE(OK(timerfd_settime, fd, 0, &later, old) == 0 && old->it_interval.tv_sec == 5);
}

RECIPE(timerfd_gettime)
{
	struct itimerspec *now = out(sizeof(*now));
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	timerfd_settime(fd, 0, &later, NULL);
	SEE(OK(timerfd_gettime, fd, now) == 0 && now->it_interval.tv_sec == 5);
}

static void notified(int fd, int wd)
{
	struct inotify_event e[8] = {0};

	file("f", "abc");
	SEE(read(fd, e, sizeof(e)) > 0 && e[0].wd == wd);
}

RECIPE(inotify_init)
{
	int fd = OK(inotify_init);

	notified(fd, inotify_add_watch(fd, ".", IN_CREATE));
}

RECIPE(inotify_init1)
{
	int fd = OK(inotify_init1, IN_CLOEXEC);

	notified(fd, inotify_add_watch(fd, ".", IN_CREATE));
}

RECIPE(inotify_add_watch)
{
	int fd = inotify_init();

	notified(fd, (int)OK(inotify_add_watch, fd, ".", IN_CREATE));
}

RECIPE(inotify_rm_watch)
{
	int fd = inotify_init(), wd = inotify_add_watch(fd, ".", IN_CREATE);
	struct inotify_event e = {0};

	SEE(OK(inotify_rm_watch, fd, wd) == 0);
	SEE(read(fd, &e, sizeof(e)) == sizeof(e) && e.mask & IN_IGNORED);
}

RECIPE(fanotify_init)
{
	SEE(PRIV(fanotify_init, FAN_CLASS_NOTIF, O_RDONLY) >= 0);
}

RECIPE(fanotify_mark)
{
	int fd = (int)syscall(SYS_fanotify_init, FAN_CLASS_NOTIF | FAN_NONBLOCK, O_RDONLY);
	struct fanotify_event_metadata m = {0};

	if (fd < 0)
		skip("no fanotify for this user");
	file("f", "abc");
	PRIV(fanotify_mark, fd, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, "f");
	open("f", O_RDONLY);
	SEE(read(fd, &m, sizeof(m)) == sizeof(m) && m.mask == FAN_OPEN && m.fd >= 0);
}
