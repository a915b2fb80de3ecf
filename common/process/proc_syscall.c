/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A system call made by a stopped process on our behalf. */
#include <common/process/call_code.h>
#include <common/process/guard.h>
#include <lizard/error.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The selectors of 64-bit code and its stack. */
enum { END_MS = 200, USER_CS = 0x33, USER_SS = 0x2b, INT3_LEN = 1, CALL_LEN = 2 };

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

/* Goes on, as REQUEST says, with signal SIG, to the next stop. Every signal is blocked, so only stops
 * that ptrace itself makes can come, and SIGSTOP, which is held back: *sigstop. */
static int next_stop(const struct lz_proc *p, enum __ptrace_request request, int sig, int *status,
                     bool *sigstop)
{
	const pid_t pid = p->pid;

	*status = 0;
	if (ptrace(request, pid, 0, sig) < 0)
		return lz_fail_errno("cannot resume process %d", (int)pid);
	if (lz_proc_wait(pid, status) < 0 || !WIFSTOPPED(*status) ||
	    *status >> 16 == PTRACE_EVENT_EXIT)
		return died(pid, *status);
	if (is_fault(*status))
		return lz_fail("process %d got signal %d in a system call made for it", (int)pid,
		               WSTOPSIG(*status));
	if (has_started_another(p, *status)) {
		kill(pid, SIGKILL);
		return lz_fail("process %d started another one in a system call made for it: "
		               "the recording is damaged or forged",
		               (int)pid);
	}
	*sigstop |= *status >> 8 == SIGSTOP;
	return 0;
}

/* Goes on with signal SIG to the next system call stop of kind OP. An exit stop left over from an
 * emulated call is passed over. */
static int next_syscall_stop(const struct lz_proc *p, int op, int sig,
                             struct __ptrace_syscall_info *info, bool *sigstop)
{
	int status;

	for (;; sig = 0) {
		if (next_stop(p, PTRACE_SYSCALL, sig, &status, sigstop) < 0)
			return -1;
		if ((WSTOPSIG(status) & 0x7f) != SIGTRAP || status >> 16)
			continue;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, p->pid, sizeof *info, info) > 0 &&
		    info->op == op)
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

static int run_call(struct lz_proc *p, uint64_t nr, const uint64_t args[6],
                    struct user_regs_struct *r)
{
	struct __ptrace_syscall_info info;
	bool sigstop = false;

	if (next_syscall_stop(p, PTRACE_SYSCALL_INFO_ENTRY, 0, &info, &sigstop) < 0)
		return -1;
	if (lz_guard_entry(p, &info, nr, args) < 0) {
		kill(p->pid, SIGKILL);
		return -1;
	}
	if (next_syscall_stop(p, PTRACE_SYSCALL_INFO_EXIT, 0, &info, &sigstop) < 0 ||
	    lz_proc_regs(p, r) < 0)
		return -1;
	if (sigstop)
		kill(p->pid, SIGSTOP);
	if (p->stub && r->rax == r->orig_rax && killed_by_filter(p->pid))
		return lz_fail("process %d was killed by its system call filter: the recording is "
		               "damaged or forged",
		               (int)p->pid);
	return 0;
}

/* ---- to an int3: one stop ---- */

/* force_sig() in the kernel would make SIGTRAP's default of a handler whose signal is blocked, and of
 * a signal that is ignored. */
static bool may_trap(const struct lz_proc *p, uint64_t mask)
{
	return p->on_trap && *p->on_trap != (uint64_t)(uintptr_t)SIG_IGN &&
	       !(mask >> (SIGTRAP - 1) & 1);
}

static bool is_int3(const struct lz_proc *p, const struct user_regs_struct *r, uint64_t behind)
{
	siginfo_t info;

	return r->rip == behind && ptrace(PTRACE_GETSIGINFO, p->pid, 0, &info) == 0 &&
	       info.si_code == SI_KERNEL;
}

/* Somebody has sent a SIGTRAP. Blocked as all others, it goes back to where it waited; the code goes
 * on to the exit stop of the call at LAST. If that has been made, another one is made there. */
static int run_blocked(struct lz_proc *p, uint64_t last, struct user_regs_struct *r, bool *sigstop)
{
	const bool made = r->rip == last + CALL_LEN || r->rip == last + CALL_LEN + INT3_LEN;
	const uint64_t all = ~0ULL, result = r->rax;
	struct __ptrace_syscall_info info;
	int sig = SIGTRAP;

	if (made) {
		r->rip = last;
		r->rax = SYS_getpid;
		r->orig_rax = (uint64_t)-1;
	}
	if (ptrace(PTRACE_SETSIGMASK, p->pid, sizeof all, &all) < 0 || lz_proc_set_regs(p, r) < 0)
		return lz_fail_errno("cannot change the signal mask of process %d", (int)p->pid);
	do {
		if (next_syscall_stop(p, PTRACE_SYSCALL_INFO_EXIT, sig, &info, sigstop) < 0)
			return -1;
		sig = 0;
	} while (info.instruction_pointer != last + CALL_LEN);
	if (lz_proc_regs(p, r) < 0)
		return -1;
	r->rax = made ? result : r->rax;
	return 0;
}

