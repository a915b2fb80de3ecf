/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recording again and again, each time in a process of its own, until a run fails. */
#ifndef LIZARD_CMDS_REPEAT_H
#define LIZARD_CMDS_REPEAT_H

#include <jansson.h>
#include <stdbool.h>

struct lz_repeat {
	/* what to do */
	/* Records run number N (from 0), keeps the recording if the run fails, and writes the summary
	 * into the file FACTS. The result is the exit status of the process. */
	int (*record)(void *arg, unsigned long n, int facts);
	void *arg;
	unsigned long most;
	bool progress; /* is shown on a terminal */
	/* what came out */
	unsigned long runs;
	json_t *run; /* the last one's summary, to be freed; NULL: it has none */
	bool failed; /* the last one has */
	int status;  /* of its process, as wait() gives it */
	int signo;   /* that has ended all; 0: none */
};

/* -1: it could not be recorded, lz_error(). */
int lz_repeat(struct lz_repeat *r);
/* On stderr, where none has failed. */
void lz_repeat_say_none(const struct lz_repeat *r);

#endif
