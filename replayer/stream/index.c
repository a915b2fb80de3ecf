/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call stack at the start of every block. Activations that several blocks share are kept
 * once: a stack is a path in a tree, from its innermost activation to the root. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <common/base/array.h>
#include <common/base/thread.h>
#include <lizard/error.h>
#include <lizard/restore.h>
#include "replayer/stream/piece.h"
#include "replayer/stream/saved.h"

static int no_memory(void)
{
	return lz_fail("out of memory for the index of call stacks");
}

/* Saves what is not yet saved of N activations; what lies below a saved one is saved too. */
static int save_acts(struct lz_stream *s, struct lz_act *a, size_t n, uint32_t *top)
{
	size_t first = n;
	uint32_t parent;

	while (first && !a[first - 1].node)
		first--;
	parent = first ? a[first - 1].node : 0;
	for (size_t i = first; i < n; i++) {
		if (lz_reserve(s->nodes, s->cap_nodes, s->n_nodes + 1) < 0)
			return no_memory();
		a[i].node = s->n_nodes;
		s->nodes[s->n_nodes++] = (struct node){a[i], parent};
		parent = a[i].node;
	}
	*top = parent;
	return 0;
}

static int save_parked(struct lz_stream *s, struct lz_parked *parked, size_t n,
                       struct saved_stack *st)
{
	st->parked = s->n_parked;
	st->n_parked = n;
	for (size_t i = 0; i < n; i++) {
		struct lz_parked *p = &parked[i];
		struct saved_parked *sp;

		if (lz_reserve(s->parked, s->cap_parked, s->n_parked + 1) < 0)
			return no_memory();
		sp = &s->parked[s->n_parked++];
		sp->base = p->base;
		sp->n = p->n;
		if (save_acts(s, p->acts, p->n, &sp->top))
			return -1;
	}
	return 0;
}

static int save_stack(struct lz_stream *s, uint32_t thread, const struct lz_stack *from)
{
	struct saved_stack one = {.thread = thread};

	if (!from->n && !from->n_parked)
		return 0;
	if (save_acts(s, from->acts, from->n, &one.top) ||
	    save_parked(s, from->parked, from->n_parked, &one))
		return -1;
	if (lz_reserve(s->stacks, s->cap_stacks, s->n_stacks + 1) < 0)
		return no_memory();
	s->stacks[s->n_stacks++] = one;
	return 0;
}

static int save(struct lz_stream *s, struct lz_decoder *d, uint32_t block)
{
	struct lz_stack running = {d->acts, d->n, d->cap, d->parked, d->n_parked};
	size_t first = s->n_stacks;

	if (save_stack(s, d->thread, &running))
		return -1;
	for (uint32_t i = 0; i < d->n_stacks; i++)
		if (save_stack(s, i, &d->stack[i]))
			return -1;
	s->starts[block] = (struct saved){.stacks = first,
	                                  .n = s->n_stacks - first,
	                                  .landed_act = d->landed.act,
	                                  .landed_last = d->landed.last};
	return 0;
}

/* The N topmost activations of a saved stack, oldest first. */
static void load_acts(struct lz_stream *s, uint32_t top, struct lz_act *a, size_t n)
{
	for (size_t i = n; i-- > 0 && top;) {
		a[i] = s->nodes[top].act;
		a[i].node = top;
		top = s->nodes[top].parent;
	}
}

static int restore_parked(struct lz_stream *s, struct lz_decoder *d, const struct saved_stack *st)
{
	if (!st->n_parked)
		return 0;
	if (!d->parked)
		d->parked = calloc(LZ_MAX_PARKED, sizeof(*d->parked));
	for (uint32_t i = 0; d->parked && i < st->n_parked; i++) {
		const struct saved_parked *sp = &s->parked[st->parked + i];
		struct lz_parked *p = &d->parked[i];

		p->acts = calloc(sp->n, sizeof(*p->acts));
		if (!p->acts)
			return lz_fail("out of memory for a parked call stack");
		load_acts(s, sp->top, p->acts, sp->n);
		p->n = sp->n;
		p->base = sp->base;
		d->n_parked++;
	}
	return d->parked ? 0 : lz_fail("out of memory for a parked call stack");
}

