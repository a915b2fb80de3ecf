/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sends signals to its process group, those of the C library among them, and starts processes between. It ignores them
 * itself. Prints what became of the processes, and how many more signals wait to be delivered to the user's processes. */
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { FIRST = 32, LAST = 64, ROUNDS = 20 };

/* As the kernel has it: the C library hides two. */
static void ignore(int signo)
{
	const struct {
		void (*handler)(int);
		unsigned long flags;
		void *restorer;
		unsigned long mask;
	} act = {.handler = SIG_IGN};

	syscall(SYS_rt_sigaction, signo, &act, NULL, 8);
}

static int waiting(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	int n = -1;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "SigQ: %d/", &n);
	if (f)
		fclose(f);
	return n;
}

static void start(void)
{
	char *argv[] = {"sh", "-c", "exit 7", NULL};
	int status;
	pid_t pid;

	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) || waitpid(pid, &status, 0) != pid)
		puts("none");
	else
		printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 256);
}

int main(void)
{
	const int before = waiting();
	int most = 0;

	for (int signo = FIRST; signo <= LAST; signo++)
		ignore(signo);
	for (int i = 0; i < 3; i++) {
		start();
		for (int k = 0; k < ROUNDS; k++)
			for (int signo = FIRST; signo <= LAST; signo++)
				syscall(SYS_kill, 0, signo);
		nanosleep(&(struct timespec){0, 200000000}, NULL);
		most = waiting() - before > most ? waiting() - before : most;
	}
	puts(most < ROUNDS ? "few" : "many");
	return 3;
}
