/* Children in their parent's memory come to instructions that are changed while their parent is recorded; and to what ends
 * them. The parent executes the same before and after that. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
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

static int child(int (*does)(void), pid_t (*start)(void))
{
	int status = -1;
	const pid_t pid = start == fork ? fork() : vfork();

	if (pid == 0)
		_exit(does());
	waitpid(pid, &status, 0);
	return status;
}

static int __attribute__((noipa)) grandchild(void)
{
	return child(processor, vfork) == WELL << 8 ? WELL : WRONG;
}

static int __attribute__((noipa)) forked(void)
{
	return child(processor, fork) == WELL << 8 ? WELL : WRONG;
}

/* What is blocked stays so. */
static int __attribute__((noipa)) masked(void)
{
	sigset_t before, now;

	sigprocmask(SIG_BLOCK, NULL, &before);
	const int well = processor();
	sigprocmask(SIG_BLOCK, NULL, &now);
	return memcmp(&before, &now, _NSIG / 8) ? WRONG : well;
}

static const struct {
	const char *name;
	int (*does)(void);
	int parent;
} all[] = {{"plain", plain, 1},         {"covered", covered, 1},       {"counter", counter, 1},
           {"processor", processor, 1}, {"breakpoint", breakpoint, 0}, {"halt", halt, 0},
           {"nowhere", nowhere, 0},     {"grandchild", grandchild, 0}, {"forked", forked, 0},
           {"masked", masked, 0}};

static void handle(int signo)
{
	(void)signo;
}

static int cloned(void *arg)
{
	(void)arg;
	_exit(processor());
}

static volatile int ticks;
static pid_t self;

/* Needs more stack than is anywhere but on the program's own, and makes calls. */
static void tick(int signo)
{
	volatile char much[6000];

	(void)signo;
	for (size_t i = 0; i < sizeof(much); i++)
		much[i] = (char)i;
	ticks = ask(1, 0) == self && much[4000] == (char)4000 ? ticks + 1 : -CALLS;
}

static int __attribute__((noipa)) ticked(void)
{
	const struct itimerval often = {{0, 100}, {0, 100}}, never = {0};

	ticks = 0;
	setitimer(ITIMER_REAL, &often, NULL);
	while (ticks >= 0 && ticks < 3)
		if (ask(1, 0) != self)
			ticks = -CALLS;
	setitimer(ITIMER_REAL, &never, NULL);
	return ticks > 0 ? WELL : WRONG;
}

/* How many children whose calls are interrupted go on. */
static int interrupted(void)
{
	int well = 0;

	self = getpid();
	signal(SIGALRM, tick);
	for (int i = 0; i < CALLS; i++)
		well += child(ticked, vfork) == WELL << 8;
	return well;
}

/* A child that shares the handlers faults while the signal is blocked: the handler stays. */
static int keeps_handler(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct sigaction now;
	sigset_t every;
	int status = -1;

	signal(SIGSEGV, handle);
	sigfillset(&every);
	sigprocmask(SIG_BLOCK, &every, NULL);
	waitpid(clone(cloned, stack + sizeof(stack),
	              CLONE_VM | CLONE_VFORK | CLONE_SIGHAND | SIGCHLD, NULL),
	        &status, 0);
	sigaction(SIGSEGV, NULL, &now);
	return status == WELL << 8 && now.sa_handler == handle;
}

/* The call in ask() is allowed there only. */
static int filtered(void)
{
	const uint32_t at = (uint32_t)(uintptr_t)ask, end = at + 100;
	struct sock_filter f[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
	    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, at, 0, 2),
	    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, end, 1, 0),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 99)};
	const struct sock_fprog program = {sizeof(f) / sizeof(*f), f};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return -1;
	const pid_t parent = getpid(), pid = vfork();
	int status = -1;

	if (pid == 0)
		_exit(ask(1, 0) == parent ? WELL : WRONG);
	waitpid(pid, &status, 0);
	return status;
}

/* Code that nobody but a child can write to, in pages of its own. */
__asm__(".section .text.changed, \"ax\", @progbits\n"
        ".balign 4096\n"
        "number: mov $1000, %eax; ret\n"
        ".balign 4096\n"
        "call: mov $110, %eax; syscall; mov %rax, %rax; nop; nop; nop; nop; ret\n"
        ".balign 4096\n"
        ".text");
extern unsigned char number[], call[];

/* The constant of the mov at CODE becomes VALUE, which the parent has not stored. */
static int changes(unsigned char *code, unsigned value)
{
	const pid_t pid = vfork();
	int status = -1;

	if (pid == 0) {
		if (mprotect(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
			_exit(WRONG);
		memcpy(code + 1, &value, sizeof(value));
		_exit(mprotect(code, 4096, PROT_READ | PROT_EXEC) == 0 ? WELL : WRONG);
	}
	waitpid(pid, &status, 0);
	return status == WELL << 8;
}

static int called(int wanted, int of)
{
	int well = 0;

	for (int i = 0; i < of; i++)
		well += ((int (*)(void))call)() == wanted;
	return well == of;
}

/* Before and after the call has become a jump. */
static int changed(void)
{
	int well = 0;

	for (unsigned i = 0; i < 10; i++) {
		well += changes(number, i) && ((unsigned (*)(void))number)() == i;
		well += called(getppid(), i > 2 ? CALLS : 0) && changes(call, SYS_getpid) &&
		        called(getpid(), i > 5 ? CALLS : 1) && changes(call, SYS_getppid);
	}
	return well;
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
				const int status = child(all[i].does, vfork);
				int well = 1;

				for (unsigned k = 0; k < 4; k++)
					well &= all[k].does() == WELL;
				printf("%s: %#x, %d\n", all[i].name, status, well);
			}
	}
	sigprocmask(SIG_UNBLOCK, &every, NULL);
	printf("changed: %d\n", changed());
	printf("interrupted: %d\n", interrupted());
	printf("handler: %d\n", keeps_handler());
	printf("filtered: %#x\n", filtered());
	return 0;
}
