/* Signals to threads: pthread_kill with a handler in each, while it computes and while it sleeps in a call; a signal that
 * one thread waits for with sigwait; one for the process that all but one block; a timer whose handler runs anywhere. */
#include "check.h"
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static __thread volatile int hits;
static volatile int alarms, usr2_in;
static volatile unsigned long turns;
static sem_t ready;

static void on_usr1(int sig)
{
	hits++;
}

static void on_usr2(int sig)
{
	usr2_in++;
}

static void on_alarm(int sig)
{
	alarms++;
}

static void *computes(void *arg)
{
	sem_post(&ready);
	while (hits < 5)
		turns++;
	return (void *)(intptr_t)hits;
}

static void *sleeps(void *arg)
{
	sem_post(&ready);
	while (hits < 5)
		CHECK(pause() == -1 && errno == EINTR);
	return (void *)(intptr_t)hits;
}

static void *waits(void *arg)
{
	sigset_t set;
	int sig = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sem_post(&ready);
	CHECK(sigwait(&set, &sig) == 0 && sig == SIGHUP);
	return (void *)1;
}

static void *takes_usr2(void *arg)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
	sem_post(&ready);
	while (!usr2_in)
		usleep(1000);
	return (void *)1;
}

/* Signals that come while one is pending are lost: on and on, until the thread has seen five. */
static void send(pthread_t th)
{
	void *ret;

	while (pthread_tryjoin_np(th, &ret) == EBUSY) {
		usleep(1000);
		pthread_kill(th, SIGUSR1);
	}
	CHECK((intptr_t)ret >= 5);
}

static pthread_t begin(void *(*run)(void *))
{
	pthread_t th = start(run, NULL);

	while (sem_wait(&ready) < 0)
		;
	return th;
}

int main(void)
{
	struct itimerval t = {{0, 2000}, {0, 2000}};
	sigset_t set;
	pthread_t a, b;

	sem_init(&ready, 0, 0);
	CHECK(signal(SIGUSR1, on_usr1) != SIG_ERR && signal(SIGUSR2, on_usr2) != SIG_ERR);
	CHECK(signal(SIGALRM, on_alarm) != SIG_ERR);
	a = begin(computes);
	send(a);
	send(begin(sleeps));
	CHECK(hits == 0);
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR2);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	a = begin(waits);
	CHECK(kill(getpid(), SIGHUP) == 0);
	CHECK(join(a) == (void *)1);
	a = begin(takes_usr2);
	CHECK(kill(getpid(), SIGUSR2) == 0);
	CHECK(join(a) == (void *)1 && usr2_in == 1);
	CHECK(setitimer(ITIMER_REAL, &t, NULL) == 0);
	a = begin(computes);
	b = begin(computes);
	while (alarms < 20)
		usleep(500);
	send(a);
	send(b);
	CHECK(signal(SIGALRM, SIG_IGN) != SIG_ERR);
	DONE();
}
