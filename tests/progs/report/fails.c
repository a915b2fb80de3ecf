/* Fails as its argument says, for tests of reports and of continuous integration. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

struct point {
	int x, y;
	char name[16];
};

static int deref(const int *at, struct point p)
{
	return *at + p.x;
}

static void *idle(void *arg)
{
	char c;

	return (void *)(long)read(*(int *)arg, &c, 1);
}

static int crash(const char *text)
{
	struct point p = {3, 4, "a`b"};

	printf("%s\n", text);
	fflush(stdout);
	fprintf(stderr, "a \033[31mred\033[0m line\n```\n</pre><b>bold</b>\n@everyone [x](http://y)\n");
	return deref(NULL, p);
}

static int threads(void)
{
	int fd[2];
	pthread_t t;

	if (pipe(fd) != 0 || pthread_create(&t, NULL, idle, fd) != 0)
		return 2;
	usleep(10000);
	return crash("two threads");
}

static int child(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		exit(crash("in the child"));
	waitpid(pid, &status, 0);
	return 0;
}

static int vectors(void)
{
	struct iovec v[2] = {{"one ", 4}, {"two\n", 4}};

	return writev(1, v, 2) != 8;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "threads"))
		return threads();
	if (!strcmp(how, "child"))
		return child();
	if (!strcmp(how, "vectors"))
		return vectors();
	if (!strcmp(how, "exit"))
		return argc > 2 ? atoi(argv[2]) : 1;
	return crash(how);
}
