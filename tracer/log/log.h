/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recording's events and the program's marker stream. */
#ifndef LIZARD_TRACER_LOG_H
#define LIZARD_TRACER_LOG_H

#include "tracer/state/tracer.h"

/* time.c */
/* lz_now(), which is a system call, as it was when it was first asked for at the present stop. */
uint64_t lz_stop_now(void);
/* The next stop is waited for, or the present one has taken long. */
void lz_stop_time_over(void);
/* The same, in ns since the recording began. */
uint64_t lz_elapsed(const struct lz_tracer *t);
/* CPU time, ns: of the program; of the tracer's thread. */
uint64_t lz_program_time(const struct lz_tracer *t);
uint64_t lz_tracer_time(void);

/* builder.c */
int lz_build(struct lz_tracer *t, uint8_t kind, uint64_t ip);
/* The same at stream offset MARKER. */
void lz_build_at(struct lz_tracer *t, uint8_t kind, uint64_t ip, uint64_t marker, uint64_t time_ns);
/* Adds what stands in the program's memory; as much as can be read. */
int lz_build_read(struct lz_tracer *t, uint64_t addr, uint64_t len);
int lz_build_write(struct lz_tracer *t, uint64_t addr, const void *bytes, uint64_t len);
/* The same without a copy: BYTES stay where they are until lz_build_commit(). */
int lz_build_refer(struct lz_tracer *t, uint64_t addr, const void *bytes, uint64_t len);
/* The same with what the recording keeps: lz_writer_keep(). */
int lz_build_kept(struct lz_tracer *t, uint64_t addr, uint64_t len, const struct lz_kept *kept,
                  uint32_t n);
int lz_build_op(struct lz_tracer *t, const struct lz_map_op *op);
int lz_build_regs(struct lz_tracer *t, const struct user_regs_struct *regs, bool with_xstate);
int lz_build_commit(struct lz_tracer *t);

/* stream.c */
uint64_t lz_stream_offset(struct lz_tracer *t);
/* Where a system call begins, with registers R: lets lz_stream_offset() do without parsing if
 * r15 and __lizard_pos agree, for then both are the pointer. In code with markers r15 is; in
 * other code __lizard_pos is, since it was set when that code was called, whatever r15 is left
 * with. */
int lz_stream_call(struct lz_tracer *t, const struct user_regs_struct *r);
/* The same where the code tells that r15 is the pointer: lz_marked_pointer(). */
int lz_stream_pointer(struct lz_tracer *t, const struct user_regs_struct *r);
/* LEN bytes at offset FROM of the ring. */
int lz_stream_protect(struct lz_tracer *t, uint32_t from, uint32_t len, int prot);
int lz_stream_push(struct lz_tracer *t);
/* Is ADDR in the ring? */
bool lz_stream_has(const struct lz_tracer *t, uint64_t addr);
/* At a SIGSEGV at ADDR: 1 if it was the guard: the bytes were taken, *r is set anew; 2 if it was
 * the fence; 0 if it is the program's own. */
int lz_stream_fault(struct lz_tracer *t, uint64_t addr, struct user_regs_struct *r);
int lz_stream_fence(struct lz_tracer *t);
int lz_stream_unfence(struct lz_tracer *t);
/* Is R between a marker's first store and the advance of its pointer? May say so in vain. */
bool lz_stream_inside_marker(struct lz_tracer *t, const struct user_regs_struct *r);
/* At a fence fault: may a signal be delivered before this store? */
bool lz_stream_deliverable(struct lz_tracer *t, uint64_t addr, const struct user_regs_struct *r);
void lz_stream_forget(struct lz_tracer *t); /* the address space is gone */

/* pointer.c */
/* Lets __lizard_pos hold the pointer, and logs that. */
int lz_stream_set_pos(struct lz_tracer *t);

/* check_markers.c */
/* LIZARD_TRACE_CHECK=1, as it was when it was asked for first. */
bool lz_self_check_wanted(void);
/* With LIZARD_TRACE_CHECK=1, where the markers were not parsed: they end at offset END of the
 * buffer. */
int lz_self_check_markers(struct lz_tracer *t, uint32_t end);
/* The same: a marker ends at offset AT. */
int lz_self_check_boundary(struct lz_tracer *t, uint32_t at);
/* What is wrong ends the program: it would go on unrecorded, end well, and no test would see it.
 * Gives -1. */
int lz_self_check_failed(struct lz_tracer *t);

/* instant.c */
/* The program stands, with registers R, at an instant that a position names well. */
int lz_instant_here(struct lz_tracer *t, struct user_regs_struct *r);
/* The same, of an address that control may have come to before: STATE tells the arrivals apart. */
int lz_instant_counted(struct lz_tracer *t, struct user_regs_struct *r, uint64_t state);
/* The same in code without markers: VECTORS and t->named belong to the name. */
int lz_instant_unmarked(struct lz_tracer *t, struct user_regs_struct *r, uint64_t state,
                        uint64_t vectors);
/* The event that is being built comes at the instant at which thread TH stands. What follows it does
 * not need the state any more. */
void lz_build_instant(struct lz_tracer *t, struct lz_thread *th);
/* Does it still stand there, no instruction run since? */
bool lz_at_instant(const struct lz_tracer *t, const struct user_regs_struct *r);
/* Before R is set for other reasons: spares lz_instant_here() doing it. */
void lz_instant_stamp(struct user_regs_struct *r);
/* Is it what a system call leaves with that is to be made again? */
bool lz_restarts(int64_t result);

#endif
