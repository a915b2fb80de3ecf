/* Children in their parent's memory come to instructions that are changed while their parent is recorded; and to what ends
 * them. The parent executes the same before and after that. */
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

enum { WELL = 7, WRONG = 8, CALLS = 100 };

/* The process's parent if CALLS, else what it is given; control comes by a jump to what is behind the call. */
static long __attribute__((noipa)) ask(long calls, long given)
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

static int __attribute__((noipa)) plain(void)
{
	return ask(1, 0) == getppid() ? WELL : WRONG;
}

static int __attribute__((noipa)) covered(void)
{
	return ask(0, 5) == 5 && plain() == WELL ? WELL : WRONG;
}

static int __attribute__((noipa)) counter(void)
{
	const uint64_t before = __rdtsc();

	return before < __rdtsc() && covered() == WELL ? WELL : WRONG;
}

static int __attribute__((noipa)) processor(void)
{
	unsigned a, b, c, d, least = 0;

	for (unsigned leaf = 0; leaf < 8; leaf++)
		least |= __get_cpuid_count(leaf, 0, &a, &b, &c, &d);
	return least && counter() == WELL ? WELL : WRONG;
}

static int __attribute__((noipa)) breakpoint(void)
{
	__asm__ volatile("int3");
	return WRONG;
}

static int __attribute__((noipa)) halt(void)
{
	__asm__ volatile("hlt");
	return WRONG;
}

static int __attribute__((noipa)) nowhere(void)
{
	*(volatile int *)8 = 1;
	return WRONG;
}

static const struct {
	const char *name;
	int (*does)(void);
	int parent;
} all[] = {{"plain", plain, 1},         {"covered", covered, 1},       {"counter", counter, 1},
           {"processor", processor, 1}, {"breakpoint", breakpoint, 0}, {"halt", halt, 0},
           {"nowhere", nowhere, 0}};

static int child(int (*does)(void))
{
	int status = -1;
	const pid_t pid = vfork();

	if (pid == 0)
		_exit(does());
	waitpid(pid, &status, 0);
	return status;
}

int main(void)
{
	void (*const action[])(int) = {SIG_DFL, SIG_IGN};
	sigset_t every;

	for (int i = 0; i < CALLS; i++)
		for (unsigned k = 0; k < 4; k++)
			if (all[k].does() != WELL)
				return 1;
	for (int how = 0; how < 3; how++) {
		signal(SIGTRAP, action[how == 1]);
		sigfillset(&every);
		sigprocmask(how == 2 ? SIG_BLOCK : SIG_UNBLOCK, &every, NULL);
		for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
			for (int again = 0; again < 2; again++) {
				const int status = child(all[i].does);
				int well = 1;

				for (unsigned k = 0; k < 4; k++)
					well &= all[k].does() == WELL;
				printf("%s: %#x, %d\n", all[i].name, status, well);
			}
	}
	return 0;
}
