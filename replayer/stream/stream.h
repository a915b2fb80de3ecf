/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The marker stream with all threads' call stacks at the start of every block, found on first
 * use and kept in memory: only calls and returns are looked at, which runs as fast as the stream
 * decompresses. */
#ifndef LIZARD_REPLAYER_STREAM_H
#define LIZARD_REPLAYER_STREAM_H

#include "replayer/stream/decode.h"
#include "replayer/program/modules.h"
#include "replayer/stream/threads.h"

struct lz_stream;

/* An instrumented function at the place where it was loaded. */
struct lz_fn {
	const struct lz_cfg_func *f;
	struct lz_module *mod;
	enum lz_tail tail;
	uint32_t next;                   /* in the hash chain */
	uint32_t entry;                  /* low 32 bits of the run-time address */
	uint32_t n_markers;              /* as in F, which the decoder need not look at then */
	uint64_t from_marker, to_marker; /* the module's */
};

/* Reader, modules and threads must outlive it. */
struct lz_stream *lz_stream_new(struct lz_reader *r, struct lz_modules *m,
                                const struct lz_stream_threads *t);
void lz_stream_free(struct lz_stream *s);
/* Begins to find the stacks at the starts of all blocks in a thread with a reader of its own.
 * Optional: without, they are found when they are needed. */
int lz_stream_index_ahead(struct lz_stream *s);
struct lz_reader *lz_stream_reader(const struct lz_stream *s);
const struct lz_stream_threads *lz_stream_threads(const struct lz_stream *s);
uint64_t lz_stream_len(const struct lz_stream *s);
uint32_t lz_stream_n_blocks(const struct lz_stream *s);
/* The block that holds stream byte OFFSET (the last one for what lies behind it). */
uint32_t lz_stream_block_of(struct lz_stream *s, uint64_t offset);

size_t lz_stream_n_fns(const struct lz_stream *s);
const struct lz_fn *lz_stream_fn(const struct lz_stream *s, uint32_t fn);
/* The number of an instrumented function by the run-time address of any of its instructions,
 * after EVENT events; LZ_FN_NONE if it is not instrumented. */
uint32_t lz_stream_fn_at(struct lz_stream *s, uint64_t addr, uint64_t event);

/* Makes the call stacks at the starts of blocks 0..BLOCK known, if they are not. What follows
 * does so by itself, in one go. */
int lz_stream_index(struct lz_stream *s, uint32_t block);
/* At how many blocks' starts they are known. */
uint32_t lz_stream_indexed(const struct lz_stream *s);
/* What is known of all blocks is kept in the recording, in `index/stacks-TID`, unless there is
 * little of it, and taken from there if it is of this recording. Neither has to succeed. */
void lz_stream_index_keep(struct lz_stream *s);
void lz_stream_index_fetch(struct lz_stream *s);
/* May an activation of FN have run in BLOCK? Known for blocks before the last indexed one, else
 * it may. */
bool lz_stream_ran(const struct lz_stream *s, uint32_t block, uint32_t fn);
/* The same of all blocks: USED[fn], for each function. */
void lz_stream_used(const struct lz_stream *s, bool *used);
/* Did one begin? */
bool lz_stream_began(const struct lz_stream *s, uint32_t block, uint32_t fn);

/* Decodes block I from its start up to (not including) the first marker at or behind END; see
 * lz_decoder_feed(). The decoder's number of the running thread is that of the marker. It is the
 * stream's own and holds the stack afterwards. Returns 0, or what FN returned. */
int lz_stream_decode(struct lz_stream *s, uint32_t block, uint64_t end, const uint8_t *watch,
                     lz_mark_fn *fn, void *arg);
/* Called where D has decoded the stream up to OFFSET. Non-zero ends the decoding. */
typedef int lz_spot_fn(void *arg, struct lz_decoder *d, uint64_t offset);
/* A walk over a piece of the stream, in order, with all threads' call stacks known. */
struct lz_walk {
	uint64_t from, to;    /* stream offsets */
	const uint8_t *watch; /* as lz_decoder_feed() takes it */
	bool calls_only;      /* FN is not called for edges */
	lz_mark_fn *fn;
	/* Called behind each block, and once in front of the first marker at or behind FROM;
	 * non-zero ends the walk. May be NULL. */
	lz_spot_fn *at;
	void *arg;
};
/* Returns 0, or what FN or AT returned; -1: lz_error(). */
int lz_stream_walk(struct lz_stream *s, const struct lz_walk *w);
/* The decoder that the last decoding has left. */
struct lz_decoder *lz_stream_decoder(struct lz_stream *s);
/* As lz_stream_decode(), without the index: from an empty stack, as if nothing were known of
 * what was called before the block. Activations that began in the block are right. */
int lz_stream_decode_local(struct lz_stream *s, uint32_t block, uint64_t end, const uint8_t *watch,
                           lz_mark_fn *fn, void *arg);
/* The stack of thread number THREAD after exactly OFFSET bytes. Valid until the next call. */
struct lz_decoder *lz_stream_stack(struct lz_stream *s, uint64_t offset, uint32_t thread);
/* The same with nothing known of what was called before the block that holds OFFSET. */
struct lz_decoder *lz_stream_stack_local(struct lz_stream *s, uint64_t offset, uint32_t thread);
/* What did not fit in everything decoded so far. */
uint64_t lz_stream_oddities(const struct lz_stream *s);

#endif
