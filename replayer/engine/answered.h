/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which system calls of a re-executed process are answered without a stop. */
#ifndef LZ_REPLAYER_ENGINE_ANSWERED_H
#define LZ_REPLAYER_ENGINE_ANSWERED_H

#include <lizard/event.h>
#include <stdbool.h>
#include <stdint.h>

enum { LZ_CONFLICTS_MAX = 16, LZ_UNFIT_SITES = 64 };
struct lz_calls;
struct lz_engine_calls {
	/* Nobody has to see the events before this one, but for those of which `looks` says so; nor
	 * to stop before it, but right behind the one before it. 0: each has its stop. */
	uint64_t until;
	/* NULL: none */
	bool (*looks)(void *arg, const struct lz_event *ev);
	void *arg;
	/* The bytes that calls take are compared; how many were. */
	bool compare_taken;
	uint64_t taken;
	/* NULL: the process has nothing of it */
	struct lz_calls *c;
	/* calls that had a stop and need not have had; the instruction that made the last one */
	unsigned stops;
	uint64_t site;
	/* how often the program had a use for that memory; pages of code that it has read */
	unsigned conflicts;
	uint64_t read[LZ_CONFLICTS_MAX];
	/* it stands where a call would be, which was barred: there is no stop at the call's exit */
	bool barred;
	/* instructions that cannot be changed, by their addresses */
	uint64_t unfit[LZ_UNFIT_SITES];
};

#endif
