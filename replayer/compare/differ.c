/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/compare/differ.h"

#include "replayer/compare/meet.h"
#include "replayer/compare/strand.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>

enum { PIECE = 1 << 16, BACK_TO_BYTES = 1 << 20 };

/* Two threads that are compared. */
struct pair {
	struct lz_differ *d;
	const struct lz_paired_thread *thread;
	struct lz_strand strand[2];
	struct lz_tokens tokens[2];
	uint64_t since[2], at[2];
};

enum step { PARTED, ENDED };

/* ---- going on together ---- */

/* At p->at, do both know all functions on the stack, with the same graphs? */
static int is_clean(struct pair *p)
{
	const struct lz_paired_fns *fns = &p->d->fns;

	for (int i = 0; fns->differ && i < 2; i++) {
		struct lz_decoder *d =
		    lz_stream_stack(p->d->a[i]->stream, p->at[i], p->thread->thread[i]);

		if (!d)
			return -1;
		for (size_t k = 0; k < d->n; k++)
			if (lz_paired_kind(fns, lz_paired_fn(fns, i, d->acts[k].fn)) !=
			    LZ_PAIR_SAME)
				return 0;
	}
	return 1;
}

/* As bytes, from p->at on, which is moved. */
static int go_by_bytes(struct pair *p)
{
	for (int i = 0; i < 2; i++)
		if (lz_strand_open(&p->strand[i], p->d->a[i], p->thread->thread[i], p->at[i]) < 0)
			return -1;
	const int rc = lz_strands_equal(p->strand, &p->d->fns, &p->d->work);
	for (int i = 0; i < 2; i++)
		p->at[i] = p->strand[i].at;
	return rc;
}

static void begin_tokens(struct pair *p)
{
	for (int i = 0; i < 2; i++)
		lz_tokens_begin(&p->tokens[i], p->at[i]);
}

static size_t equal_tokens(const struct lz_tokens t[2])
{
	size_t n = 0;

	while (n < t[0].n && n < t[1].n &&
	       lz_tokens_at(&t[0], n)->key == lz_tokens_at(&t[1], n)->key)
		n++;
	return n;
}

static void set_at(struct pair *p)
{
	for (int i = 0; i < 2; i++)
		p->at[i] =
		    p->tokens[i].n ? lz_tokens_at(&p->tokens[i], 0)->offset : p->tokens[i].next;
}

static bool has_ended(const struct lz_tokens *t)
{
	return t->end && !t->n;
}

/* With call stacks, from p->at on. 1: they are the same so far, and go on. */
static int go_by_tokens(struct pair *p, enum step *how)
{
	struct lz_tokens *t = p->tokens;

	for (size_t done = 0; done < BACK_TO_BYTES;) {
		if (lz_tokens_want(&t[0], PIECE) < 0 || lz_tokens_want(&t[1], PIECE) < 0)
			return -1;
		const size_t n = equal_tokens(t);
		lz_tokens_drop(&t[0], n);
		lz_tokens_drop(&t[1], n);
		set_at(p);
		done += n;
		*how = has_ended(&t[0]) && has_ended(&t[1]) ? ENDED : PARTED;
		if (*how == ENDED || (t[0].n && t[1].n) || (t[0].n && has_ended(&t[1])) ||
		    (t[1].n && has_ended(&t[0])))
			return 0;
	}
	return 1;
}

/* Up to where they part, with both windows there, or end. */
static int go_on(struct pair *p, enum step *how)
{
	for (;;) {
		int rc = is_clean(p);

		if (rc > 0)
			rc = go_by_bytes(p);
		if (rc < 0)
			return -1;
		*how = ENDED;
		if (rc == LZ_EQUAL_END)
			return 0;
		begin_tokens(p);
		rc = go_by_tokens(p, how);
		if (rc <= 0)
			return rc;
	}
}

/* ---- a difference ---- */

static int keep_stack(struct pair *p, struct lz_difference *one, struct lz_act top[2])
{
	for (int i = 0; i < 2; i++) {
		struct lz_decoder *d =
		    lz_stream_stack(p->d->a[i]->stream, p->at[i], p->thread->thread[i]);

		if (!d)
			return -1;
		top[i] = d->n ? d->acts[d->n - 1] : (struct lz_act){.fn = LZ_FN_NONE};
		if (i)
			break;
		one->depth = (uint32_t)d->n;
		one->stack = malloc((d->n + 1) * sizeof(*one->stack));
		if (!one->stack)
			return lz_fail("out of memory for a call stack");
		for (size_t k = 0; k < d->n; k++)
			one->stack[k] = lz_paired_fn(&p->d->fns, 0, d->acts[k].fn);
	}
	return 0;
}

static int find_ways(struct pair *p, struct lz_difference *one, const struct lz_act top[2])
{
	const uint32_t inner = one->depth ? one->stack[one->depth - 1] : LZ_FN_NONE;
	const struct lz_act *known[2] = {NULL, NULL};

	one->changed = lz_paired_kind(&p->d->fns, inner) != LZ_PAIR_SAME;
	if (!one->changed)
		for (int i = 0; i < 2; i++)
			known[i] = top[i].fn != LZ_FN_NONE ? &top[i] : NULL;
	/* the innermost function's next own marker is most often near */
	for (int i = 0; i < 2; i++)
		if (lz_tokens_want(&p->tokens[i], PIECE) < 0)
			return -1;
	return lz_ways_find(p->tokens, known, one->way);
}

