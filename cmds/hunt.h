/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recording a program again and again, until a run fails. */
#ifndef LIZARD_CMDS_HUNT_H
#define LIZARD_CMDS_HUNT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct lz_hunt {
	/* what to do */
	char **argv;                        /* of the program */
	const char *keep;                   /* what a failure is, as for lizard-trace */
	const char *output, *follow, *pack; /* likewise, or NULL */
	bool chaos, echo;
	uint64_t seed; /* of the first run, the next ones follow; 0: any */
	unsigned long most;
	/* what came out */
	unsigned long runs;
	json_t *run; /* the summary of the failed run; NULL: none has failed */
	int signo;   /* that has ended the hunt; 0: none */
};

/* -1: it could not be recorded, lz_error(). H->run is to be freed. */
int lz_hunt(struct lz_hunt *h);

#endif
