/* For bugs of signal handlers: a thread sends SIGUSR1 to the one that works, again and again, until
 * that is done. */
#include "bugs.h"

#include <errno.h>
#include <signal.h>

static pthread_t works;
static volatile sig_atomic_t done;
static volatile int rung;

static void *rings(void *arg)
{
	while (!done) {
		const int before = rung;

		pthread_kill(works, SIGUSR1);
		while (!done && rung == before)
			sched_yield();
	}
	return NULL;
}

/* Ends the program if WORK does not come to its end. HANDLER must count `rung`. */
static inline int rung_at(void (*handler)(int), void (*work)(void))
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART};
	pthread_t other;

	alarm(HANGS_AFTER);
	works = pthread_self();
	sigaction(SIGUSR1, &act, NULL);
	pthread_create(&other, NULL, rings, NULL);
	work();
	done = 1;
	pthread_join(other, NULL);
	return 0;
}
