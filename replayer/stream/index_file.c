/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The index of call stacks as a file in the recording:
 *
 *   struct header
 *   struct saved         [n_blocks + 1]
 *   struct saved_stack   [n_stacks]
 *   struct saved_parked  [n_parked]
 *   struct lz_act        [n_nodes - 1]     ; from node 1 on; lz_act.node is the parent
 *   ran, began           [n_blocks][ran_bits / 8] each
 *
 * All of it is compared with the recording and checked before anything is used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <common/recording/flowsum.h>
#include <lizard/error.h>
#include "replayer/stream/saved.h"

#define MAGIC 0x73636174734c5a00u
enum {
	VERSION = 2, /* of the file, and of what the decoder finds out */
	LEAST_BLOCKS = 4
};
#define MOST_BYTES ((size_t)256 << 20)

struct header {
	uint64_t magic, version;
	uint64_t recording, functions;
	uint64_t n_blocks, n_stacks, n_parked, n_nodes, ran_bits, oddities;
};

_Static_assert(sizeof(struct saved) == 24 && sizeof(struct saved_stack) == 16 &&
                   sizeof(struct saved_parked) == 16 && sizeof(struct lz_act) == 48,
               "they are written as they are, and have no holes");

/* ---- what it is compared with ---- */

static void add_number(struct lz_flow_sum *sum, uint64_t n)
{
	lz_flow_sum_add(sum, (const uint8_t *)&n, sizeof(n));
}

static uint64_t functions_of(const struct lz_stream *s)
{
	struct lz_flow_sum sum;

	lz_flow_sum_begin(&sum, LZ_SUM_XXH3);
	for (size_t i = 0; i < s->n_fns; i++) {
		const struct lz_fn *fn = &s->fns[i];

		add_number(&sum, (uint64_t)fn->entry << 32 | fn->tail);
		add_number(&sum, fn->f->n_markers);
		add_number(&sum, fn->from_marker);
		add_number(&sum, fn->to_marker);
	}
	add_number(&sum, s->n_fns);
	return lz_flow_sum_value(&sum);
}

static struct header header_of(const struct lz_stream *s)
{
	return (struct header){.magic = MAGIC,
	                       .version = VERSION,
	                       .recording = lz_reader_fingerprint(s->own.reader),
	                       .functions = functions_of(s),
	                       .n_blocks = s->n_blocks,
	                       .n_stacks = s->n_stacks,
	                       .n_parked = s->n_parked,
	                       .n_nodes = s->n_nodes,
	                       .ran_bits = s->ran_bits,
	                       .oddities = s->oddities};
}

static void name_of(const struct lz_stream *s, char name[32])
{
	snprintf(name, 32, "stacks-%u", s->tid);
}

/* ---- parts of the file ---- */

struct part {
	size_t at, len;
};

struct layout {
	struct part starts, stacks, parked, nodes, ran, began;
	size_t len;
};

/* Numbers that are too large have no layout: those of others are bounded by the file's length. */
static bool lay_out(const struct header *h, struct layout *l)
{
	struct {
		struct part *part;
		uint64_t n, size;
	} all[] = {{&l->starts, h->n_blocks + 1, sizeof(struct saved)},
	           {&l->stacks, h->n_stacks, sizeof(struct saved_stack)},
	           {&l->parked, h->n_parked, sizeof(struct saved_parked)},
	           {&l->nodes, h->n_nodes - 1, sizeof(struct lz_act)},
	           {&l->ran, h->n_blocks, h->ran_bits / 8},
	           {&l->began, h->n_blocks, h->ran_bits / 8}};

	l->len = sizeof(*h);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (all[i].n > MOST_BYTES || all[i].size > MOST_BYTES)
			return false;
		*all[i].part = (struct part){l->len, all[i].n * all[i].size};
		l->len += all[i].part->len;
	}
	return h->n_nodes && l->len <= MOST_BYTES;
}

/* ---- writing ---- */

static void put(uint8_t *file, struct part p, const void *from)
{
	if (p.len)
		memcpy(file + p.at, from, p.len);
}

static void put_nodes(const struct lz_stream *s, uint8_t *file, struct part p)
{
	for (size_t i = 1; i < s->n_nodes; i++) {
		struct lz_act act = s->nodes[i].act;

		act.node = s->nodes[i].parent;
		memcpy(file + p.at + (i - 1) * sizeof(act), &act, sizeof(act));
	}
}

static int keep(const struct lz_stream *s)
{
	struct header h = header_of(s);
	struct layout l;
	char name[32];

	if (!lay_out(&h, &l))
		return lz_fail("it is too long");
	uint8_t *file = calloc(1, l.len);
	if (!file)
		return lz_fail("no memory");
	put(file, (struct part){0, sizeof(h)}, &h);
	put(file, l.starts, s->starts);
	put(file, l.stacks, s->stacks);
	put(file, l.parked, s->parked);
	put_nodes(s, file, l.nodes);
	put(file, l.ran, s->ran);
	put(file, l.began, s->began);
	name_of(s, name);
	const int rc = lz_reader_index_write(s->own.reader, name, file, l.len);
	free(file);
	return rc;
}

void lz_stream_index_keep(struct lz_stream *s)
{
	if (s->fetched || s->n_blocks < LEAST_BLOCKS || s->n_starts <= s->n_blocks)
		return;
	if (keep(s) < 0)
		lz_debug("call stacks are not kept in the recording: %s", lz_error());
	s->fetched = true;
}

/* ---- checking ---- */

static bool is_act(const struct lz_stream *s, const struct lz_act *act, uint32_t own)
{
	return act->node < own && (act->fn < s->n_fns || act->fn == LZ_FN_NONE) && act->tail <= 2;
}

