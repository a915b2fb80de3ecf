/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many blocks at once: as many lanes as there are CPUs. */
#ifndef LZ_REPLAYER_REBUILD_BATCH_H
#define LZ_REPLAYER_REBUILD_BATCH_H

#include "replayer/session/rebuild_lane.h"

/* Computes those of the blocks FROM to TO, TO not among them, that are not at hand. Lane 0 is open,
 * belongs to the calling thread, and remains open; the others are open meanwhile. -1: something
 * has failed, which need not concern all of them. */
int lz_rebuild_batch(struct lz_lane lanes[LZ_LANES], struct lz_reader *of, uint32_t from,
                     uint32_t to);

#endif
