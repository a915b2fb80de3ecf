/* Threads and processes together: a fork from a thread while others compute, threads in the child, an exec from a thread that
 * is not the first, one that starts a program by posix_spawn, all through one pipe. */
#include "check.h"
#include <pthread.h>
#include <spawn.h>

extern char **environ;
static char *self;
static volatile int stop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;

static pthread_t start(void *(*run)(void *), void *arg)
{
	pthread_t th;

	CHECK(pthread_create(&th, NULL, run, arg) == 0);
	return th;
}

static void *join(pthread_t th)
{
	void *ret;

	CHECK(pthread_join(th, &ret) == 0);
	return ret;
}

static void *computes(void *arg)
{
	unsigned long n = 0;

	while (!stop)
		n += work(50) != 0;
	return (void *)(uintptr_t)(n > 0);
}

static void *adds(void *arg)
{
	for (int i = 0; i < 300; i++) {
		pthread_mutex_lock(&lock);
		total += i % 4;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *execs(void *arg)
{
	usleep(2000);
	execl(self, self, "again", (char *)NULL);
	return NULL;
}

/* In a child: threads of its own, one of which becomes another program. */
static int with_threads(void *arg)
{
	pthread_t th[3];

	total = 0;
	for (int i = 0; i < 3; i++)
		th[i] = start(adds, NULL);
	for (int i = 0; i < 3; i++)
		join(th[i]);
	CHECK(total == 1350);
	if (!arg)
		return 101;
	start(computes, NULL);
	join(start(execs, NULL));
	return 1;
}

static void *forks(void *arg)
{
	ends_with(child(with_threads, NULL), 101);
	ends_with(child(with_threads, arg), 102);
	return NULL;
}

static void *spawns(void *arg)
{
	char *argv[] = {self, "again", NULL}, *sh[] = {"sh", "-c", "exit 9", NULL};
	pid_t pid;

	CHECK(posix_spawn(&pid, self, NULL, NULL, argv, environ) == 0);
	ends_with(pid, 102);
	CHECK(posix_spawn(&pid, "/bin/sh", NULL, NULL, sh, environ) == 0);
	ends_with(pid, 9);
	return NULL;
}

static void *reads(void *arg)
{
	char b[8] = "";

	CHECK(read(*(int *)arg, b, 4) == 4 && strcmp(b, "word") == 0);
	return b[0] == 'w' ? arg : NULL;
}

static int writes(void *arg)
{
	work(3000);
	return write(((int *)arg)[1], "word", 4) == 4 ? 103 : 1;
}

int main(int argc, char **argv)
{
	pthread_t th[2], a, b, r;
	int fds[2];

	self = argv[0];
	if (argc > 1)
		return join(start(adds, NULL)) == NULL && total == 450 ? 102 : 1;
	CHECK(pipe(fds) == 0);
	for (int i = 0; i < 2; i++)
		th[i] = start(computes, NULL);
	r = start(reads, fds);
	a = start(forks, "exec");
	b = start(spawns, NULL);
	join(a);
	join(b);
	ends_with(child(writes, fds), 103);
	CHECK(join(r) == fds);
	stop = 1;
	for (int i = 0; i < 2; i++)
		CHECK(join(th[i]));
	/* the program that a thread makes of the process ends it */
	ends_with(child(with_threads, "exec"), 102);
	DONE();
}