static int find_meeting(struct pair *p, struct lz_difference *one)
{
	const int rc = lz_meet(p->tokens, LZ_MEET_MARKERS, one->meet);

	one->meets = rc > 0;
	one->meet_fn = LZ_FN_NONE;
	if (rc <= 0)
		return rc;
	struct lz_decoder *d =
	    lz_stream_stack(p->d->a[0]->stream, one->meet[0], p->thread->thread[0]);
	if (!d)
		return -1;
	if (d->n)
		one->meet_fn = lz_paired_fn(&p->d->fns, 0, d->acts[d->n - 1].fn);
	return 0;
}

static int note(struct pair *p)
{
	struct lz_differ *d = p->d;
	struct lz_act top[2];

	if (lz_reserve(d->v, d->room, d->n + 1) < 0)
		return -1;
	struct lz_difference *one = &d->v[d->n];
	*one = (struct lz_difference){.thread = p->thread};
	for (int i = 0; i < 2; i++) {
		one->since[i] = p->since[i];
		one->at[i] = p->at[i];
	}
	if (keep_stack(p, one, top) < 0 || find_ways(p, one, top) < 0 || find_meeting(p, one) < 0) {
		free(one->stack);
		return -1;
	}
	d->n++;
	for (int i = 0; i < 2; i++)
		p->since[i] = p->at[i] = one->meets ? one->meet[i] : d->a[i]->to;
	return one->meets;
}

/* ---- all ---- */

static int compare_pair(struct pair *p)
{
	for (uint64_t n = 0; !p->d->limit || n < p->d->limit; n++) {
		enum step how = ENDED;
		int rc = go_on(p, &how);

		if (rc == 0 && how == PARTED)
			rc = note(p);
		if (rc <= 0)
			return rc;
	}
	return 0;
}

static int compare(struct lz_differ *d, const struct lz_paired_thread *thread)
{
	struct pair p = {.d = d, .thread = thread};

	for (int i = 0; i < 2; i++)
		p.tokens[i] = (struct lz_tokens){.a = d->a[i],
		                                 .fns = &d->fns,
		                                 .work = &d->work,
		                                 .side = i,
		                                 .thread = thread->thread[i]};
	const int rc = compare_pair(&p);
	for (int i = 0; i < 2; i++) {
		lz_strand_close(&p.strand[i]);
		lz_tokens_free(&p.tokens[i]);
	}
	return rc;
}

bool lz_differ_wants(const struct lz_differ *d, const struct lz_paired_thread *t)
{
	return !d->tid ||
	       (t->thread[0] != LZ_NO_THREAD && lz_asked_tid(d->a[0], t->thread[0]) == d->tid);
}

static int by_place(const void *a, const void *b)
{
	const struct lz_difference *x = a, *y = b;

	if (x->at[0] != y->at[0])
		return x->at[0] < y->at[0] ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void expect_all(const struct lz_asked *a)
{
	lz_reader_expect(a->reader, lz_reader_meta(a->reader)->tid, 0,
	                 lz_stream_n_blocks(a->stream));
}

static int compare_all(struct lz_differ *d)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < d->threads.n; i++) {
		const struct lz_paired_thread *t = &d->threads.v[i];

		if (t->thread[0] != LZ_NO_THREAD && t->thread[1] != LZ_NO_THREAD &&
		    lz_differ_wants(d, t))
			rc = compare(d, t);
	}
	if (d->n)
		qsort(d->v, d->n, sizeof(*d->v), by_place);
	return rc;
}

/* Nothing can be said of programs that have nothing in common. */
static int check_common(const struct lz_differ *d)
{
	for (uint32_t i = 0; i < d->fns.n; i++)
		if (d->fns.kind[i] != LZ_PAIR_ALONE)
			return 0;
	return lz_fail("the recordings have no instrumented function in common: two runs of one "
	               "program can be compared, built with lizard-cc");
}

int lz_differ_run(struct lz_differ *d)
{
	if (lz_pair_fns(d->a, &d->fns) < 0 || check_common(d) < 0 ||
	    lz_pair_threads(d->a, &d->fns, &d->threads) < 0)
		return -1;
	expect_all(d->a[0]);
	expect_all(d->a[1]);
	lz_work_begin(&d->work, "comparing", d->a[0]->to - d->a[0]->from);
	const int rc = compare_all(d);
	lz_progress_end(&d->work.progress);
	d->partial = rc < 0 && lz_work_done(&d->work, 0) < 0;
	if (!d->partial)
		lz_work_end(&d->work);
	return d->partial ? 0 : rc;
}

void lz_differ_free(struct lz_differ *d)
{
	/* what there was has been printed */
	if (d->partial)
		lz_work_end(&d->work);
	for (size_t i = 0; i < d->n; i++)
		free(d->v[i].stack);
	free(d->v);
	lz_paired_threads_free(&d->threads);
	lz_paired_fns_free(&d->fns);
}
