/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of one thread's markers, in order: its turns, one behind the other. */
#ifndef LIZARD_REPLAYER_STRAND_H
#define LIZARD_REPLAYER_STRAND_H

#include "replayer/answers/asked.h"
#include "replayer/compare/pair_fns.h"

struct lz_strand {
	struct lz_asked *a;
	uint32_t turn; /* LZ_NO_TURN: behind the last */
	uint64_t at;   /* stream offset of what comes next */
	uint8_t *buf;  /* [len], of which the first POS bytes are used */
	size_t pos, len;
};

/* From stream offset OFFSET on, which begins a marker. Afterwards it can be moved again. */
int lz_strand_open(struct lz_strand *s, struct lz_asked *a, uint32_t thread, uint64_t offset);
void lz_strand_close(struct lz_strand *s);
/* Makes the next marker whole in the buffer, with more behind it where there are. 0: the strand
 * ends; 1; -1. */
int lz_strand_fill(struct lz_strand *s);
static inline const uint8_t *lz_strand_bytes(const struct lz_strand *s)
{
	return s->buf + s->pos;
}
static inline size_t lz_strand_left(const struct lz_strand *s)
{
	return s->len - s->pos;
}
static inline void lz_strand_use(struct lz_strand *s, size_t n)
{
	s->pos += n;
	s->at += n;
}

/* The function that a thread entered first, by the stream's number; LZ_FN_NONE: none is known. */
int lz_strand_entry(struct lz_asked *a, uint32_t thread, uint32_t *fn);

/* Goes on in both strands as long as their markers are the same. Functions that are called are
 * compared by their numbers, frames' addresses not at all. */
enum lz_equal {
	LZ_EQUAL_PART = 1, /* another marker comes next, or only one of them ends */
	LZ_EQUAL_END,      /* both end */
	LZ_EQUAL_CHANGED   /* a function comes next that the recordings do not have in common */
};
/* WORK is told of the bytes of the first strand. -1: lz_error(). */
int lz_strands_equal(struct lz_strand s[2], const struct lz_paired_fns *fns, struct lz_work *work);

#endif
