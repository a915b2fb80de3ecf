/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a session is, to come back to; counted or not. */
#ifndef LIZARD_REPLAYER_ORIGIN_RETURN_PLACE_H
#define LIZARD_REPLAYER_ORIGIN_RETURN_PLACE_H

#include "replayer/session/session.h"

struct lz_return_place {
	struct lz_pos pos;
	struct lz_engine *copy; /* NULL: the position is counted */
};

int lz_return_keep(struct lz_session *s, struct lz_return_place *p);
int lz_return_to(struct lz_session *s, const struct lz_return_place *p);
void lz_return_drop(struct lz_return_place *p);

#endif
