/* What one process stores into shared memory while another one is stopped: seen by it as soon as it goes on, without any system
 * call; stopped in a loop with markers, in one without, at a handler's beginning, in a process with threads. */
#include "check.h"
#include <pthread.h>
#include <sys/mman.h>

enum { ROUNDS = 5 };

static struct shared {
	volatile unsigned word, seen, ready, handled;
} *s;

static __attribute__((noinline, no_instrument_function)) void wait_unseen(unsigned was)
{
	while (s->word == was)
		;
}

static void wait_seen(unsigned was)
{
	unsigned n = 0;

	while (s->word == was)
		n += n % 3;
}

/* Which store was the first that it saw? */
static int polls(void *arg)
{
	void (*wait_for)(unsigned) = arg;

	for (unsigned i = 0; i < ROUNDS; i++) {
		s->ready = i + 1;
		wait_for(i);
		work(s->word * 10);
		s->seen = s->word;
	}
	return 91;
}

static void *sleeps(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int polls_threaded(void *arg)
{
	pthread_t th[2];

	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&th[i], NULL, sleeps, NULL) == 0);
	return polls(arg);
}

static void *computes(void *arg)
{
	for (;;)
		work(1000);
	return arg;
}

static int polls_among(void *arg)
{
	pthread_t th[2];

	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&th[i], NULL, computes, NULL) == 0);
	return polls(arg);
}

static void on_usr1(int sig)
{
	work(s->word);
	s->handled = s->word;
}

static int handles(void *arg)
{
	signal(SIGUSR1, on_usr1);
	return polls(arg);
}

static void stopped(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
}

static void halt(int (*run)(void *), void *how, int usr1)
{
	memset((void *)s, 0, sizeof(*s));
	pid_t pid = child(run, how);
	for (unsigned i = 0; i < ROUNDS; i++) {
		while (s->ready != i + 1)
			usleep(500);
		usleep(i * 300);
		if (usr1 & 1)
			CHECK(kill(pid, SIGUSR1) == 0);
		CHECK(kill(pid, SIGSTOP) == 0);
		stopped(pid);
		if (usr1 & 2)
			CHECK(kill(pid, SIGUSR1) == 0);
		CHECK(s->ready == i + 1);
		s->word = i + 1;
		work(500);
		CHECK(kill(pid, SIGCONT) == 0);
		while (s->seen != i + 1)
			usleep(500);
		if (usr1 & 2)
			CHECK(s->handled == i + 1);
	}
	ends_with(pid, 91);
}

int main(void)
{
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(s != MAP_FAILED);
	halt(polls, wait_seen, 0);
	halt(polls, wait_unseen, 0);
	for (int usr1 = 1; usr1 < 4; usr1++) {
		halt(handles, wait_seen, usr1);
		halt(handles, wait_unseen, usr1);
	}
	halt(polls_threaded, wait_seen, 0);
	halt(polls_threaded, wait_unseen, 0);
	halt(polls_among, wait_seen, 0);
	halt(polls_among, wait_unseen, 0);
	DONE();
}
