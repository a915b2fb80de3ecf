/* Events for the debugger: a handled signal, an alarm, system calls, a library loaded late. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

volatile int hits, alarms;

static void on_usr1(int sig)
{
	hits++;
}

static void on_alarm(int sig)
{
	alarms++;
}

static int late(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);
	int (*triple)(int) = lib ? (int (*)(int))dlsym(lib, "triple") : NULL;

	return triple ? triple(14) : -1;
}

int main(int argc, char **argv)
{
	int before = 1;

	signal(SIGUSR1, on_usr1);
	signal(SIGALRM, on_alarm);
	raise(SIGUSR1);
	before = 2;
	raise(SIGALRM);
	before = 3;
	if (write(1, "hello\n", 6) != 6)
		return 1;
	printf("%d %d %d %d\n", before, hits, alarms, late(argv[1]));
	return 0;
}
