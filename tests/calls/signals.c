/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals, timers and clocks. */
#include "calls.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>

static volatile sig_atomic_t caught;

static void on_signal(int signo)
{
	caught = signo;
}

static void block(int signo, sigset_t *set)
{
	sigemptyset(set), sigaddset(set, signo);
	SEE(sigprocmask(SIG_BLOCK, set, NULL) == 0);
}

/* The kernel's own structure. */
struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

RECIPE(rt_sigaction)
{
	struct action *old = out(sizeof(*old)), now;

	signal(SIGUSR1, on_signal);
	SEE(OK(rt_sigaction, SIGUSR1, NULL, old, 8) == 0 && old->handler == on_signal);
	now = *old;
	now.handler = SIG_IGN;
	SEE(OK(rt_sigaction, SIGUSR1, &now, old, 8) == 0);
	raise(SIGUSR1);
	SEE(!caught);
	old->handler = on_signal;
	SEE(OK(rt_sigaction, SIGUSR1, old, old, 8) == 0 && old->handler == SIG_IGN);
	raise(SIGUSR1);
	SEE(caught == SIGUSR1);
}

RECIPE(rt_sigprocmask)
{
	uint64_t *old = out(8), set = 1 << (SIGUSR1 - 1);

	SEE(OK(rt_sigprocmask, SIG_BLOCK, &set, old, 8) == 0 && *old == 0);
	SEE(OK(rt_sigprocmask, SIG_BLOCK, NULL, old, 8) == 0 && *old == set);
	/* old and new in one place */
	*old = 1 << (SIGUSR2 - 1);
	SEE(OK(rt_sigprocmask, SIG_SETMASK, old, old, 8) == 0 && *old == set);
	signal(SIGUSR2, on_signal);
	raise(SIGUSR2);
	set = 0;
	SEE(!caught && OK(rt_sigprocmask, SIG_SETMASK, &set, old, 8) == 0 && caught == SIGUSR2);
}

RECIPE(rt_sigreturn)
{
	struct sigaction a = {.sa_handler = on_signal};

	sigaction(SIGUSR1, &a, NULL);
	only_fails("it is the C library that makes it, when the handler returns");
	raise(SIGUSR1);
	SEE(caught == SIGUSR1);
	last_call();
	exit(0);
}

RECIPE(rt_sigpending)
{
	uint64_t *set = out(8);
	sigset_t blocked;

	block(SIGUSR1, &blocked);
	raise(SIGUSR1);
	SEE(OK(rt_sigpending, set, 8) == 0 && *set == 1 << (SIGUSR1 - 1));
}

RECIPE(rt_sigtimedwait)
{
	siginfo_t *info = out(sizeof(*info));
	struct timespec soon = {0, 1000};
	sigset_t set;

	block(SIGUSR1, &set);
	raise(SIGUSR1);
	SEE(OK(rt_sigtimedwait, &set, info, NULL, 8) == SIGUSR1);
	SEE(info->si_pid == getpid());
	FAILS(EAGAIN, rt_sigtimedwait, &set, info, &soon, 8);
}

static void see_queued(int signo)
{
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set), sigaddset(&set, signo);
	SEE(sigwaitinfo(&set, &info) == signo && info.si_value.sival_int == 99);
}

static siginfo_t queued(int signo)
{
	siginfo_t info = {.si_signo = signo, .si_code = SI_QUEUE};

	info.si_pid = getpid();
	info.si_value.sival_int = 99;
	return info;
}

RECIPE(rt_sigqueueinfo)
{
	siginfo_t info = queued(SIGUSR1);
	sigset_t set;

	block(SIGUSR1, &set);
	SEE(OK(rt_sigqueueinfo, getpid(), SIGUSR1, &info) == 0);
	see_queued(SIGUSR1);
}

RECIPE(rt_tgsigqueueinfo)
{
	siginfo_t info = queued(SIGUSR1);
	sigset_t set;

	block(SIGUSR1, &set);
	SEE(OK(rt_tgsigqueueinfo, getpid(), getpid(), SIGUSR1, &info) == 0);
	see_queued(SIGUSR1);
}

RECIPE(rt_sigsuspend)
{
	uint64_t none = 0;
	sigset_t set;

	only_fails("it returns by a signal only");
	signal(SIGUSR1, on_signal);
	block(SIGUSR1, &set);
	raise(SIGUSR1);
	FAILS(EINTR, rt_sigsuspend, &none, 8);
	SEE(caught == SIGUSR1);
}

RECIPE(sigaltstack)
{
	static char stack[16384];
	stack_t now = {.ss_sp = stack, .ss_size = sizeof(stack)}, *old = out(sizeof(*old));

	SEE(OK(sigaltstack, &now, old) == 0 && old->ss_flags == SS_DISABLE);
	SEE(OK(sigaltstack, NULL, old) == 0 && old->ss_sp == stack);
}

static void in_a_moment(void)
{
	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 3000}, {0, 3000}}, NULL);
}

RECIPE(pause)
{
	only_fails("it returns by a signal only");
	in_a_moment();
	FAILS(EINTR, pause);
	SEE(caught == SIGALRM);
}

RECIPE(restart_syscall)
{
	only_fails("it is the kernel that makes it");
	FAILS(EINTR, restart_syscall);
}

RECIPE(alarm)
{
	SEE(OK(alarm, 100) == 0);
	SEE(OK(alarm, 0) == 100);
}

static const struct itimerval far = {{5, 0}, {100, 0}};

RECIPE(setitimer)
{
	struct itimerval *old = out(sizeof(*old));

	SEE(OK(setitimer, ITIMER_REAL, &far, old) == 0 && all_zero(old, sizeof(*old)));
	SEE(OK(setitimer, ITIMER_REAL, &far, old) == 0 && old->it_interval.tv_sec == 5);
}

