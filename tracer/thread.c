/* The state that each thread has of its own. */
#include "tracer/tracer.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

struct lz_thread *lz_thread_new(struct lz_tracer *t, uint32_t tid)
{
	struct lz_thread *th = calloc(1, sizeof(*th));
	struct lz_thread **all = realloc(t->thread, (t->n_threads + 1) * sizeof(*all));

	if (all)
		t->thread = all;
	if (!th || !all) {
		free(th);
		lz_fail("out of memory for a thread");
		return NULL;
	}
	th->tid = tid;
	all[t->n_threads++] = th;
	return th;
}

static void release(struct lz_thread *th)
{
	free(th->sig.held);
	free(th->sig.sent);
	free(th);
}

void lz_thread_remove(struct lz_tracer *t, struct lz_thread *th)
{
	for (size_t i = 0; i < t->n_threads; i++) {
		if (t->thread[i] != th)
			continue;
		memmove(t->thread + i, t->thread + i + 1,
		        (t->n_threads - i - 1) * sizeof(struct lz_thread *));
		t->n_threads--;
		release(th);
		return;
	}
}

void lz_threads_free(struct lz_tracer *t)
{
	while (t->n_threads)
		release(t->thread[--t->n_threads]);
	free(t->thread);
	t->thread = NULL;
	t->cur = NULL;
}
