/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events as strace(1) prints system calls and signals: names for numbers and flags, strings, structures. */
#ifndef LIZARD_REPLAYER_STRACE_H
#define LIZARD_REPLAYER_STRACE_H

#include <lizard/event.h>

enum { LZ_STRACE_ARGS = 6 };

struct lz_strace_options {
	uint64_t string; /* bytes of a string that are shown */
	/* The program's memory in front of the event, for what it gave to the call: how many bytes
	 * were there. NULL: only what the event itself holds is known. */
	size_t (*read)(void *arg, uint64_t addr, void *buf, size_t len);
	void *arg;
	/* NULL, or called for what the event took from that memory. */
	void (*took)(void *arg, uint64_t addr, uint64_t len);
};

/* Of an event; malloced texts, NULL where there is none. */
struct lz_strace_text {
	char *args[LZ_STRACE_ARGS]; /* of a call */
	unsigned n;
	char *result; /* of a call: "3", "-1 ENOENT (No such file or directory)", "?" */
	char *signal; /* of a signal: "SIGUSR1 {si_signo=SIGUSR1, ...}" */
};

/* 0, or -1: lz_error(). */
int lz_strace_event(const struct lz_strace_options *o, const struct lz_event *ev,
                    struct lz_strace_text *t);
void lz_strace_free(struct lz_strace_text *t);
/* Is EV a call that was given strings or structures, which only the program's memory holds? */
bool lz_strace_takes(const struct lz_event *ev);

#endif
