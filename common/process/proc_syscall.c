/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A system call made by a stopped process on our behalf. */
#include <common/process/call_code.h>
#include <common/process/guard.h>
#include <lizard/error.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
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
	struct lz_proc_call call = {.nr = nr, .args = {a, b, c, d, e, f}};

	if (lz_guard_call(p, nr, call.args) < 0 ||
	    (p->n_later ? lz_proc_calls(p, &call, 1) : inject(p, &call.result, nr, call.args)) < 0)
		return -1;
	*result = call.result;
	return 0;
}

/* ---- several calls ---- */

static bool may_be_at_once(const struct lz_proc *p)
{
	return p->on_trap && p->calls_at;
}

/* The N calls C fit into one piece of code. 1; 0: they must be made one by one. */
static int inject_all(struct lz_proc *p, struct lz_proc_call *c, size_t n)
{
	uint8_t code[LZ_CALL_CODE_MOST];
	struct before b;

	if (n < 2 || !may_be_at_once(p))
		return 0;
	const size_t len = lz_call_code(c, n, code);
	const uint64_t last = p->calls_at + len - INT3_LEN - CALL_LEN;
	if (lz_proc_write(p, p->calls_at, code, len) < 0 || prepare(p, &b) < 0)
		return -1;
	struct user_regs_struct r = regs_at(&b, p->calls_at);
	if (b.traps && (lz_proc_set_regs(p, &r) < 0 || run_code(p, last, &r) < 0))
		return -1;
	if (b.traps)
		lz_call_code_results(&r, c, n);
	return put_back(p, &b) < 0 ? -1 : b.traps;
}

static bool is_left_out(const struct lz_proc_call *c, size_t i)
{
	return i && c[i].if_done && c[i - 1].result < 0;
}

static int inject_each(struct lz_proc *p, struct lz_proc_call *c, size_t from, size_t n)
{
	for (size_t i = from; i < from + n; i++)
		if (is_left_out(c, i))
			c[i].result = c[i - 1].result;
		else if (lz_guard_call(p, c[i].nr, c[i].args) < 0 ||
		         inject(p, &c[i].result, c[i].nr, c[i].args) < 0)
			return -1;
	return 0;
}

static int make_calls(struct lz_proc *p, struct lz_proc_call *c, size_t n)
{
	for (size_t done = 0, some; done < n; done += some) {
		if (is_left_out(c, done)) {
			c[done].result = c[done - 1].result;
			some = 1;
			continue;
		}
		some = lz_call_code_fits(c + done, n - done);
		const int ret = inject_all(p, c + done, some);
		if (ret < 0 || (ret == 0 && inject_each(p, c, done, some) < 0))
			return -1;
	}
	return 0;
}

int lz_proc_calls(struct lz_proc *p, struct lz_proc_call *c, size_t n)
{
	struct lz_proc_call all[LZ_LATER + LZ_CALLS_AT_ONCE];
	size_t first = 0;

	if (!p->n_later || n > LZ_CALLS_AT_ONCE)
		return make_calls(p, c, n);
	while (p->n_later)
		all[first++] = (struct lz_proc_call){
		    .nr = SYS_close, .args = {(uint64_t)p->later[--p->n_later]}, .untold = true};
	memcpy(all + first, c, n * sizeof(*c));
	if (make_calls(p, all, first + n) < 0)
		return -1;
	memcpy(c, all + first, n * sizeof(*c));
	return 0;
}

int lz_proc_close_later(struct lz_proc *p, int fd)
{
	if (p->n_later == LZ_LATER && lz_proc_close_now(p) < 0)
		return -1;
	p->later[p->n_later++] = fd;
	return 0;
}

int lz_proc_close_now(struct lz_proc *p)
{
	struct lz_proc_call none = {.nr = 0};

	return p->n_later ? lz_proc_calls(p, &none, 0) : 0;
}

int lz_proc_syscall_own(struct lz_proc *p, int64_t *result, uint64_t nr, uint64_t a, uint64_t b,
                        uint64_t c)
{
	return inject(p, result, nr, (const uint64_t[6]){a, b, c});
}
