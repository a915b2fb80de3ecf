/* A child that a debugger looks at: two threads, system calls of both, a signal for one of them. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int pipes[2];
int caught, received;

static void on_usr1(int sig, siginfo_t *info, void *context)
{
	caught = info->si_value.sival_int;
}

static int twice(int n)
{
	int m = n * 2;

	return m;
}

static void *worker(void *arg)
{
	char text[8] = "";

	if (read(pipes[0], text, sizeof(text)) == 5)
		received = twice(21);
	return NULL;
}

static int child(void)
{
	struct sigaction act = {.sa_sigaction = on_usr1, .sa_flags = SA_SIGINFO};
	pthread_t thread;

	sigaction(SIGUSR1, &act, NULL);
	pthread_create(&thread, NULL, worker, NULL);
	sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 77});
	if (write(pipes[1], "five", 5) != 5)
		return 1;
	pthread_join(thread, NULL);
	return received == 42 && caught == 77 ? 5 : 2;
}

int main(void)
{
	int status;
	pid_t pid;

	if (pipe(pipes) < 0)
		return 1;
	pid = fork();
	if (pid == 0)
		_exit(child());
	waitpid(pid, &status, 0);
	printf("%d\n", WEXITSTATUS(status));
	return 0;
}
