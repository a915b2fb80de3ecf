/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the decoded stream share. */
#ifndef LIZARD_REPLAYER_STREAM_INT_H
#define LIZARD_REPLAYER_STREAM_INT_H

#include <pthread.h>
#include <stdatomic.h>
#include "replayer/stream/stream.h"

/* A place in the stream with the call stacks there; for one thread of ours. */
struct lz_cursor {
	struct lz_reader *reader;
	struct lz_decoder d;
	uint64_t at;   /* stream offset up to which d has decoded */
	uint32_t turn; /* the one that is going on */
	uint8_t *buf;
	uint64_t buf_start, buf_len;
	uint32_t buf_block;
	/* Called where a thread's turn ends; may be NULL. */
	lz_spot_fn *turn_ends;
	void *turn_arg;
};

struct lz_stream {
	struct lz_modules *modules;
	const struct lz_stream_threads *threads;
	uint32_t tid, n_blocks;
	struct lz_fn *fns;
	size_t n_fns;
	uint32_t *hash, hash_mask;
	bool any_tail_either; /* a function of kind LZ_TAIL_EITHER */
	struct lz_cursor own;

	/* The index, used with the lock held; n_starts, and what is known of blocks before it in
	 * `ran` and `began`, may be read without. */
	pthread_mutex_t lock;
	struct node *nodes;
	size_t n_nodes, cap_nodes;
	struct saved_parked *parked;
	size_t n_parked, cap_parked;
	struct saved_stack *stacks;
	size_t n_stacks, cap_stacks;
	struct saved *starts; /* [n_blocks], the first n_starts are known */
	_Atomic uint32_t n_starts;
	/* Which functions ran in block I, the first n_starts - 1, and of which an activation
	 * began there: a bit for each, FN modulo ran_bits. */
	uint8_t *ran, *began;
	size_t ran_bits;
	uint8_t *running;          /* [n_fns + 1], of the block that is being decoded */
	_Atomic uint64_t oddities; /* what did not fit when the index was made */
	bool fetched;              /* the recording has it */

	/* A thread that makes the index. */
	pthread_t thread;
	bool has_thread;
	_Atomic bool quit;
	_Atomic uint32_t waiting; /* for the lock: the thread lets them */
	struct lz_cursor ahead;
};

/* ---- cursor.c ---- */
void lz_cursor_init(struct lz_stream *s, struct lz_cursor *c, struct lz_reader *r);
void lz_cursor_free(struct lz_cursor *c);
int lz_cursor_load(struct lz_stream *s, struct lz_cursor *c, uint32_t block);
/* To the start of the loaded block, the stacks there being known; the thread that has written
 * what is before runs. */
int lz_cursor_begin(struct lz_stream *s, struct lz_cursor *c);
/* The turns that begin before the marker at c->at; the next one, if there is one. */
int lz_cursor_turns(struct lz_stream *s, struct lz_cursor *c);
int lz_cursor_turn(struct lz_stream *s, struct lz_cursor *c);
/* Decodes what is left of the loaded block, from c->at up to END. */
int lz_cursor_decode(struct lz_stream *s, struct lz_cursor *c, uint64_t end, const uint8_t *watch,
                     lz_mark_fn *fn, void *arg);

/* ---- fns.c ---- */
/* Finds the instrumented functions of all modules. */
int lz_stream_collect(struct lz_stream *s);
/* What a decoder asks about them. */
void lz_stream_questions(struct lz_stream *s, struct lz_decoder *d);

/* ---- begin.c ---- */
/* D gets the stacks that there are at the first checkpoint. */
int lz_stream_begin(struct lz_stream *s, struct lz_decoder *d);

/* ---- index.c ---- */
int lz_index_new(struct lz_stream *s);
void lz_index_free(struct lz_stream *s);
struct lz_piece;
/* Who looks at markers while they are decoded, as lz_decoder_feed() has it. */
struct lz_looking {
	const uint8_t *watch;
	lz_mark_fn *fn;
	void *arg;
};
/* With the lock held: finds the stacks behind the first block where they are not known. P: that
 * block is decoded already, but for what is left; NULL: it is not. Gives C's decoder those at the
 * start of BLOCK, which are. */
int lz_index_next(struct lz_stream *s, struct lz_cursor *c, struct lz_piece *p,
                  const struct lz_looking *l);
int lz_index_load(struct lz_stream *s, struct lz_cursor *c, uint32_t block);
/* C's decoder gets the stack at the start of BLOCK, found first if it is not known. */
int lz_index_restore(struct lz_stream *s, struct lz_cursor *c, uint32_t block);

#endif