static bool is_deep(const struct lz_stream *s, uint32_t top, uint32_t n)
{
	for (; n && top; n--)
		top = s->nodes[top].parent;
	return !n;
}

static bool is_parked(const struct lz_stream *s, const struct saved_parked *p)
{
	return p->top < s->n_nodes && p->n && p->n <= LZ_MAX_PARKED_ACTS &&
	       is_deep(s, p->top, p->n);
}

static bool is_stack(const struct lz_stream *s, const struct saved_stack *st)
{
	return st->thread < s->threads->n && st->top < s->n_nodes &&
	       st->n_parked <= LZ_MAX_PARKED && st->parked <= s->n_parked &&
	       st->n_parked <= s->n_parked - st->parked;
}

/* A thread has one stack. SEEN: 1 + the block in which each thread was seen last. */
static bool is_start(const struct lz_stream *s, uint32_t block, uint32_t *seen)
{
	const struct saved *st = &s->starts[block];

	if (st->stacks > s->n_stacks || st->n > s->n_stacks - st->stacks)
		return false;
	for (uint32_t i = 0; i < st->n; i++) {
		const uint32_t thread = s->stacks[st->stacks + i].thread;

		if (seen[thread] == block + 1)
			return false;
		seen[thread] = block + 1;
	}
	return true;
}

static bool all_fit(const struct lz_stream *s)
{
	uint32_t *seen = calloc(s->threads->n + 1u, sizeof(*seen));
	bool ok = seen;

	for (size_t i = 1; ok && i < s->n_nodes; i++)
		ok = is_act(s, &s->nodes[i].act, (uint32_t)i);
	for (size_t i = 0; ok && i < s->n_parked; i++)
		ok = is_parked(s, &s->parked[i]);
	for (size_t i = 0; ok && i < s->n_stacks; i++)
		ok = is_stack(s, &s->stacks[i]);
	for (uint32_t i = 0; ok && i <= s->n_blocks; i++)
		ok = is_start(s, i, seen);
	free(seen);
	return ok;
}

/* ---- reading ---- */

static void *copy_of(const uint8_t *file, struct part p)
{
	void *copy = malloc(p.len + 1);

	if (copy && p.len)
		memcpy(copy, file + p.at, p.len);
	return copy;
}

static struct node *nodes_of(const uint8_t *file, struct part p, size_t n)
{
	struct node *v = calloc(n, sizeof(*v));

	for (size_t i = 1; v && i < n; i++) {
		memcpy(&v[i].act, file + p.at + (i - 1) * sizeof(v->act), sizeof(v->act));
		v[i].parent = v[i].act.node;
	}
	return v;
}

/* What the file has instead of what S has: S gets it as it is. */
static bool take(struct lz_stream *s, const uint8_t *file, const struct header *h,
                 const struct layout *l)
{
	s->n_nodes = s->cap_nodes = h->n_nodes;
	s->n_parked = s->cap_parked = h->n_parked;
	s->n_stacks = s->cap_stacks = h->n_stacks;
	s->nodes = nodes_of(file, l->nodes, h->n_nodes);
	s->parked = copy_of(file, l->parked);
	s->stacks = copy_of(file, l->stacks);
	s->starts = copy_of(file, l->starts);
	return s->nodes && s->parked && s->stacks && s->starts && all_fit(s);
}

static void free_saved(struct lz_stream *s)
{
	free(s->nodes);
	free(s->parked);
	free(s->stacks);
	free(s->starts);
}

static bool fits(const struct lz_stream *s, const uint8_t *file, size_t len, struct header *h,
                 struct layout *l)
{
	const struct header own = header_of(s);

	if (len < sizeof(*h))
		return false;
	memcpy(h, file, sizeof(*h));
	return h->magic == own.magic && h->version == own.version &&
	       h->recording == own.recording && h->functions == own.functions &&
	       h->n_blocks == own.n_blocks && h->ran_bits == own.ran_bits && lay_out(h, l) &&
	       l->len == len;
}

static int fetch(struct lz_stream *s)
{
	const struct lz_stream had = *s;
	struct header h;
	struct layout l;
	uint8_t *file;
	size_t len;
	char name[32];

	name_of(s, name);
	if (lz_reader_index_read(s->own.reader, name, MOST_BYTES, &file, &len) < 0)
		return -1;
	if (!fits(s, file, len, &h, &l)) {
		free(file);
		return lz_fail("%s is not of this recording", name);
	}
	if (!take(s, file, &h, &l)) {
		free(file);
		free_saved(s);
		s->nodes = had.nodes, s->parked = had.parked, s->stacks = had.stacks;
		s->starts = had.starts;
		s->n_nodes = had.n_nodes, s->cap_nodes = had.cap_nodes;
		s->n_parked = had.n_parked, s->cap_parked = had.cap_parked;
		s->n_stacks = had.n_stacks, s->cap_stacks = had.cap_stacks;
		return lz_fail("%s is damaged", name);
	}
	free(had.nodes);
	free(had.parked);
	free(had.stacks);
	free(had.starts);
	memcpy(s->ran, file + l.ran.at, l.ran.len);
	memcpy(s->began, file + l.began.at, l.began.len);
	s->oddities = h.oddities;
	s->n_starts = s->n_blocks + 1;
	s->fetched = true;
	free(file);
	return 0;
}

void lz_stream_index_fetch(struct lz_stream *s)
{
	if (!s->fetched && !s->has_thread && s->n_starts <= s->n_blocks && fetch(s) < 0)
		lz_debug("call stacks are found anew: %s", lz_error());
}
