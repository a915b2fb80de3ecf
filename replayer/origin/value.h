/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a location holds at the present instant. */
#ifndef LIZARD_REPLAYER_ORIGIN_VALUE_H
#define LIZARD_REPLAYER_ORIGIN_VALUE_H

#include "replayer/program/source.h"
#include <lizard/session.h>

enum { LZ_VALUE_MAX = 32 };

/* The first bytes of it: how many. */
size_t lz_value_read(struct lz_session *s, const struct lz_location *l, uint8_t v[LZ_VALUE_MAX]);

#endif
