/* The signal comes between the test and pause(): it is waited for in vain. */
#include "bugs.h"

#include <signal.h>

static volatile sig_atomic_t come;
static pthread_t waits;
static pthread_barrier_t both;

static void on_signal(int signo)
{
	come = 1;
}

static void *sends(void *arg)
{
	for (int i = 0; i < 150; i++) {
		pthread_barrier_wait(&both);
		pthread_kill(waits, SIGUSR1);
		pthread_barrier_wait(&both);
	}
	return NULL;
}

int main(void)
{
	pthread_t other;

	alarm(HANGS_AFTER);
	waits = pthread_self();
	signal(SIGUSR1, on_signal);
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&other, NULL, sends, NULL);
	for (int i = 0; i < 150; i++) {
		come = 0;
		pthread_barrier_wait(&both);
		if (!come)
			pause();
		pthread_barrier_wait(&both);
	}
	pthread_join(other, NULL);
	return 0;
}
