/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes marks: in a loop, in a thread, in a child, and such as are no text. What it prints is what
 * was to be marked. */
#include <errno.h>
#include <lizard.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sum;

static void serve(int n)
{
	lizard_mark("request %d", n);
	for (int i = 0; i < n * 1000; i++)
		sum += i ^ n;
}

static void *in_thread(void *arg)
{
	(void)arg;
	lizard_mark("in a thread");
	return NULL;
}

static void in_child(void)
{
	pid_t child = fork();

	if (!child) {
		lizard_mark("in a child");
		_exit(lizard_recording() ? 3 : 4);
	}
	int status;
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	const int many = argc > 1 ? atoi(argv[1]) : 0;
	char longer[3000];
	pthread_t thread;

	errno = 7;
	printf("recording %d, errno %d\n", lizard_recording(), errno);
	for (int i = 0; i < 5; i++)
		serve(i);
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	in_child();
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	lizard_mark("%s", longer);
	lizard_mark("\033[31mred\n\tnext line");
	lizard_mark("%s", "");
	printf("unreadable %ld, too long %ld\n", lizard_mark_bytes((void *)16, 5),
	       lizard_mark_bytes(longer, 5000));
	/* these have stops, as have the calls behind them */
	for (int i = 0; many && i < 30; i++) {
		lizard_mark_bytes(longer, 5000);
		munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
	}
	for (int i = 0; i < many; i++)
		lizard_mark("%d", i);
	lizard_mark("last of %s", argc > 2 ? argv[2] : "all");
	return 0;
}
