/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals that come behind a system call whose instruction is a short jump, where control goes round: some behind the
 * call, some where another way leads there. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

/* Nothing behind the call can be moved, and there is padding nearby. */
void call_and_stay(long nr);
void stay(void);
extern char behind[], out[];
__asm__(".text\n	.balign 16\n"
        "call_and_stay:	mov %rdi, %rax\n	syscall\n"
        "behind:	jmp behind\n"
        "out:	ret\n"
        "other:	lea 3(%rdi), %rax\n	ret\n	.byte 0x0f, 0x1f, 0x80, 0, 0, 0, 0\n	"
        "jmp other\n	.balign 64\n	.skip 64\n"
        "stay:	jmp behind\n");

static volatile int left;

static void leave(int sig, siginfo_t *info, void *context)
{
	greg_t *const ip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)sig, (void)info;
	if (*ip == (greg_t)behind) {
		left++;
		*ip = (greg_t)out;
	}
}

int main(void)
{
	const struct sigaction act = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO};
	const struct itimerval often = {{0, 3000}, {0, 3000}};

	sigaction(SIGALRM, &act, NULL);
	for (int i = 0; i < 60; i++)
		getuid();
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 30; i++)
		call_and_stay(SYS_getppid);
	for (int i = 0; i < 30; i++)
		stay();
	puts(left == 60 ? "well" : "wrong");
	return left != 60;
}