/* From where the process stands over the call at LAST. *R: the registers then. */
static int run_code(struct lz_proc *p, uint64_t last, struct user_regs_struct *r)
{
	bool sigstop = false;
	int status;

	do
		if (next_stop(p, PTRACE_CONT, 0, &status, &sigstop) < 0)
			return -1;
	while (status >> 8 != SIGTRAP);
	if (lz_proc_regs(p, r) < 0)
		return -1;
	if (!is_int3(p, r, last + CALL_LEN + INT3_LEN) && run_blocked(p, last, r, &sigstop) < 0)
		return -1;
	if (sigstop)
		kill(p->pid, SIGSTOP);
	return 0;
}

/* ---- with signals blocked, and registers put back ---- */

struct before {
	struct user_regs_struct regs;
	uint64_t mask;
	bool traps;
};

static int prepare(const struct lz_proc *p, struct before *b)
{
	uint64_t all = ~0ULL;

	if (lz_proc_regs(p, &b->regs) < 0)
		return -1;
	if (ptrace(PTRACE_GETSIGMASK, p->pid, sizeof b->mask, &b->mask) < 0)
		return lz_fail_errno("cannot read the signal mask of process %d", (int)p->pid);
	b->traps = may_trap(p, b->mask);
	if (b->traps)
		all &= ~(1ULL << (SIGTRAP - 1));
	if (ptrace(PTRACE_SETSIGMASK, p->pid, sizeof all, &all) < 0)
		return lz_fail_errno("cannot change the signal mask of process %d", (int)p->pid);
	return 0;
}

static int put_back(const struct lz_proc *p, const struct before *b)
{
	if (ptrace(PTRACE_SETSIGMASK, p->pid, sizeof b->mask, &b->mask) < 0)
		return lz_fail_errno("cannot restore the signal mask of process %d", (int)p->pid);
	return lz_proc_set_regs(p, &b->regs);
}

/* The registers for code at IP. */
static struct user_regs_struct regs_at(const struct before *b, uint64_t ip)
{
	struct user_regs_struct r = b->regs;

	/* whatever the program was in: 32-bit code would make another call of the same number */
	r.cs = USER_CS, r.ss = USER_SS;
	r.rip = ip;
	/* else the kernel may take it for a call to restart */
	r.orig_rax = (uint64_t)-1;
	return r;
}

static int inject(struct lz_proc *p, int64_t *result, uint64_t nr, const uint64_t args[6])
{
	struct before b;

	if (lz_proc_bar(p, false) < 0 || prepare(p, &b) < 0)
		return -1;
	struct user_regs_struct r = regs_at(&b, p->syscall_insn);
	r.rax = nr;
	r.rdi = args[0], r.rsi = args[1], r.rdx = args[2];
	r.r10 = args[3], r.r8 = args[4], r.r9 = args[5];
	if (lz_proc_set_regs(p, &r) < 0 ||
	    (b.traps ? run_code(p, p->syscall_insn, &r) : run_call(p, nr, args, &r)) < 0)
		return -1;
	*result = (int64_t)r.rax;
	return put_back(p, &b);
}

int lz_proc_syscall(struct lz_proc *p, int64_t *result, uint64_t nr, uint64_t a, uint64_t b,
                    uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	const uint64_t args[6] = {a, b, c, d, e, f};

	return lz_guard_call(p, nr, args) < 0 ? -1 : inject(p, result, nr, args);
}

/* 1; 0: they must be made one by one. */
static int inject_all(struct lz_proc *p, struct lz_proc_call *c, size_t n)
{
	uint8_t code[LZ_CALL_CODE_MOST];
	struct before b;

	if (!p->on_trap || !p->calls_at || n < 2)
		return 0;
	const size_t len = lz_call_code(c, n, code);
	const uint64_t last = p->calls_at + len - INT3_LEN - CALL_LEN;
	if (lz_proc_write(p, p->calls_at, code, len) < 0 || prepare(p, &b) < 0)
		return -1;
	struct user_regs_struct r = regs_at(&b, p->calls_at);
	if (b.traps && (lz_proc_set_regs(p, &r) < 0 || run_code(p, last, &r) < 0))
		return -1;
	for (size_t i = 0; i < n; i++)
		c[i].result = lz_call_code_result(&r, i, n);
	return put_back(p, &b) < 0 ? -1 : b.traps;
}

int lz_proc_calls(struct lz_proc *p, struct lz_proc_call *c, size_t n)
{
	for (size_t done = 0, some; done < n; done += some) {
		some = n - done < LZ_CALLS_AT_ONCE ? n - done : LZ_CALLS_AT_ONCE;
		int ret = inject_all(p, c + done, some);

		for (size_t i = done; ret == 0 && i < done + some; i++) {
			const uint64_t *a = c[i].args;
			if (lz_proc_syscall(p, &c[i].result, c[i].nr, a[0], a[1], a[2], a[3], a[4],
			                    a[5]) < 0)
				return -1;
		}
		if (ret < 0)
			return -1;
	}
	return 0;
}

int lz_proc_syscall_own(struct lz_proc *p, int64_t *result, uint64_t nr, uint64_t a, uint64_t b,
                        uint64_t c)
{
	return inject(p, result, nr, (const uint64_t[6]){a, b, c});
}
