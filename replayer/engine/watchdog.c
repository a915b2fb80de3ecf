/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A re-executed program that runs on and on where the recorded one went to its next event has
 * diverged, though nothing can be compared there (a loop in code without markers). A thread
 * notices: it stops the process, and the engine then says so. */
#include "replayer/engine/inside.h"
#include <common/base/thread.h>
#include <lizard/error.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { TICK_MS = 500 };

struct lz_watchdog {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool quit;
	uint64_t run;   /* the run that is looked at */
	uint64_t seen;  /* its process's CPU time at the last look, ms */
	uint64_t spent; /* of that in this run */
};

/* Milliseconds that the process has computed. */
static uint64_t cpu_ms(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Time in which the process did not get the CPU (a busy machine, a paused debugger) does not
 * count. When a virtual machine stands still, its clocks may jump and the time be charged to
 * whoever was running: so a look adds no more than can have passed since the last one. */
static void look(struct lz_replay *rp, struct lz_watchdog *w)
{
	uint64_t run = rp->run;
	pid_t pid = rp->running;

	if (pid <= 0)
		return;
	uint64_t now = cpu_ms(pid), more = now > w->seen ? now - w->seen : 0;
	w->seen = now;
	if (w->run != run) {
		w->run = run;
		w->spent = 0;
		return;
	}
	w->spent += more < 2 * TICK_MS ? more : 2 * TICK_MS;
	bool stuck = w->spent > rp->patience_ms;
	if ((!stuck && !rp->tick) || rp->run != run || rp->running != pid)
		return;
	if (stuck)
		rp->stuck = run;
	else
		rp->ticked = run;
	kill(pid, SIGSTOP);
}

static void *watch(void *arg)
{
	struct lz_replay *rp = arg;
	struct lz_watchdog *w = rp->watchdog;

	pthread_mutex_lock(&w->lock);
	while (!w->quit) {
		lz_thread_rest(&w->wake, &w->lock, TICK_MS * 1000);
		look(rp, w);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int lz_watchdog_start(struct lz_replay *rp)
{
	struct lz_watchdog *w = calloc(1, sizeof *w);

	if (!w)
		return lz_fail("out of memory");
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	rp->patience_ms = UINT64_MAX;
	rp->watchdog = w;
	if (lz_thread_start(&w->thread, "lizard-watchdog", watch, rp) < 0) {
		rp->watchdog = NULL;
		free(w);
		return -1;
	}
	return 0;
}

void lz_watchdog_stop(struct lz_replay *rp)
{
	struct lz_watchdog *w = rp->watchdog;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->quit = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
	rp->watchdog = NULL;
}
