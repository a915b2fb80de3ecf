/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recording a program again and again, until a run fails. */
#ifndef LIZARD_CMDS_HUNT_H
#define LIZARD_CMDS_HUNT_H

#include "cmds/repeat.h"

#include <stdbool.h>
#include <stdint.h>

struct lz_hunt {
	/* what to do */
	char **argv;                        /* of the program */
	const char *keep;                   /* what a failure is, as for lizard-trace */
	const char *output, *follow, *pack; /* likewise, or NULL */
	bool chaos, echo;
	uint64_t seed;           /* of the first run, the next ones follow; 0: any */
	struct lz_repeat repeat; /* how often, and what came out */
};

/* As lz_repeat(). */
int lz_hunt(struct lz_hunt *h);

#endif
