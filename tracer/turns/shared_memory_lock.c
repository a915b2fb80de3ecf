/* Who of the recorded processes that share memory may run: floor.h. */
#include "tracer/memory/objects.h"

#include <errno.h>
#include <lizard/error.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	YIELD_US = 50,
	YIELDS = 400,
	ASK_MS = 10, /* how often whoever waits says so */
	STALE_MS = 100
};

struct lz_floor_page {
	pthread_mutex_t mutex; /* robust: a tracer may be killed */
	uint32_t waiting;      /* those that were killed meanwhile with them: what tells is asked */
	uint64_t asked;        /* ns: when somebody last said that it waits */
	pid_t last;            /* tracer that has had it */
	pid_t first;           /* tracer that has made it */
};

/* ---- the page ---- */

int lz_floor_map(struct lz_floor *f, int fd)
{
	void *p = mmap(NULL, sizeof(*f->page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*f = (struct lz_floor){.fd = fd, .news = true};
	if (p == MAP_FAILED)
		return lz_fail_errno("cannot map what tracers have in common");
	f->page = p;
	return 0;
}

int lz_floor_make(struct lz_floor *f)
{
	int fd = memfd_create("lizard-floor", MFD_CLOEXEC);
	pthread_mutexattr_t attr;

	if (fd < 0 || ftruncate(fd, sizeof(*f->page)) < 0) {
		if (fd >= 0)
			close(fd);
		return lz_fail_errno("cannot make what tracers have in common");
	}
	if (lz_floor_map(f, fd) < 0)
		return -1;
	f->page->first = getpid();
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&f->page->mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	return 0;
}

void lz_floor_free(struct lz_floor *f)
{
	if (!f->page)
		return;
	munmap(f->page, sizeof(*f->page));
	close(f->fd);
	f->page = NULL;
}

bool lz_floor_common(const struct lz_floor *f, pid_t pid)
{
	struct stat own, other;
	char path[64];

	if (!f->page || pid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, LZ_FLOOR_FD);
	return pid == f->page->first || (fstat(f->fd, &own) == 0 && stat(path, &other) == 0 &&
	                                 own.st_ino == other.st_ino && own.st_dev == other.st_dev);
}

/* ---- who needs it ---- */

bool lz_floor_for(const struct lz_tracer *t, const struct lz_area *a)
{
	return t->floor.page && lz_is_common(t, a);
}

bool lz_floor_needed(const struct lz_tracer *t)
{
	if (!t->floor.page || !t->shared || !t->n_shared)
		return false;
	for (size_t i = 0; i < t->vmas.n; i++)
		if (lz_floor_for(t, &t->vmas.a[i]))
			return true;
	return false;
}

bool lz_floor_quiet(const struct lz_tracer *t)
{
	return t->floor.held && !t->floor.news && !t->shared->watching &&
	       strcmp(t->opt->follow, "all") == 0;
}

/* ---- having it ---- */

static int taken(struct lz_floor_page *p, int e)
{
	if (e == EOWNERDEAD)
		e = pthread_mutex_consistent(&p->mutex);
	errno = e;
	return e ? lz_fail_errno("cannot wait for other tracers") : 0;
}

static int ask(struct lz_floor_page *p)
{
	uint64_t now = lz_now(), until = now + ASK_MS * 1000000ULL;
	struct timespec ts = {(time_t)(until / 1000000000), (long)(until % 1000000000)};

	__atomic_store_n(&p->asked, now, __ATOMIC_SEQ_CST);
	return pthread_mutex_clocklock(&p->mutex, CLOCK_MONOTONIC, &ts);
}

static int take(struct lz_floor_page *p)
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

int lz_floor_enter(struct lz_tracer *t)
{
	struct lz_floor *f = &t->floor;

	if (f->held || !lz_floor_needed(t))
		return 0;
	if (take(f->page) < 0)
		return -1;
	f->held = true;
	f->since = lz_now();
	f->news |= f->page->last != getpid();
	f->page->last = getpid();
	return 0;
}

void lz_floor_leave(struct lz_tracer *t)
{
	if (!t->floor.held)
		return;
	if (!t->ended && !t->floor.news && lz_shared_refresh(t) < 0)
		lz_debug("shared memory: %s", lz_error());
	t->floor.held = false;
	pthread_mutex_unlock(&t->floor.page->mutex);
}

static bool is_waited_for(const struct lz_floor *f)
{
	uint64_t asked = __atomic_load_n(&f->page->asked, __ATOMIC_SEQ_CST);

	return __atomic_load_n(&f->page->waiting, __ATOMIC_SEQ_CST) > 0 &&
	       lz_now() < asked + STALE_MS * 1000000ULL;
}

bool lz_floor_due(const struct lz_tracer *t, uint64_t grace)
{
	const struct lz_floor *f = &t->floor;

	return f->held && is_waited_for(f) && lz_now() >= f->since + t->sched.slice + grace;
}

/* ---- giving it away for a while ---- */

/* A mutex is not fair: whoever gives it away would have it again before the others are awake. */
static void let_others(struct lz_tracer *t)
{
	const struct lz_floor *f = &t->floor;

	lz_floor_leave(t);
	for (int i = 0; i < YIELDS && is_waited_for(f); i++) {
		if (__atomic_load_n(&f->page->last, __ATOMIC_SEQ_CST) != getpid())
			return;
		usleep(YIELD_US);
	}
}

int lz_floor_log(struct lz_tracer *t)
{
	struct lz_thread *cur = t->cur;
	struct user_regs_struct r;

	if (lz_proc_regs(&t->p, &r) < 0 || lz_build(t, LZ_EV_SHARED, r.rip) < 0)
		return -1;
	t->b.ev.flags = cur->sig.spin ? LZ_EVF_SPIN : 0;
	cur->sig.spin = false;
	if (lz_stream_set_pos(t) < 0 || lz_shared_sync(t) < 0 || lz_build_commit(t) < 0)
		return -1;
	lz_shared_unsettle(t);
	return lz_instant_here(t, &r);
}

int lz_floor_yield(struct lz_tracer *t)
{
	let_others(t);
	return lz_floor_enter(t) < 0 ? -1 : lz_floor_log(t);
}
