/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --follow: each process that is recorded has a tracer process of its own, and a recording of
 * its own below the first one's. A new child is handed over: its tracer parks it in a pause()
 * with all signals blocked, lets it go, and starts another tracer, which takes it from there. */
#ifndef LIZARD_TRACER_HANDOVER_H
#define LIZARD_TRACER_HANDOVER_H

#include "tracer/code/code.h"
#include "tracer/state/machine.h"
#include "tracer/state/tracer.h"

#include <limits.h>
#include <sched.h>

enum lz_handover_kind {
	LZ_HANDOVER_FORK, /* recorded from its fork on */
	LZ_HANDOVER_EXEC, /* at the exit of an execve, recorded from there on */
	LZ_HANDOVER_WATCH /* recorded from the first execve of a program that is to be recorded */
};

/* What the next tracer must know; both are of one build. */
struct lz_handover {
	enum lz_handover_kind kind;
	pid_t pid, parent;
	uint64_t parent_event, parent_marker;
	struct lz_parked was;
	int shared_lock; /* descriptor */
	/* FORK: what it has inherited */
	uint64_t stub_addr;
	bool undumpable;
	uint64_t looked; /* lz_outside_looked() */
	struct lz_rseq rseq;
	uint64_t ring, sink, pos_addr, pos_off, traced_addr; /* ring 0: none */
	struct lz_disposition act[LZ_SIGNALS];
	cpu_set_t affinity;  /* that Lizard was given */
	int old_personality; /* the same, and whether another one was set */
	bool personality_set;
	struct lz_trace_options opt; /* without its pointers */
	struct lz_cpuid_cache cpuid;
	struct lz_machine machine;
	struct lz_counter_pair counter_first;
	struct lz_counter counter;
	char follow[256], root[PATH_MAX];
};

/* What is to be done with PID, which has just been born or has called execve. -1: nothing. */
int lz_follow_kind(const struct lz_tracer *t, pid_t pid, bool exec);
/* handover.c */
/* C stands; when it is let go it waits. */
int lz_park(struct lz_proc *c, struct lz_parked *was);
/* C stands, at WAS if it is not parked: it is let go, and lz_error() said as the reason. */
int lz_go_unrecorded(const struct lz_proc *c, const struct lz_parked *was);
/* What SIGSTOP has made of a parked process. */
struct lz_stopped {
	bool pending; /* it has come, and is sent once more later */
	bool group;   /* it has had its effect already */
};
/* Seizes P->pid: it stands as it did before it was parked. */
int lz_take_parked(struct lz_proc *p, const struct lz_parked *was, struct lz_stopped *s);
/* Only ancestors may trace it any more, as ever. */
int lz_tracers_forget(struct lz_proc *p, const struct lz_parked *was);
/* The kernel keeps in mind that the group is stopped; the next stop shows it. */
void lz_stop_again(pid_t pid, const struct lz_stopped *s);
/* Nobody can wake it any more; says so, if it is still there. */
void lz_kill_parked(pid_t pid);
/* Its tracer will not come, lz_error() says why: it goes on unrecorded. */
void lz_free_parked(pid_t pid, const struct lz_parked *was);

/* follow.c */
/* Parks the stopped process C, lets it go and starts a tracer for it; if that cannot be, it goes
 * on unrecorded. H: kind and what it has inherited. */
int lz_hand_over(struct lz_tracer *t, struct lz_proc *c, struct lz_handover *h);
/* From the stop at an execve's event to its exit. Opens *C anew. */
int lz_exec_exit(struct lz_proc *c);
/* Can C, which stands there, be parked, and recorded then? */
int lz_check_handover(struct lz_proc *c);

/* watch_child.c, in the next tracer */
/* Runs the process without recording it. 1: it stands at the exit of an execve from which on it
 * is recorded; 0: it is gone. */
int lz_watch_until_exec(struct lz_tracer *t);

#endif
