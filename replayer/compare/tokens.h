/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread's markers with the call stack of each, so that those of two recordings can be compared.
 * A window of them is in memory. Left out is what the recordings do not have in common: calls of
 * functions that only one of them has, with all that is below; in functions whose graphs differ, all
 * but the calls and the return. */
#ifndef LIZARD_REPLAYER_TOKENS_H
#define LIZARD_REPLAYER_TOKENS_H

#include "replayer/answers/asked.h"
#include "replayer/compare/pair_fns.h"

struct lz_token {
	uint64_t offset; /* of the marker */
	uint64_t key;    /* of the marker and the functions on the stack: equal if these are */
	uint32_t id;     /* as in struct lz_mark; of ENTER and LANDING the function's number */
	uint32_t code : 8;
	uint32_t depth : 24; /* functions on the stack before it */
};

struct lz_token_frame {
	uint64_t id, key;
	uint32_t number;
	bool out; /* what it does is left out */
};

struct lz_tokens {
	struct lz_asked *a;
	const struct lz_paired_fns *fns;
	struct lz_work *work;
	int side;
	uint32_t thread;
	/* the window: V[first..first + n) */
	struct lz_token *v;
	size_t first, n, room;
	uint64_t next;                /* stream offset of what has not been decoded */
	bool end;                     /* there is nothing more */
	struct lz_token_frame *frame; /* of the stack, as far as it is known */
	size_t n_frames, frames_room;
};

/* Zeroes but A, FNS, WORK, SIDE and THREAD are right to begin with. The window is empty then. */
void lz_tokens_begin(struct lz_tokens *t, uint64_t offset);
void lz_tokens_free(struct lz_tokens *t);
/* Makes the window N long, unless the strand ends before. */
int lz_tokens_want(struct lz_tokens *t, size_t n);
/* The first N go. */
void lz_tokens_drop(struct lz_tokens *t, size_t n);

static inline const struct lz_token *lz_tokens_at(const struct lz_tokens *t, size_t i)
{
	return &t->v[t->first + i];
}

#endif
