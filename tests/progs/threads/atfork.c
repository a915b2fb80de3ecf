/* fork in a thread with pthread_atfork handlers, vfork and posix_spawn beside running threads, popen. */
#include "check.h"
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int prepared, parent, child;
static _Atomic int stop;

static void prepare(void)
{
	pthread_mutex_lock(&lock);
	prepared++;
}

static void in_parent(void)
{
	parent++;
	pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
	child++;
	pthread_mutex_unlock(&lock);
}

static void *busy(void *arg)
{
	long n = 0;

	while (!stop) {
		pthread_mutex_lock(&lock);
		n++;
		pthread_mutex_unlock(&lock);
		usleep(100);
	}
	return (void *)n;
}

static int status_of(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void *forks(void *arg)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		int ok = child == 1 && parent == 0 && pthread_mutex_trylock(&lock) == 0;
		_exit(ok ? 33 : 1);
	}
	CHECK(status_of(pid) == 33);
	CHECK(parent == 1 && child == 0 && prepared == 1);
	return NULL;
}

static void *spawns(void *arg)
{
	char *argv[] = {"sh", "-c", "exit 17", NULL}, line[32];
	pid_t pid;

	CHECK(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) == 0);
	CHECK(status_of(pid) == 17);
	CHECK(posix_spawn(&pid, "/no/such/program", NULL, NULL, argv, environ) == ENOENT);
	FILE *f = popen("echo from the shell", "r");
	CHECK(f && fgets(line, sizeof(line), f) && strcmp(line, "from the shell\n") == 0);
	CHECK(pclose(f) == 0);
	pid = vfork();
	if (pid == 0)
		_exit(9);
	CHECK(status_of(pid) == 9);
	return NULL;
}

int main(void)
{
	pthread_t th[2];

	CHECK(pthread_atfork(prepare, in_parent, in_child) == 0);
	for (int i = 0; i < 2; i++)
		th[i] = start(busy, NULL);
	join(start(forks, NULL));
	join(start(spawns, NULL));
	stop = 1;
	for (int i = 0; i < 2; i++)
		join(th[i]);
	DONE();
}
