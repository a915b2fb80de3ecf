/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/turns/shared_memory_lock.h"

#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/shared_lock_page.h"

#include <errno.h>
#include <lizard/error.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum {
	YIELD_US = 50,
	YIELDS = 400,
	ASK_MS = 10, /* how often whoever waits says so */
	STALE_MS = 100
};

/* ---- having it ---- */

static int taken(struct lz_shared_lock_page *p, int e)
{
	if (e == EOWNERDEAD)
		e = pthread_mutex_consistent(&p->mutex);
	errno = e;
	return e ? lz_fail_errno("cannot wait for other tracers") : 0;
}

static int ask(struct lz_shared_lock_page *p)
{
	uint64_t now = lz_now(), until = now + ASK_MS * 1000000ULL;
	struct timespec ts = {(time_t)(until / 1000000000), (long)(until % 1000000000)};

	__atomic_store_n(&p->asked, now, __ATOMIC_SEQ_CST);
	return pthread_mutex_clocklock(&p->mutex, CLOCK_MONOTONIC, &ts);
}

static int take(struct lz_shared_lock_page *p)
{
	int e = pthread_mutex_trylock(&p->mutex);

	if (e != EBUSY)
		return taken(p, e);
	__atomic_fetch_add(&p->waiting, 1, __ATOMIC_SEQ_CST);
	do {
		e = ask(p);
	} while (e == ETIMEDOUT);
	__atomic_fetch_sub(&p->waiting, 1, __ATOMIC_SEQ_CST);
	return taken(p, e);
}

int lz_shared_lock_enter(struct lz_tracer *t)
{
	struct lz_shared_lock *f = &t->shared_lock;

	if (f->held || !lz_shared_lock_needed(t))
		return 0;
	if (take(f->page) < 0)
		return -1;
	f->held = true;
	f->since = lz_now();
	f->news |= f->page->last != getpid();
	f->page->last = getpid();
	return 0;
}

void lz_shared_lock_leave(struct lz_tracer *t)
{
	if (!t->shared_lock.held)
		return;
	if (!t->ended && !t->shared_lock.news && lz_shared_refresh(t) < 0)
		lz_debug("shared memory: %s", lz_error());
	t->shared_lock.held = false;
	pthread_mutex_unlock(&t->shared_lock.page->mutex);
}

static bool is_waited_for(const struct lz_shared_lock *f)
{
	uint64_t asked = __atomic_load_n(&f->page->asked, __ATOMIC_SEQ_CST);

	return __atomic_load_n(&f->page->waiting, __ATOMIC_SEQ_CST) > 0 &&
	       lz_now() < asked + STALE_MS * 1000000ULL;
}

bool lz_shared_lock_wanted(const struct lz_tracer *t)
{
	return t->shared_lock.held && is_waited_for(&t->shared_lock);
}

bool lz_shared_lock_due(const struct lz_tracer *t, uint64_t grace)
{
	const struct lz_shared_lock *f = &t->shared_lock;

	return f->held && is_waited_for(f) && lz_now() >= f->since + t->sched.slice + grace;
}

/* ---- giving it away for a while ---- */

/* A mutex is not fair: whoever gives it away would have it again before the others are awake. */
static void let_others(struct lz_tracer *t)
{
	const struct lz_shared_lock *f = &t->shared_lock;

	lz_shared_lock_leave(t);
	for (int i = 0; i < YIELDS && is_waited_for(f); i++) {
		if (__atomic_load_n(&f->page->last, __ATOMIC_SEQ_CST) != getpid())
			return;
		usleep(YIELD_US);
	}
}

int lz_shared_lock_log(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;
	struct user_regs_struct r;

	if (lz_proc_regs(&t->p, &r) < 0 || lz_build(t, LZ_EV_SHARED, r.rip) < 0)
		return -1;
	t->b.ev.flags = cur->sig.spin ? LZ_EVF_SPIN : 0;
	cur->sig.spin = false;
	lz_build_instant(t, cur);
	if (lz_stream_set_pos(t) < 0 || lz_shared_sync(t) < 0 || lz_build_commit(t) < 0)
		return -1;
	lz_shared_unsettle(t);
	return lz_instant_here(t, &r);
}

int lz_shared_lock_yield(struct lz_tracer *t)
{
	let_others(t);
	return lz_shared_lock_enter(t) < 0 ? -1 : lz_shared_lock_log(t);
}
