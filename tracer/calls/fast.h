/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System calls that the program makes without a stop: docs/design/calls.md. */
#ifndef LIZARD_TRACER_FAST_H
#define LIZARD_TRACER_FAST_H

#include "tracer/state/tracer.h"

#include <signal.h>

/* fast.c */
/* The program's flags, as personality() tells them or is to set them. */
enum { LZ_ASK_PERSONALITY = -1 };
void lz_fast_personality(struct lz_tracer *t, uint64_t flags);
/* A new image, of which there is a checkpoint: sites that are known before it runs. A dynamic linker makes its
 * calls without stops. */
int lz_fast_image(struct lz_tracer *t);
/* After a call with a stop, at its exit: may the thread go on without stops? */
int lz_fast_after_call(struct lz_tracer *t, struct user_regs_struct *r);
/* The same behind an rdtsc or rdtscp, if COUNTER, or xsavec at AT that the tracer has done. */
int lz_fast_after_insn(struct lz_tracer *t, uint64_t at, bool counter, struct user_regs_struct *r);
/* At the entry of one. */
int lz_fast_before_call(struct lz_tracer *t);
/* The current thread goes on: the request by which it does. */
int lz_fast_resume(struct lz_tracer *t, int request);
/* From time to time, and when something has happened to a mapped file: the next call has a stop if
 * that is to be looked at, a small file is to be watched, or a checkpoint is due. */
void lz_fast_tick(struct lz_tracer *t);
/* The current thread stands, or is gone: what it has done without a stop becomes events. */
int lz_fast_stopped(struct lz_tracer *t);
/* A signal's handler begins at IP. Most make no call but that of their return, which has stops. */
void lz_fast_at_handler(struct lz_tracer *t, uint64_t ip);
/* Is it a SIGSYS by which the kernel reports a call? */
bool lz_fast_is_report(const siginfo_t *info);
/* At a SIGSYS: 1 if the kernel has kept the thread from making a call without a stop. It makes it
 * again, with stops. */
int lz_fast_refused(struct lz_tracer *t, const siginfo_t *info, struct user_regs_struct *r);
/* At a SIGTRAP: 1 if it is one of ours. */
int lz_fast_trap(struct lz_tracer *t, const siginfo_t *info, struct user_regs_struct *r);
/* At a signal that was blocked, and that the kernel shows instead of a trap: 1 if that is one of ours. */
int lz_fast_trap_behind(struct lz_tracer *t, struct user_regs_struct *r);
/* fast_leave.c: At a fault: 1 if it is one of ours. The call is made with stops. */
int lz_fast_fault(struct lz_tracer *t, const siginfo_t *info, struct user_regs_struct *r);
/* At any stop: a call that the stub has waited with has only the rest of its time. */
void lz_fast_keep_rest(struct lz_tracer *t);
/* Where such a time has its place, two numbers, which the program has at *AT. */
int64_t *lz_fast_rest(const struct lz_tracer *t, uint64_t *at);
/* The same: a wait of the stub's is over. 1: it was under way. The call is made with stops. */
int lz_fast_leave_wait(struct lz_tracer *t);
/* At a signal's stop: the call that the stub waits in has a result. The signal's handler runs before the
 * call returns, so STATUS becomes that of a stop at the call's exit, and the signal comes behind it. The
 * same where the stub has made a call and then finds no memory where that has stored. */
int lz_fast_made(struct lz_tracer *t, int *status);
/* The current thread runs: the stub does not wait if another thread is ready. */
void lz_fast_end_wait(struct lz_tracer *t);
/* Does the thread with registers R stand in our code, of which no position is the name? */
bool lz_fast_inside(const struct lz_tracer *t, const struct user_regs_struct *r);
/* What the program is told of R.rip if it is there. */
uint64_t lz_fast_shown(const struct lz_tracer *t, const struct user_regs_struct *r);
/* All threads make their calls with a stop from now on, however they are resumed. */
void lz_fast_end(struct lz_tracer *t);
/* The current thread's calls are not reported any more. */
int lz_fast_undispatch(struct lz_tracer *t);
/* The address space is gone. */
void lz_fast_forget(struct lz_tracer *t);

/* The call at AT is a site, or will not be one. */
bool lz_fast_site_stays(struct lz_tracer *t, uint64_t at);

/* fast_calls.c */
/* What the stub may do. */
void lz_fast_calls(struct lz_call_page *page);
/* The program's filters have changed: it makes none that they might not allow. */
void lz_fast_filter(struct lz_tracer *t);
/* May call NR be made without a stop? */
bool lz_fast_may(uint64_t nr);
/* How is it tried without waiting? enum lz_fast_try */
uint8_t lz_fast_try(uint64_t nr);
uint8_t lz_fast_rule(uint64_t nr); /* enum lz_fast_rule */
/* Not with these arguments, whatever its descriptor is and memory is mapped? */
bool lz_fast_never(uint64_t nr, const uint64_t *args);
/* The same of the present call, by its arguments, as far as its descriptor is known. */
bool lz_fast_could(const struct lz_tracer *t);

