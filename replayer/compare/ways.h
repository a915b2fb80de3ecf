/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where two runs part, in the source: the branch, and the way that each has taken. */
#ifndef LIZARD_REPLAYER_WAYS_H
#define LIZARD_REPLAYER_WAYS_H

#include "replayer/compare/tokens.h"

enum lz_way_kind {
	LZ_WAY_LINE,    /* control goes on at a line of the same function */
	LZ_WAY_CALL,    /* it calls a function */
	LZ_WAY_SIGNAL,  /* a signal's handler is called */
	LZ_WAY_RETURN,  /* it leaves the function */
	LZ_WAY_LANDING, /* it lands in a function, by longjmp() or an exception */
	LZ_WAY_END      /* the thread has no more markers */
};

struct lz_source {
	const char *file; /* as long as what was asked; NULL: not known */
	uint32_t line;
};

struct lz_way {
	enum lz_way_kind kind;
	uint32_t fn; /* the function's number, of CALL, SIGNAL and LANDING */
	/* of LINE: there; of CALL: of the function's definition; of END: the last one */
	struct lz_source source;
	struct lz_source branch; /* the last line that both runs have come to */
};

/* T: windows that begin where the runs part, in the activation TOP of each; NULL: not known. */
int lz_ways_find(const struct lz_tokens t[2], const struct lz_act *top[2], struct lz_way way[2]);

#endif
