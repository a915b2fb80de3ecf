/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A system call made by a stopped process on our behalf. */
#include <common/process/guard.h>
#include <lizard/error.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* The selectors of 64-bit code and its stack. */
enum { END_MS = 200, USER_CS = 0x33, USER_SS = 0x2b };

/* There is no system call instruction where one should be. */
static bool is_fault(int status)
{
	int signo = WSTOPSIG(status);

	return !(status >> 16) &&
	       (signo == SIGSEGV || signo == SIGBUS || signo == SIGILL || signo == SIGFPE);
}

/* Killed, it ends as soon as it is let out of its exit event. Its parent is told when we have been;
 * of the first of several threads nobody is before all of them have gone. */
static int died(pid_t pid, int status)
{
	if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8) &&
	    ptrace(PTRACE_CONT, pid, 0, 0) == 0) {
		for (int i = 0; i < END_MS && !lz_proc_has_ended(pid); i++)
			usleep(1000);
		waitpid(pid, &status, WNOHANG | __WALL);
	}
	return lz_fail("process %d died during a system call made for it", (int)pid);
}

/* A replayed process is copied by clone(), and starts nothing else. */
static bool has_started_another(const struct lz_proc *p, int status)
{
	int event = status >> 16;

	return p->stub && (event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_EXEC ||
	                   event == PTRACE_EVENT_CLONE);
}

/* Goes on to the next system call stop of kind OP. Every signal is blocked, so only stops that
 * ptrace itself makes can come between, and SIGSTOP, which is held back: *sigstop. An exit stop
 * left over from an emulated call is passed over. */
static int next_syscall_stop(const struct lz_proc *p, int op, struct __ptrace_syscall_info *info,
                             bool *sigstop)
{
	const pid_t pid = p->pid;

	for (;;) {
		int status = 0;

		if (ptrace(PTRACE_SYSCALL, pid, 0, 0) < 0)
			return lz_fail_errno("cannot resume process %d", (int)pid);
		if (lz_proc_wait(pid, &status) < 0 || !WIFSTOPPED(status) ||
		    status >> 16 == PTRACE_EVENT_EXIT)
			return died(pid, status);
		if (is_fault(status))
			return lz_fail("process %d got signal %d in a system call made for it",
			               (int)pid, WSTOPSIG(status));
		if (has_started_another(p, status)) {
			kill(pid, SIGKILL);
			return lz_fail(
			    "process %d started another one in a system call made for it: "
			    "the recording is damaged or forged",
			    (int)pid);
		}
		*sigstop |= status >> 8 == SIGSTOP;
		if ((WSTOPSIG(status) & 0x7f) != SIGTRAP || status >> 16)
			continue;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof *info, info) > 0 && info->op == op)
			return 0;
	}
}

/* A filter of system calls kills behind the exit of the call, in which the number is the result. */
static bool killed_by_filter(pid_t pid)
{
	struct __ptrace_peeksiginfo_args which = {.nr = 4};
	siginfo_t pending[4];
	long n = ptrace(PTRACE_PEEKSIGINFO, pid, &which, pending);

	while (n > 0)
		if (pending[--n].si_signo == SIGSYS)
			return true;
	return false;
}

static int run_call(struct lz_proc *p, uint64_t nr, const uint64_t args[6], int64_t *result)
{
	struct __ptrace_syscall_info info;
	struct user_regs_struct r;
	bool sigstop = false;

	if (next_syscall_stop(p, PTRACE_SYSCALL_INFO_ENTRY, &info, &sigstop) < 0)
		return -1;
	if (lz_guard_entry(p, &info, nr, args) < 0) {
		kill(p->pid, SIGKILL);
		return -1;
	}
	if (next_syscall_stop(p, PTRACE_SYSCALL_INFO_EXIT, &info, &sigstop) < 0 ||
	    lz_proc_regs(p, &r) < 0)
		return -1;
	if (sigstop)
		kill(p->pid, SIGSTOP);
	*result = (int64_t)r.rax;
	if (p->stub && r.rax == r.orig_rax && killed_by_filter(p->pid))
		return lz_fail("process %d was killed by its system call filter: the recording is "
		               "damaged or forged",
		               (int)p->pid);
	return 0;
}

static int inject(struct lz_proc *p, int64_t *result, uint64_t nr, const uint64_t args[6])
{
	struct user_regs_struct saved, r;
	uint64_t mask, all = ~0ULL;

	if (lz_proc_regs(p, &saved) < 0)
		return -1;
	if (ptrace(PTRACE_GETSIGMASK, p->pid, sizeof mask, &mask) < 0 ||
	    ptrace(PTRACE_SETSIGMASK, p->pid, sizeof all, &all) < 0)
		return lz_fail_errno("cannot change the signal mask of process %d", (int)p->pid);
	r = saved;
	/* whatever the program was in: 32-bit code would make another call of the same number */
	r.cs = USER_CS, r.ss = USER_SS;
	r.rip = p->syscall_insn;
	r.rax = nr;
	/* else the kernel may take it for a call to restart */
	r.orig_rax = (uint64_t)-1;
	r.rdi = args[0], r.rsi = args[1], r.rdx = args[2];
	r.r10 = args[3], r.r8 = args[4], r.r9 = args[5];
	if (lz_proc_set_regs(p, &r) < 0 || run_call(p, nr, args, result) < 0)
		return -1;
	if (ptrace(PTRACE_SETSIGMASK, p->pid, sizeof mask, &mask) < 0)
		return lz_fail_errno("cannot restore the signal mask of process %d", (int)p->pid);
	return lz_proc_set_regs(p, &saved);
}

int lz_proc_syscall(struct lz_proc *p, int64_t *result, uint64_t nr, uint64_t a, uint64_t b,
                    uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	const uint64_t args[6] = {a, b, c, d, e, f};

	return lz_guard_call(p, nr, args) < 0 ? -1 : inject(p, result, nr, args);
}

int lz_proc_syscall_own(struct lz_proc *p, int64_t *result, uint64_t nr, uint64_t a, uint64_t b,
                        uint64_t c)
{
	return inject(p, result, nr, (const uint64_t[6]){a, b, c});
}
