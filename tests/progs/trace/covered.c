/* Control comes by a jump to the instruction behind a system call, while a SIGTRAP waits that is blocked. */
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int traps;

static void on_trap(int sig)
{
	traps += sig == SIGTRAP;
}

/* The process's parent if CALLS, else what it is given. */
static long __attribute__((noinline)) ask(long calls, long given)
{
	long result = given;

	__asm__ volatile("test %1, %1\n\t"
	                 "je 1f\n\t"
	                 "mov %2, %0\n\t"
	                 "syscall\n"
	                 "1:\tadd $3, %0\n\t"
	                 "add $4, %0\n\t"
	                 "nop\n\tnop\n\tnop"
	                 : "+a"(result)
	                 : "r"(calls), "i"(SYS_getppid)
	                 : "rcx", "r11", "memory");
	return result - 7;
}

int main(void)
{
	sigset_t trap;
	int wrong = 0;

	signal(SIGTRAP, on_trap);
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	for (int i = 0; i < 300; i++) {
		wrong += ask(1, 0) != getppid();
		wrong += ask(0, i) != i;
	}
	for (int i = 0; i < 20; i++) {
		sigprocmask(SIG_BLOCK, &trap, NULL);
		raise(SIGTRAP);
		wrong += ask(0, i) != i;
		wrong += ask(1, 0) != getppid();
		wrong += traps != i;
		sigprocmask(SIG_UNBLOCK, &trap, NULL);
		wrong += traps != i + 1;
	}
	printf("%s\n", wrong ? "wrong" : "well");
	return wrong != 0;
}