/* fast_fds.c */
/* After a call with a stop: what its descriptor is good for. */
void lz_fast_fds_after(struct lz_tracer *t, int64_t result);
/* A file has been mapped: each that can be written to may be of it. */
void lz_fast_fds_mapped(struct lz_tracer *t);
/* Before one: what it closes is not known any more. */
void lz_fast_fds_before(struct lz_tracer *t);
/* The same of calls by which somebody else can change descriptors from then on, also before the stub has
 * begun. */
void lz_fast_fds_part(struct lz_tracer *t);
/* The stub begins: what files may be opened. */
void lz_fast_fds_begin(struct lz_tracer *t);
/* The thread goes on: files that are mapped by now. */
void lz_fast_fds_resume(struct lz_tracer *t);

/* fast_positions.c */
/* At the entry of a call with a stop, and at its exit. */
void lz_positions_before(struct lz_tracer *t);
void lz_positions_after(struct lz_tracer *t, int64_t result);

/* fast_leased_log.c */
/* May call NR be read by reference? */
bool lz_may_be_leased(uint64_t nr);
/* Its bytes are those of a file, as AT says, in the N pieces. */
int lz_leased_log(struct lz_tracer *t, const struct lz_call_leased *at,
                  const struct lz_call_piece *piece, uint32_t n);

/* fast_leases.c */
/* LZ_WAKE has come: somebody waits for one, maybe. */
extern volatile sig_atomic_t lz_lease_wanted;
/* Call NR has been made. */
void lz_leases_note(struct lz_tracer *t, uint64_t nr, const uint64_t *args, int64_t result);
/* NULL: there is none with that number any more. */
struct lz_lease *lz_lease_find(struct lz_tracer *t, uint64_t id);
/* Has it been ours up to now? Others may wait for it. */
bool lz_lease_is_held(const struct lz_lease *l);
/* -1: the kernel has taken one back, from whoever has kept others waiting for too long. */
int lz_lease_lost(void);
/* While the program runs, and before it goes on: those that others wait for are given back. */
int lz_leases_look(struct lz_tracer *t);
/* Before it goes on: the same if somebody waits, and others are taken. */
int lz_leases_at_stop(struct lz_tracer *t);
/* At the entry of a call with a stop: none is held that it would notice. */
int lz_leases_before(struct lz_tracer *t);
/* All are given back, when the log has become events. -1 also if one was lost before. */
int lz_leases_end(struct lz_tracer *t);
/* The same where recording has failed. */
void lz_leases_drop(struct lz_tracer *t);

/* fast_kinds.c */
/* The same of one that may wait. PATH and ST: of the program's descriptor FD. */
struct stat;
uint8_t lz_fast_kind(const struct lz_tracer *t, int fd, const char *path, const struct stat *st);

/* fast_code.c */
/* Before a call: code that it takes from the program is the program's own from now on. */
void lz_fast_give_code(struct lz_tracer *t);

/* fast_step.c */
/* The current thread stands at a call's instruction with registers R, and is to make it with stops: 1
 * if it is under way from here on, as behind the stop at its entry. */
int lz_step_begin(struct lz_tracer *t, const struct user_regs_struct *r);
/* At any stop of the current thread's: STATUS becomes that of a stop at the call's exit, if the thread
 * has made such a call. */
int lz_step_stopped(struct lz_tracer *t, int *status);

/* fast_wait.c */
/* At a reported call of the current thread's, with registers R behind it: 1 if it is a wait for a
 * futex that another thread of the program may end, and the thread stands from now on. */
int lz_wait_park(struct lz_tracer *t, const struct user_regs_struct *r);
/* Whoever has been woken is ready, as if its call was over. */
void lz_wait_look(struct lz_tracer *t);
/* The current thread has the turn again: its registers behind the call. */
int lz_wait_over(struct lz_tracer *t, struct user_regs_struct *r);
/* The current thread makes its call when it goes on; 1: it does not, as that is over. */
int lz_wait_really(struct lz_tracer *t);
/* The current thread stands in front of a call with registers R, as at its entry. */
void lz_wait_enter(struct lz_tracer *t, const struct user_regs_struct *r);
/* From here on nobody wakes TH; false: somebody has. */
bool lz_wait_take(struct lz_tracer *t, struct lz_thread *th);
/* The kernel makes the current thread's call again when it goes on, if no signal comes before. */
int lz_wait_make_again(struct lz_tracer *t);
/* Is there anybody who stands so, and has not been woken? */
bool lz_wait_any(const struct lz_tracer *t);
/* Those others go on into the kernel that have stood for so many ticks. */
int lz_wait_others_really(struct lz_tracer *t, unsigned ticks);
/* From time to time. */
int lz_wait_tick(struct lz_tracer *t);
/* At the entry of a call with a stop, and at its exit: the result with those that it has woken. */
int lz_wait_before_call(struct lz_tracer *t);
int64_t lz_wait_wake(struct lz_tracer *t, int64_t result);

