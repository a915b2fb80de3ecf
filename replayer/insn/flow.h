/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The instructions between two instants, found by following the machine code from marker to marker.
 * Nothing is run.
 *
 * Of all paths through the code those remain that write the markers of the recording and no others.
 * Often that is one; where it is not, or where it leads through code without markers, the markers
 * do not tell.
 *
 * Source: Ball and Larus, "Optimally Profiling and Tracing Programs", TOPLAS 1994, section 3 (a
 * path regenerated from its markers), here in machine code. */
#ifndef LIZARD_REPLAYER_INSN_FLOW_H
#define LIZARD_REPLAYER_INSN_FLOW_H

#include "replayer/insn/code.h"

/* A marker of the recording. */
struct lz_flow_mark {
	const struct lz_fn *fn;
	uint64_t end; /* stream offset behind it */
	uint32_t id;  /* 0: none */
	uint8_t code;
	uint32_t caller_last;       /* of EXIT and TAIL: the last marker of the activation below, */
	const struct lz_fn *caller; /* ... its function; NULL: not known */
};

/* What is asked for. */
struct lz_flow_query {
	struct lz_session *s;            /* whose interrupts end it: UNTOLD */
	const struct lz_flow_mark *mark; /* in order, of one thread, no event between them */
	size_t n;
	size_t from;    /* the first that is still to be written */
	uint64_t start; /* the first instruction, or 0: behind that which writes mark[from - 1] */
	/* The end: the arrival number GOAL_N (0: any) at GOAL behind the last marker; without
	 * (0) the last marker. */
	uint64_t goal;
	uint32_t goal_n;
	bool before_enter; /* the goal's function has not written its first marker there */
	bool last;         /* wanted are the last ones, else the first */
	size_t wanted;
	uint64_t *addrs; /* [wanted] */
};

enum { LZ_FLOW_UNTOLD = 1, LZ_FLOW_SHORT };
/* 0: the addresses are there. LZ_FLOW_SHORT: there are fewer between the two instants.
 * LZ_FLOW_UNTOLD; -1. */
int lz_insn_flow(struct lz_insn_code *c, const struct lz_flow_query *q);

#endif
