/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a session is, to come back to; counted or not. */
#ifndef LIZARD_REPLAYER_ORIGIN_PLACE_H
#define LIZARD_REPLAYER_ORIGIN_PLACE_H

#include "replayer/session/session.h"

struct lz_place {
	struct lz_pos pos;
	struct lz_engine *copy; /* NULL: the position is counted */
};

int lz_place_keep(struct lz_session *s, struct lz_place *p);
int lz_place_return(struct lz_session *s, const struct lz_place *p);
void lz_place_drop(struct lz_place *p);

#endif
