/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <common/base/work.h>
#include <lizard/error.h>

enum { SIGNALS = 3, LOOKS = 1000 };

static const int ending[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t heard;

/* What belongs to all work together. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction old[SIGNALS];
static unsigned at_work;

static void hear(int signo)
{
	heard = signo;
}

static void listen(void)
{
	struct sigaction mine = {.sa_handler = hear};

	heard = 0;
	for (int i = 0; i < SIGNALS; i++) {
		sigaction(ending[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(ending[i], &mine, NULL);
	}
}

static void pass_on(void)
{
	struct sigaction now;
	int came = heard;

	for (int i = 0; i < SIGNALS; i++) {
		sigaction(ending[i], NULL, &now);
		if (now.sa_handler == hear) /* another thread may have set another one */
			sigaction(ending[i], &old[i], NULL);
	}
	/* to the process: the thread that works may have it blocked */
	if (came)
		kill(getpid(), came);
}

void lz_work_begin(struct lz_work *w, const char *what, uint64_t total)
{
	*w = (struct lz_work){0};
	lz_progress_begin(&w->progress, what, total);
	pthread_mutex_lock(&lock);
	if (!at_work++)
		listen();
	pthread_mutex_unlock(&lock);
}

int lz_work_done(struct lz_work *w, uint64_t n)
{
	if (!w)
		return 0;
	w->done += n;
	if (!n || w->done - w->looked >= w->progress.total / LOOKS) {
		w->looked = w->done;
		lz_progress_show(&w->progress, w->done);
	}
	if (!heard)
		return 0;
	errno = EINTR;
	return lz_fail("interrupted");
}

void lz_work_end(struct lz_work *w)
{
	lz_progress_end(&w->progress);
	pthread_mutex_lock(&lock);
	if (!--at_work)
		pass_on();
	pthread_mutex_unlock(&lock);
}
