/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The threads of a re-executed process. Replay has one kernel thread: the thread that runs is in
 * it, of the others there are the registers to go on with. Pure. */
#ifndef LZ_REPLAYER_CONTEXTS_H
#define LZ_REPLAYER_CONTEXTS_H

#include <lizard/recording.h>

#define LZ_NO_CALL UINT64_MAX

struct lz_context {
	uint32_t tid;
	bool in_call;                 /* inside a system call whose event is still to come */
	bool fresh;                   /* made by clone, has not run */
	uint64_t call;                /* number of that system call, LZ_NO_CALL if not known */
	struct user_regs_struct regs; /* of the running thread: not up to date */
	uint8_t *xstate;              /* NULL: none known */
	uint32_t xstate_len;
};

struct lz_contexts {
	struct lz_context *v; /* in no order */
	uint32_t n, room;
	uint32_t running; /* index of the one that runs */
};

/* All threads of a checkpoint, the first of which runs, in place of what was there. -1: it makes
 * no sense, nothing is changed. */
int lz_contexts_load(struct lz_contexts *c, const struct lz_checkpoint *ck);
int lz_contexts_copy(struct lz_contexts *to, const struct lz_contexts *from);
void lz_contexts_free(struct lz_contexts *c);

/* NULL: there is no such thread. */
struct lz_context *lz_contexts_find(const struct lz_contexts *c, uint32_t tid);
/* The one that runs; there is always one. */
struct lz_context *lz_contexts_running(const struct lz_contexts *c);
/* T has a copy of these vector registers. */
int lz_context_keep_xstate(struct lz_context *t, const uint8_t *xstate, uint32_t len);
/* A new thread, which does not run yet. */
int lz_contexts_add(struct lz_contexts *c, uint32_t tid, const struct user_regs_struct *regs,
                    const uint8_t *xstate, uint32_t xstate_len);
/* From the running thread, whose state is given, to NEXT. GONE: the running one has ended. */
int lz_contexts_switch(struct lz_contexts *c, const struct user_regs_struct *regs,
                       const uint8_t *xstate, uint32_t xstate_len, bool gone, uint32_t next);

#endif
