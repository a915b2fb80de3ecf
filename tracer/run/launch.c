/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starting the program: forked, pinned, seized, up to its first execve. */
#include "tracer/run/run.h"
#include "tracer/state/process.h"
#include "tracer/state/state.h"
#include "tracer/turns/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child waits on GO until it is seized; an execve that fails reports errno on BACK. */
struct pipes {
	int go[2], back[2];
};

static void report(int fd)
{
	int e = errno;

	if (write(fd, &e, sizeof(e)) < 0)
		_exit(126);
	_exit(e == ENOENT ? 127 : 126);
}

static _Noreturn void child(struct lz_tracer *t, struct pipes *p)
{
	char c;

	close(p->go[1]);
	close(p->back[0]);
	if (read(p->go[0], &c, 1) != 1)
		_exit(127);
	close(p->go[0]);
	lz_descriptors_own();
	if (!t->opt->aslr) /* may be refused: replay restores the addresses anyway */
		personality((unsigned long)t->borrowed.personality | ADDR_NO_RANDOMIZE);
	execvp(t->opt->argv[0], t->opt->argv);
	report(p->back[1]);
	_exit(127);
}

/* Tracer and program on one CPU: a stop costs a twentieth of one across CPUs. */
void lz_pin(struct lz_tracer *t)
{
	struct lz_borrowed *b = &t->borrowed;
	cpu_set_t one;

	sched_getaffinity(0, sizeof(b->given), &b->given);
	b->affinity = b->given;
	b->cpu = sched_getcpu();
	if (b->cpu < 0)
		b->cpu = 0;
	b->home = b->cpu;
	b->tracer = gettid();
	CPU_ZERO(&one);
	CPU_SET(b->cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		lz_debug("cannot pin to one CPU: %s", strerror(errno));
}

static int first_exec(struct lz_tracer *t, pid_t pid, int back)
{
	int status, error;

	for (;;) {
		if (lz_proc_wait(pid, &status) < 0)
			return -1;
		if (!WIFSTOPPED(status)) {
			t->ended = true;
			t->status = status;
			if (read(back, &error, sizeof(error)) == sizeof(error)) {
				errno = error;
				return lz_fail_errno("cannot run %s", t->opt->argv[0]);
			}
			return lz_fail("%s ended before it began", t->opt->argv[0]);
		}
		if (status >> 16 == PTRACE_EVENT_EXEC)
			break;
		int sig = status >> 16 ? 0 : WSTOPSIG(status);
		if (ptrace(PTRACE_CONT, pid, 0, sig) < 0)
			return lz_fail_errno("cannot resume the program");
	}
	if (ptrace(PTRACE_SYSCALL, pid, 0, 0) < 0 || lz_proc_wait(pid, &status) < 0)
		return lz_fail_errno("cannot resume the program");
	t->ended = !WIFSTOPPED(status);
	if (t->ended || WSTOPSIG(status) != (SIGTRAP | 0x80))
		return lz_fail("%s was killed before it began", t->opt->argv[0]);
	return lz_check_privileges(pid);
}

static int go(struct lz_tracer *t, pid_t pid, struct pipes *p)
{
	close(p->go[0]);
	close(p->back[1]);
	if (lz_seize(pid) < 0)
		return -1;
	if (write(p->go[1], "", 1) != 1)
		return lz_fail_errno("cannot start the program");
	return first_exec(t, pid, p->back[0]);
}

int lz_launch(struct lz_tracer *t)
{
	struct pipes p;

	lz_pin(t);
	t->borrowed.personality = personality(0xffffffff);
	t->borrowed.personality_set = !t->opt->aslr && t->borrowed.personality >= 0;
	if (pipe2(p.go, O_CLOEXEC) < 0 || pipe2(p.back, O_CLOEXEC) < 0)
		return lz_fail_errno("cannot make a pipe");
	pid_t pid = fork();
	if (pid < 0)
		return lz_fail_errno("cannot fork");
	if (pid == 0)
		child(t, &p);
	lz_descriptors_drop();
	t->p.pid = pid;
	t->tid = (uint32_t)pid;
	/* not before the fork: the program keeps the /proc that it has */
	int ret = lz_proc_mine() < 0 || lz_threads_begin(t) < 0 ? -1 : go(t, pid, &p);
	close(p.go[1]);
	close(p.back[0]);
	return ret < 0 ? -1 : lz_proc_open(&t->p, pid);
}
