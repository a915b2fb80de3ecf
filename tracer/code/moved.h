/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions behind a system call instruction that can be executed elsewhere. */
#ifndef LIZARD_TRACER_MOVED_H
#define LIZARD_TRACER_MOVED_H

#include "tracer/state/sites.h"

enum { LZ_MOVED_FROM = 32, LZ_MOVED_MOST = 22 };

struct lz_moved {
	uint8_t code[LZ_MOVED_MOST], len;
	struct lz_point point[LZ_POINTS];
	uint8_t n_points;
	bool two;       /* there are two, and the second one begins in the jump's last byte */
	uint8_t jump;   /* where the distance of a jump is in the code; 0: there is none */
	int64_t target; /* of that jump, from the site on */
};

/* CODE: LZ_MOVED_FROM bytes at a system call instruction. What a jump would cover becomes M. False:
 * it cannot be moved. */
bool lz_move_code(const uint8_t *code, struct lz_moved *m);

#endif
