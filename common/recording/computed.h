/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of a marker stream of which the recording has only checksums, as replay has computed them:
 * DIR/index/markers-TID, see format.h. Anybody can have written that file. So a block is compared
 * with the recording's checksum whenever it is read, and one that is wrong counts as missing. */
#ifndef LIZARD_COMPUTED_H
#define LIZARD_COMPUTED_H

#include <common/recording/frame.h>

struct lz_reader;
struct lz_stream;

/* Zeroed is: nothing is known yet. */
struct lz_computed {
	bool opened;
	int fd;              /* -1: there is no file */
	bool writes;         /* FD may be written */
	char *why;           /* nothing more can be kept; malloced, or NULL */
	uint32_t n;          /* frames that are known */
	uint64_t end;        /* where they end */
	struct lz_frame *of; /* for each frame of the stream; type 0: not computed */
};
void lz_computed_free(struct lz_computed *c);
/* Whether frame I of the stream S of R is there, as far as the file has been read. */
bool lz_computed_has(const struct lz_reader *r, struct lz_stream *s, uint32_t i);
/* Its bytes, which are right, in a slot of s->cache; NULL: they are not there. */
const struct lz_buf *lz_computed_get(const struct lz_reader *r, struct lz_stream *s, uint32_t i);

#endif
