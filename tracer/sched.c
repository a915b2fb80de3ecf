/* Who has the turn, and for how long. */
#include "tracer/tracer.h"

enum {
	GRACE_MS =
	    2, /* after its slice a thread may come to a point by itself, which costs nothing */
};

bool lz_sched_threaded(const struct lz_tracer *t)
{
	return t->n_threads > 1 || t->cur->tid != t->tid;
}

/* Round and round. */
struct lz_thread *lz_sched_next(const struct lz_tracer *t)
{
	size_t at = 0;

	if (t->sched.dying)
		return NULL;
	while (at < t->n_threads && t->thread[at] != t->cur)
		at++;
	for (size_t i = 1; i < t->n_threads; i++) {
		struct lz_thread *th = t->thread[(at + i) % t->n_threads];

		if (th->ready)
			return th;
	}
	return NULL;
}

bool lz_sched_due(const struct lz_tracer *t)
{
	const struct lz_sched *s = &t->sched;

	return t->n_threads > 1 && lz_sched_next(t) && (s->yielded || lz_now() >= s->slice_end);
}

bool lz_sched_overdue(const struct lz_tracer *t, uint64_t now)
{
	const struct lz_thread *cur = t->cur;

	return t->n_threads > 1 && now >= t->sched.slice_end + GRACE_MS * 1000000ULL &&
	       !cur->call.inside && !cur->call.suspended && !cur->ended && !cur->listening &&
	       lz_sched_next(t);
}

void lz_sched_turn(struct lz_tracer *t)
{
	t->sched.yielded = false;
	t->sched.slice_end = lz_now() + t->sched.slice;
}

int lz_sched_at_point(struct lz_tracer *t)
{
	t->sched.point = false;
	if (!t->cur->has_pending_status && lz_sched_due(t))
		return lz_switch(t, lz_sched_next(t), false);
	t->sched.yielded = t->cur->sig.spin = false;
	return 0;
}
