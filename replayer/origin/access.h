/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last or the next access to memory: by an instruction, or by a system call or another event. */
#ifndef LIZARD_REPLAYER_ORIGIN_ACCESS_H
#define LIZARD_REPLAYER_ORIGIN_ACCESS_H

#include "replayer/session/session.h"

enum { LZ_ACCESS_MAX = 1 << 20 };

struct lz_access_query {
	enum lz_direction direction;
	char kind; /* 's' stored, 'l' loaded, 't' either */
	uint64_t addr, len;
	bool here; /* forwards: what comes next counts, too */
	struct lz_gap_from {
		uint64_t event, marker;
	} from; /* backwards: no further than to this gap, */
	struct lz_activation_start {
		uint64_t entry, sp; /* 0: none */
		const char
		    *local; /* the variable in that frame that is asked for; NULL: not known */
	} frame;            /* or to where control comes to this address with this stack pointer */
	struct lz_code_range code; /* by instructions in here only; end = 0: by all */
};

struct lz_accessed {
	bool read, written;
	bool by_event;
	uint64_t event; /* its number */
};

/* To the instant right before that access, which *A describes. LZ_ACCESS_NONE, LZ_ACCESS_FRAME: there is
 * none, in the activation, and the session is where it was; LZ_ACCESS_INTERRUPTED, likewise; -1. Breakpoints, watchpoints and signals do not count. */
enum { LZ_ACCESS_NONE = 1, LZ_ACCESS_INTERRUPTED, LZ_ACCESS_FRAME };
int lz_access_go(struct lz_session *s, const struct lz_access_query *q, struct lz_accessed *a);

#endif
