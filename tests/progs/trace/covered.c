/* Control comes by a jump to the instruction behind a system call: often, also where the call is not made any more, and at
 * another call while a SIGTRAP waits that is blocked. */
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
#define ASK(NAME)                                                                                                             \
	static long __attribute__((noipa)) NAME(long calls, long given)                                                    \
	{                                                                                                                     \
		long result = given;                                                                                          \
                                                                                                                              \
		__asm__ volatile("test %1, %1\n\t"                                                                            \
		                 "je 1f\n\t"                                                                                  \
		                 "mov %2, %0\n\t"                                                                             \
		                 "syscall\n"                                                                                  \
		                 "1:\tadd $3, %0\n\t"                                                                         \
		                 "add $4, %0\n\t"                                                                             \
		                 "nop\n\tnop\n\tnop"                                                                          \
		                 : "+a"(result)                                                                               \
		                 : "r"(calls), "i"(SYS_getppid)                                                               \
		                 : "rcx", "r11", "memory");                                                                   \
		return result - 7;                                                                                            \
	}
ASK(often)
ASK(seldom)
ASK(later)

int main(void)
{
	sigset_t trap;
	int wrong = 0;

	signal(SIGTRAP, on_trap);
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	for (int i = 0; i < 300; i++) {
		wrong += often(1, 0) != getppid();
		wrong += often(0, i) != i;
		wrong += seldom(1, 0) != getppid();
		wrong += later(1, 0) != getppid();
	}
	for (int i = 0; i < 300; i++)
		wrong += later(0, i) != i;
	/* not so often that the call is given up */
	for (int i = 0; i < 10; i++) {
		sigprocmask(SIG_BLOCK, &trap, NULL);
		raise(SIGTRAP);
		wrong += seldom(0, i) != i;
		wrong += seldom(1, 0) != getppid();
		wrong += traps != i;
		sigprocmask(SIG_UNBLOCK, &trap, NULL);
		wrong += traps != i + 1;
	}
	printf("%s\n", wrong ? "wrong" : "well");
	return wrong != 0;
}
