/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/compare/pair_threads.h"

#include "replayer/compare/mix.h"
#include "replayer/compare/strand.h"
#include "replayer/answers/tally.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <lizard/syscalls.h>
#include <stdlib.h>

/* What a thread is known by: its maker, its function, and the how manieth such one it is. */
struct known {
	uint64_t key;
	uint32_t thread, entry;
	int side;
};

struct naming {
	struct lz_asked *a;
	const struct lz_paired_fns *fns;
	struct known *v; /* by thread */
	struct lz_tally seen;
};

/* MAKER: 0 of a thread that was there first, or that an execve has made. */
static int name(struct naming *g, uint32_t thread, uint64_t maker)
{
	struct known *one = &g->v[thread];
	uint32_t fn;

	if (lz_strand_entry(g->a, thread, &fn) < 0)
		return -1;
	one->entry = lz_paired_fn(g->fns, one->side, fn);
	const uint64_t kind = maker ? lz_mix(maker, one->entry) : 1;
	struct lz_tally_row *row = lz_tally_row(&g->seen, kind);
	if (!row)
		return -1;
	one->key = lz_mix(kind, ++row->n) | 1;
	return 0;
}

/* The thread that a call has made, by its tid; 0: none. A child's number is no thread's. */
static uint32_t made_by(const struct lz_event *ev)
{
	const struct lz_syscall *row = ev->kind == LZ_EV_SYSCALL ? lz_syscall(ev->nr) : NULL;

	if (ev->flags & LZ_EVF_THREAD_BORN)
		return ev->next;
	if (!row || row->klass != LZ_SC_FORK || ev->result <= 0 || ev->result > UINT32_MAX)
		return 0;
	return (uint32_t)ev->result;
}

static int on_event(struct naming *g, const struct lz_event *ev)
{
	const struct lz_stream_threads *t = &g->a->threads;
	const uint32_t tid = made_by(ev);

	if (!tid)
		return 0;
	const uint32_t maker = lz_stream_thread_at(t, ev->index);
	const uint32_t made = lz_stream_thread_find(t, tid, ev->index + 1);

	if (made == LZ_NO_THREAD || g->v[made].key || !g->v[maker].key)
		return 0;
	return name(g, made, g->v[maker].key);
}

/* Those that nobody in the recording has made, in the order in which they ran first. */
static int name_first(struct naming *g)
{
	const struct lz_turns *turns = &g->a->turns;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < g->a->threads.n; i++) {
		const struct lz_turn *turn = &turns->v[g->a->threads.first[i]];

		if (!turn->switched)
			rc = name(g, i, 0);
	}
	return rc;
}

static int name_all(struct naming *g)
{
	struct lz_reader *r = g->a->reader;
	const uint64_t n = lz_reader_n_events(r);
	int rc = name_first(g);

	for (uint64_t i = lz_reader_first_event(r); rc == 0 && i < n; i++) {
		i = lz_reader_event_telling(r, i);
		const struct lz_event *ev = i < n ? lz_reader_event(r, i) : NULL;

		if (ev)
			rc = on_event(g, ev);
		else if (i < n)
			rc = -1;
	}
	for (uint32_t i = 0; rc == 0 && i < g->a->threads.n; i++)
		if (!g->v[i].key)
			rc = name(g, i, 0);
	return rc;
}

/* ---- pairs ---- */

static int by_key(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->side - y->side;
}

static int by_thread(const void *a, const void *b)
{
	const struct lz_paired_thread *x = a, *y = b;
	const int first = x->thread[0] != y->thread[0] ? 0 : 1;

	if (x->thread[first] == y->thread[first])
		return 0;
	return x->thread[first] < y->thread[first] ? -1 : 1;
}

static int add(struct lz_paired_threads *p, const struct known *first, const struct known *second)
{
	if (lz_reserve(p->v, p->room, p->n + 1) < 0)
		return -1;
	p->v[p->n++] = (struct lz_paired_thread){.thread = {first ? first->thread : LZ_NO_THREAD,
	                                                    second ? second->thread : LZ_NO_THREAD},
	                                         .entry = first ? first->entry : second->entry};
	return 0;
}

static int pair(struct lz_paired_threads *p, struct known *v, size_t n)
{
	int rc = 0;

	qsort(v, n, sizeof(*v), by_key);
	for (size_t i = 0; rc == 0 && i < n;) {
		if (i + 1 < n && v[i].key == v[i + 1].key && v[i].side != v[i + 1].side) {
			rc = add(p, &v[i], &v[i + 1]);
			i += 2;
		} else {
			rc = v[i].side ? add(p, NULL, &v[i]) : add(p, &v[i], NULL);
			i++;
		}
	}
	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), by_thread);
	return rc;
}

int lz_pair_threads(struct lz_asked *a[2], const struct lz_paired_fns *fns,
                    struct lz_paired_threads *p)
{
	const size_t n = (size_t)a[0]->threads.n + a[1]->threads.n;
	struct known *v = calloc(n + 1, sizeof(*v));
	int rc = v ? 0 : lz_fail("out of memory for %zu threads", n);

	*p = (struct lz_paired_threads){0};
	for (int side = 0; rc == 0 && side < 2; side++) {
		struct naming g = {.a = a[side], .fns = fns, .v = v + (side ? a[0]->threads.n : 0)};

		for (uint32_t i = 0; i < a[side]->threads.n; i++)
			g.v[i] = (struct known){.thread = i, .side = side};
		rc = name_all(&g);
		lz_tally_free(&g.seen);
	}
	if (rc == 0)
		rc = pair(p, v, n);
	free(v);
	return rc;
}

void lz_paired_threads_free(struct lz_paired_threads *p)
{
	free(p->v);
	*p = (struct lz_paired_threads){0};
}