/* fast_hands.c: a thread on standby has parked, but it does not stand: it waits in the stub, where others
 * may give it the turn. */
/* TH, which stands, goes on standby if that is worth it. */
int lz_standby_begin(struct lz_tracer *t, struct lz_thread *th);
/* TH stands, if it is on standby. 0: it does not, as it has the turn, or is about to; or it is gone. */
int lz_standby_end(struct lz_tracer *t, struct lz_thread *th);
/* At a stop with STATUS of the current thread, which is on standby, but is not to have the turn: 1 if that
 * is met by this, else it is in its call from now on. */
int lz_standby_stopped(struct lz_tracer *t, int status);
/* TH will not go on: another may have its place. */
void lz_standby_gone(struct lz_tracer *t, struct lz_thread *th);
/* The thread to whom the turn has been handed becomes the current one. To be asked before it is used who
 * that is, while the program has run. */
int lz_hand_sync(struct lz_tracer *t);
/* A record of the log that tells so. */
int lz_hand_logged(struct lz_tracer *t, const struct lz_call_record *r, const uint8_t *bytes,
                   uint32_t n, uint64_t time);
/* The thread that hands it over stands before that is done, and makes its call with a stop. */
void lz_hand_undo(struct lz_tracer *t);
/* The current thread has been given the turn, but has not yet gone on from standby: what the page says of
 * the thread that runs is still the other one's. */
bool lz_hand_on_the_way(const struct lz_tracer *t);
/* It goes on to there with what is known of its clock now. */
void lz_hand_resume(struct lz_tracer *t);
/* May the current thread do so? */
bool lz_hand_may(const struct lz_tracer *t);

/* fast_full.c */
/* At a stop with STATUS: 1 if the thread stands there only since the log is full. It goes on with an
 * empty one, and makes its call. */
int lz_full_set_aside(struct lz_tracer *t, int status);
/* waitpid(). Meanwhile what was set aside becomes events, by another thread. */
pid_t lz_full_waitpid(struct lz_tracer *t, pid_t pid, int *status, int flags);
/* What was set aside has become events. */
int lz_full_done(struct lz_tracer *t);

/* fast_maps.c */
/* The thread goes on: memory of which the stub may change mappings. */
void lz_fast_maps_resume(struct lz_tracer *t);
/* May the present call, of this rule, that changes mappings be made without a stop? */
bool lz_fast_maps_could(const struct lz_tracer *t, uint8_t rule);
/* The call of such a record is about to be done as at a stop: -1: it cannot have been like that. What
 * becomes of it is tracked by lz_fast_track(), when all of the log is known. */
int lz_fast_check_map(struct lz_tracer *t, const struct lz_call_record *r);
void lz_fast_track(struct lz_tracer *t);
/* At a stop, when the log has been read: the stub may have put off that the tracer is told of mappings, and WENT:
 * calls were allowed. */
void lz_fast_maps_stopped(struct lz_tracer *t, bool went);
/* The thread with registers R, in front of its call, has stopped for nothing but that: it makes the call without
 * a stop now. 1; 0: it does not. */
int lz_fast_make_again(struct lz_tracer *t, const struct user_regs_struct *r);

/* fast_log.c */
/* -1: the log is broken. */
int lz_fast_broken(const char *what);
/* The call under way was made by the stub, and has no record yet: its vector is as the stub has seen it. */
int lz_fast_note_pieces(struct lz_tracer *t);
/* Where a record is in the stream of markers; the pointer is in the present buffer, and does not go back. */
int lz_fast_offset(struct lz_tracer *t, const struct lz_call_record *r, uint64_t *marker);
/* The registers that it has, with the address IP. */
void lz_fast_regs(const struct lz_counter_entry *e, uint64_t ip, struct user_regs_struct *r);
/* Makes events of LOG. */
int lz_fast_events(struct lz_tracer *t, struct lz_call_log *log);
/* Have calls been made without a stop by the site that ends at IP? Also set by one with a like address. */
bool *lz_site_used(struct lz_tracer *t, uint64_t ip);
/* Makes events of what is in the log. */
int lz_fast_drain(struct lz_tracer *t);
/* With LIZARD_DEBUG=1: how many calls have been made without a stop, and which. */
void lz_fast_tell(const struct lz_tracer *t);

#endif
