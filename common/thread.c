/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <signal.h>
#include <common/clock.h>
#include <common/thread.h>
#include <lizard/error.h>

int lz_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	bool could = lz_counter_allow(true);
	int rc = pthread_create(thread, NULL, run, arg);
	lz_counter_allow(could);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc) {
		errno = rc;
		return lz_fail_errno("cannot start the thread %s", name);
	}
	pthread_setname_np(*thread, name);
	return 0;
}
