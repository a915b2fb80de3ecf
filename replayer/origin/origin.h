/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a value came from: one link of the chain. */
#ifndef LIZARD_REPLAYER_ORIGIN_H
#define LIZARD_REPLAYER_ORIGIN_H

#include "replayer/origin/access.h"
#include "replayer/program/source.h"

enum lz_origin_kind {
	LZ_ORIGIN_COPY,
	LZ_ORIGIN_CONSTANT,
	LZ_ORIGIN_ADDRESS,
	LZ_ORIGIN_MADE,
	LZ_ORIGIN_EVENT,
	LZ_ORIGIN_BEGIN, /* nothing has written it since the recording began */
	LZ_ORIGIN_FRAME, /* ... since its activation began */
	LZ_ORIGIN_FAR    /* the instruction is too far away to be found */
};

struct lz_origin {
	enum lz_origin_kind kind;
	struct lz_location of; /* the part of what was asked for that was written there */
	struct lz_source source;
	bool by_event;
	uint64_t event;
	bool proven; /* of a copy: the same value is at both ends */
	char insn[96];
};

/* To right before the instruction or the event that put what OF holds there. For BEGIN, FRAME and FAR
 * the session stays. LZ_ACCESS_INTERRUPTED, likewise; -1. */
int lz_origin_go(struct lz_session *s, const struct lz_location *of,
                 const struct lz_activation_start *frame, struct lz_origin *o);
/* To the last conditional jump before now in the present thread. O is MADE of what it looks at. */
int lz_origin_branch(struct lz_session *s, struct lz_origin *o);

#endif
