/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System calls that a re-executed process is answered without a stop: what calls.c, calls_log.c
 * and calls_done.c share. */
#ifndef LZ_REPLAYER_ENGINE_CALLS_H
#define LZ_REPLAYER_ENGINE_CALLS_H

#include "replayer/engine/inside.h"
#include "replayer/stub/call_log.h"
#include <common/process/sites.h>
#include <lizard/marker.h>

enum { LZ_LOGGED_MAX = 2000, LZ_PARTS = 8, LZ_KEPT_PLACES = 256 };

/* A call in the log. */
struct lz_logged {
	uint32_t end; /* where the next one begins */
	uint32_t take_at, take_len, crc;
	uint64_t marker, ip, time_ns;
	bool maps; /* its event changes mappings */
	/* A turn is two events: the thread goes into call NR, and thread TO comes out of its own. */
	bool leaves, comes;
	uint32_t from, to;
	uint64_t nr;
};

/* While the log is made: who runs behind the last call of it, and what is known of the others. */
struct lz_turns_ahead {
	uint32_t running;
	/* Of these the stub has the registers, or will have them. */
	bool known[LZ_TURN_THREADS];
	bool in_call[LZ_TURN_THREADS];
	uint64_t call[LZ_TURN_THREADS];
	uint64_t ip[LZ_TURN_THREADS]; /* behind it */
};

/* Of the processor's state, in xsave's standard format. */
struct lz_part {
	uint32_t at, len;
};

/* A page with sites: only execution is left, so that the program does not see them. */
struct lz_site_page {
	uint64_t addr;
	uint32_t prot; /* as the program has it */
};

/* Bytes of a chunk of the recording that the stub has, from PLACE on. LEN 0: none. */
struct lz_kept_place {
	uint64_t chunk;
	uint32_t at, len, place;
};

/* What of it is in the process. */
struct lz_calls {
	struct lz_sites sites;
	uint64_t code; /* of the stub; its memory is right behind it, and seen here */
	struct lz_call_log *log;
	struct lz_site_page *pages;
	size_t n_pages, pages_room;
	/* The log: its first call's event, how many calls, how many are done. */
	uint64_t first;
	uint32_t n, done;
	uint64_t buffer_start; /* of the markers, for which it was made */
	bool maps;             /* any of its calls changes mappings */
	/* The mappings behind the last of them while the log is made; none: e->space. */
	struct lz_space ahead;
	struct lz_turns_ahead turns;
	struct lz_kept_place kept[LZ_KEPT_PLACES];
	uint32_t kept_used;            /* bytes */
	bool stale[LZ_TURN_THREADS];   /* the stub has later registers of these than e->threads */
	uint64_t parts;                /* of the processor's state that threads have; 0: no turns */
	struct lz_part part[LZ_PARTS]; /* where they are; the first two have no length here */
	struct lz_logged call[LZ_LOGGED_MAX];
	/* Markers: those recorded, while the log is made; those written, while it is compared. */
	uint8_t markers[LZ_BUFFER_SIZE];
};

/* Steps of the log, which are counted where TO is NULL. */
struct lz_steps {
	uint8_t *to;
	size_t len;
	unsigned n;
};

/* calls.c */
/* Has [ADDR, ADDR + LEN) anything of the stub's or of a site's? */
bool lz_calls_touch(const struct lz_engine *e, uint64_t addr, uint64_t len);
/* Before a resume: is anything to be answered without a stop now? Then everything is made so. */
int lz_calls_ready(struct lz_engine *e, bool step);
/* At the stop of a system call that is the next event. */
void lz_calls_met(struct lz_engine *e);
/* [ADDR, ADDR + LEN) of the process is to be as the program has it. */
int lz_calls_give_way(struct lz_engine *e, uint64_t addr, uint64_t len);
/* The same for all that event EV changes. */
int lz_calls_make_way(struct lz_engine *e, const struct lz_event *ev);
/* 1: it stands at an int3 of a site's: control has come to what is changed there. 0: it does not. */
int lz_calls_at_int3(struct lz_engine *e);
/* The program reads a page that has sites: it gets its own bytes back. 0: it has none; -1. */
int lz_calls_unhide(struct lz_engine *e, uint64_t addr);
/* Where an instruction of the program is executed now. */
uint64_t lz_calls_place_of(const struct lz_engine *e, uint64_t ip);