static int restore_stack(struct lz_stream *s, struct lz_decoder *d, const struct saved_stack *st)
{
	struct lz_act empty = {.fn = LZ_FN_NONE};
	size_t depth = 0;

	if (lz_decoder_switch(d, st->thread))
		return -1;
	for (uint32_t i = st->top; i; i = s->nodes[i].parent)
		depth++;
	for (size_t i = 0; i < depth; i++)
		if (lz_decoder_push(d, &empty))
			return -1;
	load_acts(s, st->top, d->acts, d->n);
	return restore_parked(s, d, st);
}

int lz_index_load(struct lz_stream *s, struct lz_cursor *c, uint32_t block)
{
	const struct saved *st = &s->starts[block];
	struct lz_decoder *d = &c->d;

	lz_decoder_reset(d);
	for (uint32_t i = 0; i < st->n; i++)
		if (restore_stack(s, d, &s->stacks[st->stacks + i]))
			return -1;
	d->landed.act = st->landed_act;
	d->landed.last = (uint32_t)st->landed_last;
	return 0;
}

static void note(struct lz_stream *s, uint32_t block, const uint8_t *running)
{
	const size_t row = block * (s->ran_bits / 8);

	for (size_t k = 0; k < s->n_fns; k++) {
		size_t at = row + k % s->ran_bits / 8;

		if (running[k] & LZ_RAN)
			s->ran[at] |= 1 << k % 8;
		if (running[k] & LZ_BEGAN)
			s->began[at] |= 1 << k % 8;
	}
}

/* Decodes the block, which is loaded and whose stack at the start is known, and notes which
 * functions run in it. */
static int decode_noting(struct lz_stream *s, struct lz_cursor *c, struct lz_piece *p,
                         const struct lz_looking *l)
{
	const struct lz_act *top = lz_decoder_top(&c->d);
	uint8_t *running = p ? p->d.ran : s->running;
	int rc;

	if (!p)
		memset(running, 0, s->n_fns + 1);
	if (top && top->fn != LZ_FN_NONE)
		running[top->fn] |= LZ_RAN;
	c->d.ran = running;
	rc = p ? lz_piece_join(s, c, p, l)
	       : lz_cursor_decode(s, c, UINT64_MAX, l->watch, l->fn, l->arg);
	c->d.ran = NULL;
	if (rc == 0)
		note(s, c->buf_block, running);
	return rc;
}

int lz_index_next(struct lz_stream *s, struct lz_cursor *c, struct lz_piece *p,
                  const struct lz_looking *l)
{
	uint32_t i = s->n_starts - 1;
	uint64_t oddities = c->d.oddities;

	if (lz_index_load(s, c, i) || lz_cursor_load(s, c, i) || lz_cursor_begin(s, c))
		return -1;
	if (decode_noting(s, c, p, l))
		return -1;
	if (c->d.oddities != oddities) {
		lz_debug("block %u of markers-%u: %llu markers do not fit", i, s->tid,
		         (unsigned long long)(c->d.oddities - oddities));
		s->oddities += c->d.oddities - oddities;
	}
	if (save(s, &c->d, i + 1))
		return -1;
	s->n_starts++;
	return 0;
}

static void lock(struct lz_stream *s)
{
	s->waiting++;
	pthread_mutex_lock(&s->lock);
	s->waiting--;
}

/* All of what is missing up to BLOCK will be read. */
static void expect(const struct lz_stream *s, const struct lz_cursor *c, uint32_t block)
{
	if (s->n_starts <= block)
		lz_reader_expect(c->reader, s->tid, s->n_starts - 1, block + 1);
}

