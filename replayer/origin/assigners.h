/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The blocks that may store to a variable, as the compiler has told: include/lizard/cfg_format.h. */
#ifndef LIZARD_REPLAYER_ORIGIN_ASSIGNERS_H
#define LIZARD_REPLAYER_ORIGIN_ASSIGNERS_H

#include "replayer/navigate/target_code.h"
#include "replayer/navigate/nav.h"
#include "replayer/stream/target.h"

struct lz_assigners {
	struct lz_target *v;
	size_t n, room;
	struct lz_target_code **code; /* [n_code]: which some of them ask */
	size_t n_code, code_room;
	/* of a local variable: whose it is, and the activation's first stream offset */
	uint32_t thread; /* LZ_NO_THREAD: it is none */
	uint64_t begin;
	uint64_t from_event; /* of another one: since when it is mapped */
};

/* The variable that the LEN bytes at ADDR lie in at NOW: LOCAL in the activation of the function that begins
 * at ENTRY, or (LOCAL NULL) one without a frame. False: the compiler did not tell, or not enough. */
bool lz_assigners_find(struct lz_nav *nav, const struct lz_pos *now, uint64_t addr, uint64_t len,
                       const char *local, uint64_t entry, struct lz_assigners *a);
void lz_assigners_free(struct lz_assigners *a);

#endif
