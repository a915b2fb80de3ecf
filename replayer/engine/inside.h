/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the engine's own files share. */
#ifndef LZ_REPLAYER_ENGINE_INSIDE_H
#define LZ_REPLAYER_ENGINE_INSIDE_H

#include "replayer/engine/engine.h"

int lz_engine_rebase(struct lz_engine *e);
int lz_engine_jump_spin(struct lz_engine *e, uint32_t index);
/* May this SWITCH be applied? 1: diverged. */
int lz_engine_check_switch(struct lz_engine *e, const struct lz_event *ev);
/* The part of applying a SWITCH that exchanges threads; what it writes and the new registers are
 * set as with any event. */
int lz_engine_switch(struct lz_engine *e, const struct lz_event *ev);
/* What an applied SYSCALL means for threads: one begins, one ends. */
int lz_engine_after_call(struct lz_engine *e, const struct lz_event *ev);
/* Parses and compares what was written since the last time. 1: diverged. */
int lz_engine_sync(struct lz_engine *e);
/* The same where the markers should end at stream offset MARKER: if they do they need not be
 * parsed. */
int lz_engine_sync_to(struct lz_engine *e, uint64_t marker);
/* Compares what was written at e->marker with the recording, byte for byte or by checksum. 1:
 * diverged. */
int lz_engine_compare_markers(struct lz_engine *e, const uint8_t *got, size_t len);
/* LEN bytes behind OFF of the present buffer. */
int lz_ring_read(struct lz_engine *e, uint64_t off, void *buf, size_t len);
/* Empties the present buffer, of which LEN bytes are used; the ring's others are empty. */
int lz_ring_clear(struct lz_engine *e, size_t len);
/* The ring is gone, or its process. */
void lz_ring_drop(struct lz_engine *e);
/* Is what is written at e->marker only recorded as a checksum? */
bool lz_engine_hashed_here(struct lz_engine *e);
/* Takes a full buffer: compares, empties, r15 to the base of the ring's next. 1: diverged. */
int lz_engine_take_buffer(struct lz_engine *e);
/* Is the instant of an event that comes from outside (a signal), or the end, here? Flags of enum
 * lz_halt_flags, 0 = no; -1 failed. */
int lz_engine_due(struct lz_engine *e);
/* Control is at the next event's address, which has a state. 1: this arrival is the one that is
 * meant; 0: another one; -1. */
int lz_engine_is_meant(struct lz_engine *e);
/* At the stop of a system call: does the next event fit? Flags; -1 failed. */
int lz_engine_at_call(struct lz_engine *e);
/* The program faulted by itself with signal SIGNO. Flags; -1 failed. */
int lz_engine_at_fault(struct lz_engine *e, int signo);
/* Recorded stream bytes; as lz_reader_markers_kept(). */
int64_t lz_engine_recorded(struct lz_engine *e, uint64_t offset, void *buf, size_t len);
/* Waits for the next stop of the process. */
int lz_engine_wait(struct lz_engine *e, int *status);
/* The debug register of the next goal stops at ADDR. */
int lz_engine_stop_at(struct lz_engine *e, uint64_t addr);
/* What answers calls is forgotten, as the process is gone. */
void lz_engine_calls_drop(struct lz_engine *e);
/* The program's mapping at ADDR, NULL; the stack's has grown by itself. */
const struct lz_vma *lz_engine_mapping(struct lz_engine *e, uint64_t addr);
/* Brings e->next up to date. */
void lz_engine_peek_next(struct lz_engine *e);
/* Sets the alarm as wanted. */
int lz_engine_set_slice(struct lz_engine *e);
/* At an alarm. */
bool lz_engine_slice_is_over(struct lz_engine *e);
/* A thread that stops what computes longer than rp->patience_ms. */
int lz_watchdog_start(struct lz_replay *rp);
void lz_watchdog_stop(struct lz_replay *rp);
/* One breakpoint into memory, and out of it. */
void lz_engine_put_break(struct lz_engine *e, struct lz_softbreak *b);
void lz_engine_take_break(struct lz_engine *e, struct lz_softbreak *b);
/* Sets the debug registers as wanted. */
int lz_engine_arm(struct lz_engine *e);

/* ---- instructions ---- */
/* Length of a rep-prefixed string instruction at CODE, 0 if it is none. */
unsigned lz_insn_rep(const uint8_t *code, size_t len);
/* With more iterations to come, has the one before accessed a byte of [ADDR, ADDR + N)? */
bool lz_insn_rep_touched(const uint8_t *code, size_t len, const struct user_regs_struct *r,
                         uint64_t addr, uint64_t n);
bool lz_insn_pushf(const uint8_t *code, size_t len);
/* A mov of a register or immediate to [r15 + disp]: its size, and *disp; 0 if it is something
 * else. */
unsigned lz_insn_r15_store(const uint8_t *code, size_t len, int32_t *disp);

#endif