int lz_index_restore(struct lz_stream *s, struct lz_cursor *c, uint32_t block)
{
	int ret = 0;

	lock(s);
	expect(s, c, block);
	while (!ret && s->n_starts <= block)
		ret = lz_index_next(s, c, NULL, &(struct lz_looking){0});
	if (!ret)
		ret = lz_index_load(s, c, block);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

int lz_stream_index(struct lz_stream *s, uint32_t block)
{
	int ret = 0;

	lock(s);
	while (!ret && s->n_starts <= block)
		ret = lz_index_next(s, &s->own, NULL, &(struct lz_looking){0});
	pthread_mutex_unlock(&s->lock);
	return ret;
}

uint32_t lz_stream_indexed(const struct lz_stream *s)
{
	return s->n_starts;
}

static bool noted(const struct lz_stream *s, const uint8_t *bits, uint32_t block, uint32_t fn)
{
	if (block + 1 >= s->n_starts || fn >= s->n_fns)
		return true;
	return bits[block * (s->ran_bits / 8) + fn % s->ran_bits / 8] >> fn % 8 & 1;
}

bool lz_stream_ran(const struct lz_stream *s, uint32_t block, uint32_t fn)
{
	return noted(s, s->ran, block, fn);
}

bool lz_stream_began(const struct lz_stream *s, uint32_t block, uint32_t fn)
{
	return noted(s, s->began, block, fn);
}

enum { RAN_BITS_MAX = 4096 };

void lz_stream_used(const struct lz_stream *s, bool *used)
{
	const size_t n = s->ran_bits / 8;
	const bool all = s->n_starts <= s->n_blocks;
	uint8_t any[RAN_BITS_MAX / 8] = {0};

	for (size_t i = 0; i < s->n_blocks * n; i++)
		any[i % n] |= s->ran[i] | s->began[i];
	for (size_t fn = 0; fn < s->n_fns; fn++)
		used[fn] = all || any[fn % s->ran_bits / 8] >> fn % 8 & 1;
}

int lz_index_new(struct lz_stream *s)
{
	s->ran_bits = (s->n_fns + 8) & ~(size_t)7;
	if (s->ran_bits > RAN_BITS_MAX)
		s->ran_bits = RAN_BITS_MAX;
	s->running = malloc(s->n_fns + 1);
	s->ran = calloc((size_t)s->n_blocks + 1, s->ran_bits / 8);
	s->began = calloc((size_t)s->n_blocks + 1, s->ran_bits / 8);
	pthread_mutex_init(&s->lock, NULL);
	s->starts = calloc(s->n_blocks + 1, sizeof(*s->starts));
	s->n_nodes = 1; /* node 0: the empty stack */
	s->n_starts = 1;
	if (!s->starts || !s->ran || !s->began || !s->running)
		return lz_fail("out of memory for the index of call stacks");
	if (!lz_reader_begins_inside(s->own.reader))
		return 0;
	return lz_stream_begin(s, &s->own.d) || save(s, &s->own.d, 0) ? -1 : 0;
}

void lz_index_free(struct lz_stream *s)
{
	if (s->has_thread) {
		s->quit = true;
		pthread_join(s->thread, NULL);
		lz_reader_close(s->ahead.reader);
		lz_cursor_free(&s->ahead);
	}
	pthread_mutex_destroy(&s->lock);
	free(s->nodes);
	free(s->parked);
	free(s->stacks);
	free(s->starts);
	free(s->ran);
	free(s->began);
	free(s->running);
}

/* An error ends it: whoever needs the rest meets it again, and can report it. */
static void *work(void *arg)
{
	struct lz_stream *s = arg;
	int ret = 0;

	lz_stub_unpin();
	setpriority(PRIO_PROCESS, (id_t)gettid(), 10);
	while (!ret && !s->quit) {
		pthread_mutex_lock(&s->lock);
		ret = s->n_starts < s->n_blocks
		          ? lz_index_next(s, &s->ahead, NULL, &(struct lz_looking){0})
		          : -1;
		pthread_mutex_unlock(&s->lock);
		while (s->waiting && !s->quit)
			usleep(100);
	}
	return NULL;
}

int lz_stream_index_ahead(struct lz_stream *s)
{
	if (s->has_thread || s->n_blocks < 2)
		return 0;
	struct lz_reader *r = lz_reader_again(s->own.reader);
	if (!r)
		return -1;
	lz_cursor_init(s, &s->ahead, r);
	if (lz_thread_start(&s->thread, "lizard-index", work, s) < 0) {
		lz_cursor_free(&s->ahead);
		lz_reader_close(r);
		return -1;
	}
	s->has_thread = true;
	return 0;
}
