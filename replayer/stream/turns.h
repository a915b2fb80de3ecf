/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which thread ran when: a recording's thread switches, in order. */
#ifndef LZ_REPLAYER_TURNS_H
#define LZ_REPLAYER_TURNS_H

#include <lizard/recording.h>

#define LZ_NO_TURN UINT32_MAX

/* A thread runs from the instant (event, marker) up to the next turn's. */
struct lz_turn {
	/* events applied when it begins: 1 + the index of the SWITCH, if one begins it */
	uint64_t event;
	uint64_t marker; /* stream offset */
	uint64_t ip;     /* where the thread goes on; 0: in the first turn and after an execve */
	uint32_t tid;
	/* the thread's turns before and after this one in the same program, LZ_NO_TURN */
	uint32_t before, after;
	bool switched; /* a SWITCH begins it */
	bool returns;  /* it begins inside a system call: its first event is that call's */
	bool calls;    /* it ends inside a system call */
	bool ends;     /* the thread ends with it */
};

struct lz_turns {
	struct lz_turn *v;
	uint32_t n, room;
};

/* Reads all events. One turn at least. */
int lz_turns_read(struct lz_turns *t, struct lz_reader *r);
void lz_turns_free(struct lz_turns *t);
/* The turn that an instant with EVENT events applied lies in. */
uint32_t lz_turns_at(const struct lz_turns *t, uint64_t event);

#endif
