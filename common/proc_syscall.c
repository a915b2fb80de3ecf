/* A system call made by a stopped process on our behalf. */
#include <lizard/proc.h>
#include <lizard/error.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { END_MS = 200 };

/* There is no system call instruction where one should be. */
static bool is_fault(int status)
{
	int signo = WSTOPSIG(status);

	return !(status >> 16) &&
	       (signo == SIGSEGV || signo == SIGBUS || signo == SIGILL || signo == SIGFPE);
}

/* Killed, it ends as soon as it is let out of its exit event. Its parent is told when we have been; of the first of several
 * threads nobody is before all of them have gone. */
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

/* Goes on to the next system call stop of kind OP. Every signal is blocked, so only stops that
 * ptrace itself makes can come between, and SIGSTOP, which is held back: *sigstop. An exit stop left over from an emulated
 * call is passed over. */
static int next_syscall_stop(pid_t pid, int op, bool *sigstop)
{
	for (;;) {
		struct __ptrace_syscall_info info;
		int status = 0;

		if (ptrace(PTRACE_SYSCALL, pid, 0, 0) < 0)
			return lz_fail_errno("cannot resume process %d", (int)pid);
		if (lz_proc_wait(pid, &status) < 0 || !WIFSTOPPED(status) ||
		    status >> 16 == PTRACE_EVENT_EXIT)
			return died(pid, status);
		if (is_fault(status))
			return lz_fail("process %d got signal %d in a system call made for it",
			               (int)pid, WSTOPSIG(status));
		*sigstop |= status >> 8 == SIGSTOP;
		if ((WSTOPSIG(status) & 0x7f) != SIGTRAP || status >> 16)
			continue;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) > 0 && info.op == op)
			return 0;
	}
}

static int run_call(struct lz_proc *p, int64_t *result)
{
	struct user_regs_struct r;
	bool sigstop = false;

	if (next_syscall_stop(p->pid, PTRACE_SYSCALL_INFO_ENTRY, &sigstop) < 0 ||
	    next_syscall_stop(p->pid, PTRACE_SYSCALL_INFO_EXIT, &sigstop) < 0 ||
	    lz_proc_regs(p, &r) < 0)
		return -1;
	if (sigstop)
		kill(p->pid, SIGSTOP);
	*result = (int64_t)r.rax;
	return 0;
}

int lz_proc_syscall(struct lz_proc *p, int64_t *result, uint64_t nr, uint64_t a, uint64_t b,
                    uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	struct user_regs_struct saved, r;
	uint64_t mask, all = ~0ULL;

	if (lz_proc_regs(p, &saved) < 0)
		return -1;
	if (ptrace(PTRACE_GETSIGMASK, p->pid, sizeof mask, &mask) < 0 ||
	    ptrace(PTRACE_SETSIGMASK, p->pid, sizeof all, &all) < 0)
		return lz_fail_errno("cannot change the signal mask of process %d", (int)p->pid);
	r = saved;
	r.rip = p->syscall_insn;
	r.rax = nr;
	r.orig_rax = (uint64_t)-1; /* else the kernel may take it for a call to restart */
	r.rdi = a, r.rsi = b, r.rdx = c, r.r10 = d, r.r8 = e, r.r9 = f;
	if (lz_proc_set_regs(p, &r) < 0 || run_call(p, result) < 0)
		return -1;
	if (ptrace(PTRACE_SETSIGMASK, p->pid, sizeof mask, &mask) < 0)
		return lz_fail_errno("cannot restore the signal mask of process %d", (int)p->pid);
	return lz_proc_set_regs(p, &saved);
}
