/* A program that traces its own child: stops at signals, at system calls and at an execve, reads and writes its memory. Where
 * it is traced itself it has to do without. */
#include "check.h"
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

static volatile long word = 1234;

static int traced(void *arg)
{
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
		return errno == EPERM || errno == ENOSYS ? 60 : 1;
	raise(SIGSTOP);
	syscall(SYS_getppid);
	return word == 4321 ? 61 : 62;
}

static int stop_of(pid_t pid)
{
	int status = status_of(pid);

	CHECK(WIFSTOPPED(status));
	return WSTOPSIG(status);
}

int main(void)
{
	struct user_regs_struct r;
	int seen = 0, status;
	pid_t pid = child(traced, NULL);

	CHECK(waitpid(pid, &status, 0) == pid);
	if (WIFEXITED(status)) {
		CHECK(WEXITSTATUS(status) == 60);
		DONE();
	}
	CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	CHECK(ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0);
	errno = 0;
	CHECK(ptrace(PTRACE_PEEKDATA, pid, &word, 0) == 1234 && !errno);
	CHECK(ptrace(PTRACE_POKEDATA, pid, &word, 4321) == 0);
	for (int i = 0; i < 2; i++) {
		CHECK(ptrace(PTRACE_SYSCALL, pid, 0, 0) == 0 && stop_of(pid) == (SIGTRAP | 0x80));
		CHECK(ptrace(PTRACE_GETREGS, pid, 0, &r) == 0);
		seen += r.orig_rax == SYS_getppid && (i == 0 || (pid_t)r.rax == getpid());
	}
	CHECK(seen == 2 && ptrace(PTRACE_CONT, pid, 0, 0) == 0);
	ends_with(pid, 61);
	DONE();
}
