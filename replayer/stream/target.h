/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An address as the CFG knows it. */
#ifndef LIZARD_REPLAYER_TARGET_H
#define LIZARD_REPLAYER_TARGET_H

#include "replayer/stream/stream.h"

struct lz_target {
	uint64_t addr;
	uint32_t fn;   /* LZ_FN_NONE: not instrumented, may be reached anywhere */
	bool loose;    /* optimised code: any gap of the function, and those beside it */
	bool prologue; /* in front of the entry marker */
	bool epilogue; /* behind an exit marker */
	bool apart;    /* perhaps in an epilogue that follows other code than its exit marker's */
	bool landing;  /* in front of a landing marker */
	bool hook; /* the run-time loader's, for debuggers: reached beside its system calls only */
	const struct lz_cfg_block *block;
	uint32_t before, after; /* ids of markers between the block's label and the address, and
	                           between the address and the next label; 0 = none */
	/* Where it is loose: can an activation come there between its markers FROM and TO? Ids,
	 * LZ_SET_ENTER, LZ_LAST_LANDING, LZ_SET_EXIT; LZ_FROM_CALL: in front of its first one,
	 * LZ_TO_ANY: whatever comes next. NULL: it may. */
	bool (*may)(void *arg, uint32_t from, uint32_t to);
	void *may_arg;
};

#define LZ_FROM_CALL 0xFFFFFFF0u
#define LZ_TO_ANY 0xFFFFFFF1u

/* The address ADDR after EVENT events. */
void lz_target_find(struct lz_stream *s, struct lz_modules *m, uint64_t addr, uint64_t event,
                    struct lz_target *t);

#endif
