/* Who may read the time-stamp counter (PR_SET_TSC): each thread for itself; children, threads and programs inherit it.
 * Prints what happens. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

static __thread volatile int faults;
static __thread sigjmp_buf over;

static void on_fault(int signo, siginfo_t *info, void *context)
{
	faults += info->si_code == SI_KERNEL && info->si_addr == NULL;
	siglongjmp(over, 1);
}

static int reads(int with_cpu)
{
	unsigned cpu;

	if (sigsetjmp(over, 1))
		return 0;
	return (with_cpu ? __rdtscp(&cpu) : __rdtsc()) != 0;
}

static void tell(const char *who)
{
	int mode = -1;
	long ret = prctl(PR_GET_TSC, &mode);
	int before = reads(0), after = reads(1);

	printf("%s: %ld, mode %d, rdtsc %d, rdtscp %d, faults %d\n", who, ret, mode, before, after, faults);
	fflush(stdout);
}

static void set(int mode)
{
	if (prctl(PR_SET_TSC, mode) != 0)
		printf("mode %d: %s\n", mode, strerrorname_np(errno));
}

static void *work(void *arg)
{
	tell("a thread");
	set(PR_TSC_ENABLE);
	tell("a thread that may");
	return arg;
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	pthread_t thread;

	sigaction(SIGSEGV, &act, NULL);
	if (argc > 1) {
		tell("another program");
		return 0;
	}
	tell("at first");
	set(PR_TSC_SIGSEGV);
	tell("forbidden");
	set(0);
	set(3);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	tell("its parent");
	if (fork() == 0) {
		tell("a child");
		return 0;
	}
	wait(NULL);
	set(PR_TSC_ENABLE);
	tell("allowed");
	if (vfork() == 0) {
		execl("/proc/self/exe", argv[0], "again", NULL);
		_exit(1);
	}
	wait(NULL);
	set(PR_TSC_SIGSEGV);
	if (vfork() == 0) {
		execl("/proc/self/exe", argv[0], "again", NULL);
		_exit(1);
	}
	wait(NULL);
	execl("/proc/self/exe", argv[0], "again", NULL);
	return 1;
}
