/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <signal.h>
#include <time.h>
#include <common/base/clock.h>
#include <common/base/thread.h>
#include <lizard/error.h>

/* The program's limit, which the default size is, may be too small for us. */
enum { STACK_SIZE = 1 << 20 };

int lz_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg)
{
	sigset_t all, old;
	pthread_attr_t attr;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	bool could = lz_counter_allow(true);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	int rc = pthread_create(thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	lz_counter_allow(could);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc) {
		errno = rc;
		return lz_fail_errno("cannot start the thread %s", name);
	}
	pthread_setname_np(*thread, name);
	return 0;
}

void lz_thread_rest(pthread_cond_t *wake, pthread_mutex_t *lock, uint32_t us)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += us % 1000000 * 1000L;
	t.tv_sec += us / 1000000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_cond_clockwait(wake, lock, CLOCK_MONOTONIC, &t);
}
