/* SPDX-License-Identifier: GPL-3.0-or-later */
/* At which instants signals came and turns ended, as `lizard info` tells it. */
#ifndef LIZARD_CMDS_INSTANTS_H
#define LIZARD_CMDS_INSTANTS_H

#include <jansson.h>
#include <lizard/recording.h>

struct lz_ways {
	uint64_t points;     /* at a marker, behind a call, at a full buffer */
	uint64_t anywhere;   /* at another instruction, which has a name */
	uint64_t unmarked;   /* the same in code without markers, by what was written */
	uint64_t checkpoint; /* where a checkpoint was taken for it */
};

struct lz_instants {
	struct lz_ways signals, turns; /* not those of an instruction's own, and not into a call */
};

/* Reads all events. */
int lz_instants_count(struct lz_reader *r, struct lz_instants *to);
void lz_instants_print(const struct lz_instants *n);
json_t *lz_instants_json(const struct lz_instants *n);

#endif