/* calls_log.c */
/* The last event that may come before a stop, the next one if there is a stop at it. */
uint64_t lz_calls_last(const struct lz_engine *e);
/* The log begins with the next event, as far as it can be answered. */
int lz_calls_fill(struct lz_engine *e);
bool lz_calls_can_answer(struct lz_engine *e, const struct lz_event *ev);
/* What the stub does of it is all that it does. */
bool lz_calls_is_plain(const struct lz_event *ev);

/* calls_steps.c */
/* The mapping that there will be at ADDR when the next call is put into the log. */
const struct lz_vma *lz_calls_mapping(struct lz_engine *e, uint64_t addr);
/* What event EV does to mappings has been put into the log. */
int lz_calls_go_ahead(struct lz_engine *e, const struct lz_event *ev);
/* Can what it does to memory be done by the process itself? */
bool lz_calls_can_do(struct lz_engine *e, const struct lz_event *ev);
/* False: there is no room for what the stub keeps. */
bool lz_calls_put_steps(struct lz_calls *c, struct lz_steps *s, const struct lz_event *ev);

/* calls_kept.c */
/* Is it of one place of a chunk, and long enough? */
bool lz_calls_keeps(const struct lz_write *w);
/* *PLACE: where the stub has its bytes. False: there is no room. */
bool lz_calls_keep(struct lz_calls *c, const struct lz_write *w, uint32_t *place);
/* The log is empty. */
void lz_calls_kept_begin(struct lz_calls *c);

/* calls_turns.c: a SWITCH in a call, and the event behind it, the end of the next thread's call. */
/* Which parts of the processor's state the stub exchanges. */
int lz_turns_begin(struct lz_engine *e);
/* The log is empty. */
void lz_turns_fill(struct lz_engine *e);
/* It is made. */
void lz_turns_filled(struct lz_engine *e);
/* Who runs behind it. */
uint32_t lz_turns_tid(const struct lz_engine *e);
/* Are events I and I + 1 a turn that can be answered? 1: END and T are what it needs besides event I. */
int lz_turns_can(struct lz_engine *e, uint64_t i, struct lz_logged *end, struct lz_logged_turn *t);
/* The first N calls of the log are done, not all of them by the stub: it gets the registers of those
 * threads that went into a call at a stop. False: it cannot have them, and the log is made anew. */
bool lz_turns_follow(struct lz_engine *e, uint32_t n);
/* It is in the log. */
void lz_turns_logged(struct lz_engine *e, const struct lz_logged_turn *t, uint64_t nr, uint64_t ip);
/* One of its events has been answered. */
int lz_turns_take(struct lz_engine *e, const struct lz_logged *l);
/* e->threads has what the stub knows. */
int lz_turns_settle(struct lz_engine *e);
/* Of a thread's state, which has LEN bytes, what the stub exchanges becomes that of FROM. All else is
 * everybody's, as the rights of protection keys, by which code is guarded. */
void lz_turns_merge(const struct lz_calls *c, uint8_t *to, uint32_t len, const uint8_t *from);

/* calls_run.c */
/* The process goes on to its next stop. A call of the program is one, however it is kept from being
 * made. */
int lz_calls_resume(struct lz_engine *e, bool step);
int lz_calls_stopped(struct lz_engine *e, int *status);

/* calls_done.c */
/* At a stop, whose STATUS may become another one: the program is to be at an instruction of its
 * own. */
int lz_calls_leave(struct lz_engine *e, int *status);
/* Calls that were answered are events applied: compares what there is to be compared. 1:
 * diverged. */
int lz_calls_take(struct lz_engine *e);

#endif
