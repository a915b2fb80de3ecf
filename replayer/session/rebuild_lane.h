/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lane computes one stretch of markers after the other: an engine with a reader and an image of
 * its own, so that nobody's events, image or interrupts are in the way. Several may be at work at
 * once, each in a thread of its own. */
#ifndef LZ_REPLAYER_REBUILD_LANE_H
#define LZ_REPLAYER_REBUILD_LANE_H

#include "replayer/engine/engine.h"
#include "replayer/session/rebuild_keep.h"

struct lz_lane {
	struct lz_rebuild_sink *sink;
	unsigned number;
	struct lz_replay rp; /* with the own reader; NULL there: not open */
	struct lz_engine *e; /* at the end of what was computed last */
	uint8_t *block;      /* the one that is coming */
};

/* LANE, with sink and number set and zeroed else, reads the recording that R has open. */
int lz_lane_open(struct lz_lane *lane, const struct lz_reader *r);
void lz_lane_close(struct lz_lane *lane);
/* Whether BLOCK is what START and LEN say. Another reader of a recording that is being written may
 * number its blocks differently. */
bool lz_lane_has(const struct lz_lane *lane, uint32_t block, uint64_t start, uint64_t len);
/* Computes the blocks FROM to TO, TO not among them. */
int lz_lane_run(struct lz_lane *lane, uint32_t from, uint32_t to);
/* Where a stretch of blocks from FROM on ends, MOST at the latest: at a checkpoint that was taken NS
 * or more after the one before FROM. 0: failed. */
uint32_t lz_lane_stretch(struct lz_reader *r, uint32_t tid, uint32_t from, uint32_t most,
                         uint64_t ns);
/* From any thread, or a signal handler: what it is running is given up. */
void lz_lane_interrupt(struct lz_lane *lane);

#endif
