/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes: making, waiting, ending, scheduling. */
#include "calls.h"

#include <asm/prctl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void see_child(long pid)
{
	int status = 0;

	if (pid == 0)
		_exit(7);
	SEE(pid > 0 && waitpid((int)pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
}

RECIPE(fork)
{
	see_child(OK(fork));
}

RECIPE(vfork)
{
	see_child(OK(vfork)); /* the child has ended before it got here: main.c */
}

RECIPE(clone)
{
	int *parent = out(4);
	long pid =
	    OK(clone, SIGCHLD | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID, NULL, parent, out(4), 0);

	if (pid)
		SEE(*parent == pid);
	see_child(pid);
	int *fd = out(4);
	pid = OK(clone, SIGCHLD | CLONE_PIDFD, NULL, fd, NULL, 0);
	if (pid)
		SEE(fcntl(*fd, F_GETFD) == FD_CLOEXEC);
	see_child(pid);
}

static char *image[3] = {"calls", "--after-exec", NULL}, *none[1];

RECIPE(execve)
{
	FAILS(ENOENT, execve, "none", image, none);
	last_call();
	OK(execve, "/proc/self/exe", image, none);
}

RECIPE(execveat)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	last_call();
	OK(execveat, fd, "", image, none, AT_EMPTY_PATH);
}

RECIPE(exit)
{
	last_call();
	SYS(exit, 0);
}

RECIPE(exit_group)
{
	last_call();
	SYS(exit_group, 0);
}

RECIPE(wait4)
{
	int pid = ended(), *status = out(4);
	struct rusage *u = out(sizeof(*u));

	SEE(OK(wait4, pid, status, 0, u) == pid);
	SEE(WEXITSTATUS(*status) == 7);
	FAILS(ECHILD, wait4, -1, status, 0, NULL);
}

RECIPE(waitid)
{
	int pid = ended();
	siginfo_t *info = out(sizeof(*info));
	struct rusage *u = out(sizeof(*u));

	SEE(OK(waitid, P_PID, pid, info, WEXITED, u) == 0);
	SEE(info->si_pid == pid && info->si_status == 7);
}

RECIPE(kill)
{
	int pid = sleeper(), status = 0;

	SEE(OK(kill, pid, SIGTERM) == 0);
	SEE(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGTERM);
}

RECIPE(tkill)
{
	int pid = sleeper(), status = 0;

	SEE(OK(tkill, pid, SIGTERM) == 0);
	SEE(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGTERM);
}

RECIPE(tgkill)
{
	int pid = sleeper(), status = 0;

	SEE(OK(tgkill, pid, pid, SIGTERM) == 0);
	SEE(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGTERM);
}

RECIPE(pidfd_open)
{
	int pid = sleeper(), fd = OK(pidfd_open, pid, 0);

	SEE(syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0);
	end_child(pid);
}

RECIPE(pidfd_send_signal)
{
	int pid = sleeper(), fd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;

	SEE(OK(pidfd_send_signal, fd, SIGTERM, NULL, 0) == 0);
	SEE(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGTERM);
}

RECIPE(pidfd_getfd)
{
	int fd = file("f", "abc"), pid = sleeper();
	int got = PRIV(pidfd_getfd, (int)syscall(SYS_pidfd_open, pid, 0), fd, 0);

	SEE(got != fd && lseek(got, 0, SEEK_END) == 3);
	end_child(pid);
}

RECIPE(getpid)
{
	int pid = OK(getpid);

	SEE(pid > 1 && kill(pid, 0) == 0);
}

RECIPE(gettid)
{
	SEE(OK(gettid) == getpid());
}

RECIPE(getppid)
{
	SEE(OK(getppid) > 0);
}

RECIPE(getpgrp)
{
	SEE(OK(getpgrp) == getpgid(0));
}

RECIPE(getpgid)
{
	SEE(OK(getpgid, 0) == getpgrp());
}

RECIPE(setpgid)
{
	if (getpgrp() == getpid())
		skip("it leads its group already");
	SEE(OK(setpgid, 0, 0) == 0);
	SEE(getpgrp() == getpid());
}

RECIPE(getsid)
{
	SEE(OK(getsid, 0) >= 0);
}

RECIPE(setsid)
{
	if (getpgrp() == getpid())
		skip("it leads its group already");
	SEE(OK(setsid) == getpid());
	SEE(getsid(0) == getpid());
}

RECIPE(set_tid_address)
{
	SEE(OK(set_tid_address, out(4)) == getpid());
}

RECIPE(set_robust_list)
{
	static struct robust_list_head head = {{&head.list}, 0, NULL};

	SEE(OK(set_robust_list, &head, sizeof(head)) == 0);
}

RECIPE(get_robust_list)
{
	static struct robust_list_head head = {{&head.list}, 0, NULL};
	void **at = out(8);
	size_t *size = out(8);

	SEE(syscall(SYS_set_robust_list, &head, sizeof(head)) == 0);
	SEE(OK(get_robust_list, 0, at, size) == 0);
	SEE(*at == &head && *size == sizeof(head));
}

RECIPE(futex)
{
	int *word = inout(&(int){5}, 4), *other = inout(&(int){0}, 4);
	struct timespec soon = {0, 1000};

	FAILS(EAGAIN, futex, word, FUTEX_WAIT, 4, NULL);
	FAILS(ETIMEDOUT, futex, word, FUTEX_WAIT, 5, &soon);
	SEE(OK(futex, word, FUTEX_WAKE, 1) == 0);
	SEE(OK(futex, word, FUTEX_WAKE_OP, 1, 1, other,
	       FUTEX_OP(FUTEX_OP_SET, 77, FUTEX_OP_CMP_EQ, 0)) == 0);
	SEE(*other == 77);
	*word = 0;
	SEE(OK(futex, word, FUTEX_LOCK_PI, 0, NULL) == 0);
	SEE(*word == getpid());
	SEE(OK(futex, word, FUTEX_UNLOCK_PI, 0) == 0);
	SEE(*word == 0);
}

struct waiter {
	uint64_t value, address;
	uint32_t flags, reserved;
};

RECIPE(futex_waitv)
{
	static int words[2] = {1, 2};
	struct waiter w[2] = {{1, (uintptr_t)&words[0], 2}, {3, (uintptr_t)&words[1], 2}};
	struct timespec t = {0};

	only_fails("nobody wakes it");
	FAILS(EAGAIN, futex_waitv, w, 2, 0, NULL, 0);
	w[1].value = 2;
	FAILS(ETIMEDOUT, futex_waitv, w, 2, 0, &t, 1 /* CLOCK_MONOTONIC */);
}

RECIPE(futex_wake)
{
	static int word = 1;

	SEE(OK(futex_wake, &word, 0xffffffff, 1, 2 /* 32 bits */) == 0);
}

RECIPE(futex_wait)
{
	static int word = 1;
	struct timespec t = {0};

	only_fails("nobody wakes it");
	FAILS(EAGAIN, futex_wait, &word, 2, 0xffffffff, 2, NULL, 0);
	FAILS(ETIMEDOUT, futex_wait, &word, 1, 0xffffffff, 2, &t, 1);
}

RECIPE(futex_requeue)
{
	static int words[2] = {1, 2};
	struct waiter w[2] = {{1, (uintptr_t)&words[0], 2}, {2, (uintptr_t)&words[1], 2}};

	SEE(OK(futex_requeue, w, 0, 1, 1) == 0);
}

RECIPE(prctl)
{
	char *name = out(16);
	int *i = out(4);

	SEE(OK(prctl, PR_SET_NAME, "a name") == 0);
	SEE(OK(prctl, PR_GET_NAME, name) == 0 && !strcmp(name, "a name"));
	SEE(OK(prctl, PR_SET_PDEATHSIG, SIGUSR1) == 0);
	SEE(OK(prctl, PR_GET_PDEATHSIG, i) == 0 && *i == SIGUSR1);
	SEE(OK(prctl, PR_GET_CHILD_SUBREAPER, i) == 0 && *i == 0);
	i = out(4);
	SEE(OK(prctl, PR_GET_TSC, i) == 0 && *i == PR_TSC_ENABLE);
	SEE(OK(prctl, PR_SET_TSC, PR_TSC_SIGSEGV) == 0);
	i = out(4);
	SEE(OK(prctl, PR_GET_TSC, i) == 0 && *i == PR_TSC_SIGSEGV);
	FAILS(EINVAL, prctl, PR_SET_TSC, 0);
	SEE(OK(prctl, PR_SET_TSC, PR_TSC_ENABLE) == 0);
	SYS(prctl, PR_GET_TID_ADDRESS, out(8));
	SYS(prctl, 0x41555856 /* PR_GET_AUXV */, out(1024), 1024, 0, 0);
	FAILS(EINVAL, prctl, 12345, 0);
	REFUSES(EINVAL, prctl, PR_SET_MM, PR_SET_MM_BRK, 0, 0, 0);
}

RECIPE(arch_prctl)
{
	uint64_t *fs = out(8);

	SEE(OK(arch_prctl, ARCH_GET_FS, fs) == 0 && *fs == (uint64_t)__builtin_thread_pointer());
	SEE(OK(arch_prctl, ARCH_SET_GS, 0x12345000) == 0);
	SEE(OK(arch_prctl, ARCH_GET_GS, fs) == 0 && *fs == 0x12345000);
	SYS(arch_prctl, 0x1022 /* ARCH_GET_XCOMP_PERM */, out(8));
	REFUSES(EINVAL, arch_prctl, 0x5001 /* ARCH_SHSTK_ENABLE */, 1);
}

RECIPE(personality)
{
	SEE(OK(personality, 0xffffffff) >= 0);
	REFUSES(EINVAL, personality, 0x400000 /* READ_IMPLIES_EXEC */);
}

RECIPE(unshare)
{
	SEE(OK(unshare, CLONE_FILES) == 0);
}

RECIPE(setns)
{
	unshared(CLONE_NEWUTS);
	PRIV(setns, open("/proc/self/ns/uts", O_RDONLY), CLONE_NEWUTS);
}

/* ---- scheduling ---- */

RECIPE(sched_yield)
{
	SEE(OK(sched_yield) == 0);
}

RECIPE(sched_setparam)
{
	SEE(OK(sched_setparam, 0, &((struct sched_param){0})) == 0);
}

RECIPE(sched_getparam)
{
	struct sched_param *p = out(sizeof(*p));

	SEE(OK(sched_getparam, 0, p) == 0 && p->sched_priority == 0);
}

RECIPE(sched_setscheduler)
{
	SEE(OK(sched_setscheduler, 0, SCHED_BATCH, &((struct sched_param){0})) == 0);
	SEE(sched_getscheduler(0) == SCHED_BATCH);
}

RECIPE(sched_getscheduler)
{
	SEE(OK(sched_getscheduler, 0) == SCHED_OTHER);
}

RECIPE(sched_get_priority_max)
{
	SEE(OK(sched_get_priority_max, SCHED_FIFO) == 99);
}

RECIPE(sched_get_priority_min)
{
	SEE(OK(sched_get_priority_min, SCHED_FIFO) == 1);
}

RECIPE(sched_rr_get_interval)
{
	SEE(OK(sched_rr_get_interval, 0, out(16)) == 0);
}

RECIPE(sched_setaffinity)
{
	cpu_set_t set;

	SEE(sched_getaffinity(0, sizeof(set), &set) == 0);
	SEE(OK(sched_setaffinity, 0, sizeof(set), &set) >= 0);
	CPU_ZERO(&set);
	FAILS(EINVAL, sched_setaffinity, 0, sizeof(set), &set);
}

RECIPE(sched_getaffinity)
{
	cpu_set_t *set = out(sizeof(*set));
	long n = OK(sched_getaffinity, 0, sizeof(*set), set);

	SEE(n >= 8 && CPU_COUNT_S((size_t)n, set) > 0 && ((uint8_t *)set)[n] == 0xa5);
}

struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

RECIPE(sched_setattr)
{
	struct attr *a =
	    inout(&(struct attr){.size = sizeof(*a), .policy = SCHED_BATCH}, sizeof(*a));

	SEE(OK(sched_setattr, 0, a, 0) == 0 && sched_getscheduler(0) == SCHED_BATCH);
	a = out(4096); /* more than the kernel knows, and not zero: it says what it knows */
	a->size = 4000;
	FAILS(E2BIG, sched_setattr, 0, a, 0);
	SEE(a->size < 4000);
}

RECIPE(sched_getattr)
{
	struct attr *a = out(128);

	SEE(OK(sched_getattr, 0, a, 128, 0) == 0 && a->size >= 48 && a->policy == SCHED_OTHER);
}

RECIPE(getpriority)
{
	SEE(OK(getpriority, PRIO_PROCESS, 0) > 0);
}

RECIPE(setpriority)
{
	SEE(OK(setpriority, PRIO_PROCESS, 0, 3) == 0 || 1);
	SEE(getpriority(PRIO_PROCESS, 0) >= 3);
}

RECIPE(ioprio_set)
{
	SEE(OK(ioprio_set, 1, 0, 2 << 13 | 5) == 0);
	SEE(syscall(SYS_ioprio_get, 1, 0) == (2 << 13 | 5));
}

RECIPE(ioprio_get)
{
	SEE(OK(ioprio_get, 1, 0) >= 0);
}

RECIPE(getcpu)
{
	unsigned *cpu = out(4), *node = out(4);

	SEE(OK(getcpu, cpu, node, NULL) == 0 && *cpu < 100000 && *node < 100000);
}

/* ---- resources ---- */

RECIPE(getrlimit)
{
	struct rlimit *l = out(sizeof(*l));

	SEE(OK(getrlimit, RLIMIT_NOFILE, l) == 0 && l->rlim_cur > 0);
}

RECIPE(setrlimit)
{
	struct rlimit l;

	SEE(OK(setrlimit, RLIMIT_CORE, &((struct rlimit){0, 0})) == 0);
	SEE(getrlimit(RLIMIT_CORE, &l) == 0 && l.rlim_cur == 0);
}

RECIPE(prlimit64)
{
	struct rlimit *old = out(sizeof(*old));

	SEE(OK(prlimit64, 0, RLIMIT_CORE, &((struct rlimit){0, 0}), old) == 0);
	SEE(OK(prlimit64, 0, RLIMIT_CORE, NULL, old) == 0 && old->rlim_cur == 0);
}

RECIPE(getrusage)
{
	struct rusage *u = out(sizeof(*u));

	SEE(OK(getrusage, RUSAGE_SELF, u) == 0 && u->ru_maxrss > 0);
}
