/* Instructions that have been armed, to fault and be done by the tracer: lizard/randinsn.h, lizard/xsavec.h. */
#include "tracer/tracer.h"

#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <stdlib.h>

int lz_armed_add(struct lz_tracer *t, uint64_t at)
{
	static const uint8_t armed = LZ_RAND_ARMED;
	struct lz_armed *a = &t->armed;

	if (a->n == a->room) {
		size_t room = a->room ? 2 * a->room : 16;
		uint64_t *p = reallocarray(a->at, room, sizeof(*p));

		if (!p)
			return lz_fail("out of memory for %zu instructions", room);
		a->at = p;
		a->room = room;
	}
	if (lz_proc_write(&t->p, at, &armed, 1) < 0)
		return -1;
	a->at[a->n++] = at;
	return 0;
}

bool lz_armed_has(const struct lz_tracer *t, uint64_t at)
{
	for (size_t i = 0; i < t->armed.n; i++)
		if (t->armed.at[i] == at)
			return true;
	return false;
}

/* Where nothing is mapped any more, or nobody lives, nothing has to be done. */
static void put(const struct lz_tracer *t, const struct lz_proc *p, uint8_t byte)
{
	for (size_t i = 0; i < t->armed.n; i++)
		lz_proc_write(p, t->armed.at[i], &byte, 1);
}

void lz_armed_release(const struct lz_tracer *t, const struct lz_proc *p)
{
	put(t, p, LZ_RAND_OPCODE);
}

void lz_armed_again(struct lz_tracer *t)
{
	put(t, &t->p, LZ_RAND_ARMED);
}

void lz_armed_moved(struct lz_tracer *t, uint64_t start, uint64_t end, uint64_t to)
{
	struct lz_armed *a = &t->armed;
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		uint64_t at = a->at[i];

		if (at >= start && at < end)
			at = to ? to + (at - start) : 0;
		if (at)
			a->at[n++] = at;
	}
	a->n = n;
}

void lz_armed_forget(struct lz_tracer *t)
{
	free(t->armed.at);
	t->armed = (struct lz_armed){0};
}