RECIPE(getitimer)
{
	struct itimerval *now = out(sizeof(*now));

	setitimer(ITIMER_REAL, &far, NULL);
	SEE(OK(getitimer, ITIMER_REAL, now) == 0 && now->it_interval.tv_sec == 5);
}

RECIPE(nanosleep)
{
	struct timespec *left = out(sizeof(*left));

	for (int i = 0; i < 3; i++)
		SEE(OK(nanosleep, &((struct timespec){0, 1000}), left) == 0);
	FAILS(EINVAL, nanosleep, &((struct timespec){0, 1000000000}), left);
	FAILS(EFAULT, nanosleep, 8, left);
	in_a_moment();
	FAILS(EINTR, nanosleep, &((struct timespec){100, 0}), left);
	SEE(left->tv_sec >= 20 &&
	    left->tv_sec <= 100); /* a machine may be slow; the timer has 50 us to spare */
}

RECIPE(clock_nanosleep)
{
	struct timespec *left = out(sizeof(*left));

	for (int i = 0; i < 3; i++)
		SEE(OK(clock_nanosleep, CLOCK_MONOTONIC, 0, &((struct timespec){0, 1000}), left) ==
		    0);
	FAILS(EINVAL, clock_nanosleep, CLOCK_MONOTONIC, 0, &((struct timespec){0, 1000000000}),
	      left);
	FAILS(EFAULT, clock_nanosleep, CLOCK_MONOTONIC, 0, 8, left);
	struct timespec until;
	SEE(clock_gettime(CLOCK_MONOTONIC, &until) == 0);
	until.tv_sec -= 10;
	SEE(OK(clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &until, left) == 0);
	until.tv_sec += 10;
	until.tv_nsec += until.tv_nsec < 990000000 ? 2000000 : 0;
	SEE(OK(clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &until, left) == 0);
	SEE(OK(clock_nanosleep, CLOCK_REALTIME, 0, &((struct timespec){0, 1000}), left) == 0);
	FAILS(EINVAL, clock_nanosleep, 99, 0, &((struct timespec){0, 1000}), left);
	in_a_moment();
	FAILS(EINTR, clock_nanosleep, CLOCK_MONOTONIC, 0, &((struct timespec){100, 0}), left);
	SEE(left->tv_sec >= 20 &&
	    left->tv_sec <= 100); /* a machine may be slow; the timer has 50 us to spare */
}

static const struct itimerspec later = {{5, 0}, {100, 0}};

static int timer(int *id)
{
	struct sigevent e = {.sigev_notify = SIGEV_NONE};

	return (int)syscall(SYS_timer_create, CLOCK_MONOTONIC, &e, id);
}

RECIPE(timer_create)
{
	struct sigevent e = {.sigev_notify = SIGEV_NONE};
	int *id = out(4);

	SEE(OK(timer_create, CLOCK_MONOTONIC, &e, id) == 0 && *id >= 0);
}

RECIPE(timer_settime)
{
	struct itimerspec *old = out(sizeof(*old));
	int id;

	SEE(timer(&id) == 0);
	SEE(OK(timer_settime, id, 0, &later, old) == 0 && all_zero(old, sizeof(*old)));
	SEE(OK(timer_settime, id, 0, &later, old) == 0 && old->it_interval.tv_sec == 5);
}

RECIPE(timer_gettime)
{
	struct itimerspec *now = out(sizeof(*now));
	int id;

	SEE(timer(&id) == 0);
	syscall(SYS_timer_settime, id, 0, &later, NULL);
	SEE(OK(timer_gettime, id, now) == 0 && now->it_interval.tv_sec == 5);
}

RECIPE(timer_getoverrun)
{
	int id;

	SEE(timer(&id) == 0);
	SEE(OK(timer_getoverrun, id) == 0);
}

RECIPE(timer_delete)
{
	int id;

	SEE(timer(&id) == 0);
	SEE(OK(timer_delete, id) == 0);
	FAILS(EINVAL, timer_delete, id);
}

RECIPE(clock_gettime)
{
	struct timespec *t = out(sizeof(*t));

	SEE(OK(clock_gettime, CLOCK_REALTIME, t) == 0 && t->tv_sec > 1600000000);
}

RECIPE(clock_getres)
{
	struct timespec *t = out(sizeof(*t));

	SEE(OK(clock_getres, CLOCK_MONOTONIC, t) == 0 && t->tv_sec == 0);
}

RECIPE(clock_settime)
{
	only_fails("the machine's clock is not ours");
	FAILS(EINVAL, clock_settime, CLOCK_REALTIME, &((struct timespec){-5, 0}));
}

RECIPE(clock_adjtime)
{
	struct timex *t = inout(&(struct timex){0}, sizeof(*t));

	SEE(OK(clock_adjtime, CLOCK_REALTIME, t) >= 0 && t->tick > 0);
}

RECIPE(adjtimex)
{
	struct timex *t = inout(&(struct timex){0}, sizeof(*t));

	SEE(OK(adjtimex, t) >= 0 && t->tick > 0);
}

RECIPE(gettimeofday)
{
	struct timeval *t = out(sizeof(*t));
	int *zone = out(8);

	SEE(OK(gettimeofday, t, zone) == 0 && t->tv_sec > 1600000000);
}

RECIPE(settimeofday)
{
	only_fails("the machine's clock is not ours");
	FAILS(EINVAL, settimeofday, &((struct timeval){0, 5000000}), NULL);
}

RECIPE(time)
{
	long *t = out(8), r = OK(time, t);

	SEE(r == *t && r > 1600000000);
}

RECIPE(times)
{
	SEE(OK(times, out(sizeof(struct tms))) != 0);
}
