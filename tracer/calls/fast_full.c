/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A full log becomes events while the program goes on.
 *
 * It is copied, and the program goes on with an empty one. Another thread makes the events, but only
 * while the tracer waits for the program's next stop: so both never use the tracer's state at once. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/code/code.h"
#include "tracer/log/log.h"
#include "tracer/signals/signals.h"
#include "tracer/state/process.h"

#include <common/base/thread.h>
#include <errno.h>
#include <lizard/error.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum { WORTH_IT = LZ_CALL_LOG / 2 };

/* One process is traced. */
static struct {
	pthread_t thread;
	bool started, refused;
	pthread_mutex_t lock;
	pthread_cond_t wake, done;
	struct lz_tracer *given; /* under the lock; NULL: nothing is to be done */
	bool failed;
	char error[1024];
	uint8_t log[LZ_CALL_LOG]; /* what was set aside */
} full = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

/* ---- the other thread ---- */

static void make_events(struct lz_tracer *t)
{
	if (lz_fast_events(t, &t->fast.aside) == 0)
		return;
	/* nothing behind what is broken becomes an event */
	t->fast.aside.len = t->fast.aside.taken;
	full.failed = true;
	snprintf(full.error, sizeof(full.error), "%s", lz_error());
}

static void *work(void *ignored)
{
	(void)ignored;
	pthread_mutex_lock(&full.lock);
	for (;;) {
		while (!full.given)
			pthread_cond_wait(&full.wake, &full.lock);
		make_events(full.given);
		full.given = NULL;
		pthread_cond_signal(&full.done);
	}
	return NULL;
}

static bool has_thread(const struct lz_tracer *t)
{
	cpu_set_t cpus;

	if (full.started || full.refused)
		return full.started;
	full.started = lz_thread_start(&full.thread, "calls", work, NULL) == 0;
	full.refused = !full.started;
	lz_other_cpus(t, &cpus);
	if (full.started)
		pthread_setaffinity_np(full.thread, sizeof(cpus), &cpus);
	return full.started;
}

static void give(struct lz_tracer *t)
{
	pthread_mutex_lock(&full.lock);
	full.given = t;
	pthread_cond_signal(&full.wake);
	pthread_mutex_unlock(&full.lock);
}

static void take_back(void)
{
	pthread_mutex_lock(&full.lock);
	while (full.given)
		pthread_cond_wait(&full.done, &full.lock);
	pthread_mutex_unlock(&full.lock);
}

static bool is_any_aside(const struct lz_tracer *t)
{
	return t->fast.aside.taken < t->fast.aside.len;
}

pid_t lz_full_waitpid(struct lz_tracer *t, pid_t pid, int *status, int flags)
{
	const bool meanwhile = !(flags & WNOHANG) && is_any_aside(t) && has_thread(t);

	if (meanwhile)
		give(t);
	const pid_t got = waitpid(pid, status, flags);
	const int error = errno;
	if (meanwhile)
		take_back();
	lz_stop_time_over();
	errno = error;
	return got;
}

int lz_full_done(struct lz_tracer *t)
{
	if (full.failed) {
		full.failed = false;
		return lz_fail("%s", full.error);
	}
	return lz_fast_events(t, &t->fast.aside);
}

/* ---- at a stop ---- */

/* A call that finds no room in an empty log has a stop of its own. */
static bool is_worth_it(const struct lz_tracer *t, uint32_t head)
{
	return head <= LZ_CALL_LOG &&
	       (head >= t->fast.taken + WORTH_IT || t->fast.page->n_calls > LZ_CALLS_MOST ||
	        t->fast.page->may_refer < LZ_LEASED_MOST);
}

/* The stub has refused the call for no other reason, and nothing is to be looked at. What the log says of
 * signals would have to be known here, and what it has of files would have to stay. */
static bool is_only_full(const struct lz_tracer *t, int status)
{
	const struct lz_call_page *page = t->fast.page;
	const struct lz_thread *th = t->cur;

	return page && page->full && !page->notes && !page->has_small && !page->put_off &&
	       page->go && !page->busy && !page->waited && th->fast && !t->fast.ended &&
	       !th->sig.shut && lz_signal_none_due(th) && status >> 16 == 0 &&
	       is_worth_it(t, page->head);
}

/* The site whose detour's own instruction has stopped; NULL: it is something else. */
static const struct lz_site *refused_site(const struct lz_tracer *t)
{
	const struct lz_sites *s = &t->fast.sites;
	struct user_regs_struct r; /* as they are */
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, t->p.pid, 0, &info) < 0 ||
	    ptrace(PTRACE_GETREGS, t->p.pid, 0, &r) < 0)
		return NULL;
	const bool call = lz_fast_is_report(&info);
	if (!call && (info.si_signo != SIGSEGV || info.si_code != SI_KERNEL))
		return NULL;
	for (size_t i = 0; i < s->n; i++) {
		const struct lz_site *x = &s->a[i];

		if (!x->gone && !x->given_back && x->counter == !call &&
		    r.rip == x->call + (call ? LZ_CALL_INSN : 0))
			return x;
	}
	return NULL;
}

/* It makes its call by the stub, once more. Whether it has been killed is seen when it goes on. */
static int begin_again(struct lz_tracer *t, const struct lz_site *x, int signo)
{
	if (lz_signal_undo_force(t, signo) < 0)
		return -1;
	if ((ptrace(PTRACE_POKEUSER, t->p.pid, offsetof(struct user, regs.orig_rax), -1L) < 0 ||
	     ptrace(PTRACE_POKEUSER, t->p.pid, offsetof(struct user, regs.rip), x->at) < 0) &&
	    errno != ESRCH)
		return lz_fail_errno("cannot let the program make its call again");
	return 0;
}

int lz_full_set_aside(struct lz_tracer *t, int status)
{
	struct lz_fast *f = &t->fast;
	const struct lz_site *x;

	if (!WIFSTOPPED(status) || !is_only_full(t, status))
		return 0;
	const uint32_t head = __atomic_load_n(&f->page->head, __ATOMIC_ACQUIRE);
	if (!is_worth_it(t, head) || head < f->taken || !(x = refused_site(t)) || !has_thread(t))
		return 0;
	if (lz_full_done(t) < 0)
		return -1;
	lz_writer_crowded(t->w, t->crowded);
	lz_clock_stopped(t);
	f->page->selector[t->cur->slot] = SYSCALL_DISPATCH_FILTER_ALLOW;
	f->aside =
	    (struct lz_call_log){.bytes = full.log, .len = head - f->taken, .time = lz_elapsed(t)};
	memcpy(full.log, f->page->log + f->taken, f->aside.len);
	f->page->head = f->page->n_calls = f->taken = 0;
	f->page->may_refer = LZ_REFERRED_MOST;
	f->n_full++;
	return begin_again(t, x, WSTOPSIG(status)) < 0 ? -1 : 1;
}
