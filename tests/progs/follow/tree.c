/* A tree of processes that talk: forks, a fork that becomes another program, vfork and exec, posix_spawn, a pipe from
 * child to parent, memory shared with a child, a grandchild, a daemon. Argument: "daemon" leaves one running for three seconds longer. */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i % 7 == 3 ? i : 1;
	return sum;
}

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

static int through_pipe(void)
{
	int fds[2], got = 0;

	if (pipe(fds) < 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		int mine = work(5000);

		_exit(write(fds[1], &mine, sizeof(mine)) == sizeof(mine) ? 3 : 4);
	}
	if (read(fds[0], &got, sizeof(got)) != sizeof(got))
		return -1;
	return WEXITSTATUS(status_of(pid)) == 3 ? got : -1;
}

static int through_memory(void)
{
	volatile int *shared =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork();

	if (pid == 0) {
		pid_t grandchild = fork();

		if (grandchild == 0) {
			shared[1] = work(300);
			_exit(0);
		}
		status_of(grandchild);
		shared[0] = shared[1] + 1;
		_exit(0);
	}
	status_of(pid);
	return shared[0] - shared[1];
}

static int through_signal(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		volatile unsigned n = 0;

		for (;;)
			n += (unsigned)work(10);
	}
	usleep(20000);
	kill(pid, SIGTERM);
	return WTERMSIG(status_of(pid));
}

static int run(int how, char *const argv[])
{
	pid_t pid = how == 0 ? fork() : how == 1 ? vfork() : 0;

	if (how == 2) {
		if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ))
			return -1;
	} else if (pid == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	return WEXITSTATUS(status_of(pid));
}

int main(int argc, char **argv)
{
	char *const again[] = {argv[0], (char *)"leaf", NULL};
	char *const sh[] = {(char *)"/bin/sh", (char *)"-c", (char *)"echo $((6 * 7)); exit 5", NULL};

	if (argc > 1 && strcmp(argv[1], "leaf") == 0)
		return work(100) == 765 ? 9 : 1;
	pid_t first = getpid();
	if (argc > 1 && strcmp(argv[1], "daemon") == 0 && fork() == 0) {
		setsid();
		while (getppid() == first)
			usleep(10000);
		sleep(3);
		_exit(work(10) == 12 ? 0 : 1);
	}
	printf("pipe %d\n", through_pipe());
	printf("memory %d\n", through_memory());
	printf("signal %d\n", through_signal());
	fflush(stdout);
	for (int how = 0; how < 3; how++) {
		printf("leaf %d\n", run(how, again));
		fflush(stdout);
		printf("sh %d\n", run(how, sh));
		fflush(stdout);
	}
	puts("tree done");
	return 0;
}
