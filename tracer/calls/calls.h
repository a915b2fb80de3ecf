/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System calls: what they do to the program, told by their events. */
#ifndef LIZARD_TRACER_CALLS_H
#define LIZARD_TRACER_CALLS_H

#include "tracer/state/tracer.h"

/* written_bytes.c */
/* Puts what the call has written, as a checksum, into its event, which is about to be committed. */
void lz_note_written_bytes(struct lz_tracer *t);
/* Does replay find the same bytes there? */
bool lz_taken_is_own(const struct lz_tracer *t, uint64_t addr, uint64_t len);

/* newimage.c */
/* After an execve: is it a program that can be recorded? *R: its registers. */
int lz_check_image(const struct lz_proc *p, struct user_regs_struct *r);
/* After an execve, at its exit stop: tames what the kernel mapped, reserves the stub's pages,
 * reads the mappings and takes a whole checkpoint. */
int lz_new_image(struct lz_tracer *t);
/* For a child that has just been forked: the same, but with what is tamed already. ACT: its
 * dispositions. The first checkpoint is left to the caller. */
int lz_forked_image(struct lz_tracer *t, const struct lz_disposition *act);
/* What the kernel maps at E, its file copied. */
int lz_area_of(struct lz_tracer *t, const struct lz_maps_entry *e, struct lz_area *a);
/* Any system call instruction in the process, for p->syscall_insn. */
int lz_find_syscall(struct lz_proc *p);

/* calls.c */
int lz_call_entry(struct lz_tracer *t, struct user_regs_struct *r);
int lz_call_exit(struct lz_tracer *t, struct user_regs_struct *r);
/* At a call's exit: lets it be made again if only signals that are ignored have ended its wait. */
int lz_call_wait_on(struct lz_tracer *t, struct user_regs_struct *r);
/* At a signal's stop: if it came when a call was just about to be made again, the thread stands behind the
 * call as before, and the signal is what has ended its wait. */
int lz_call_not_again(struct lz_tracer *t, struct user_regs_struct *r);
/* The number that a call gets which is not to be made; INT80: it comes through the 32-bit gate. */
uint64_t lz_call_instead(bool int80);
/* Logs a suspended call with its result as seen. */
int lz_call_give_up(struct lz_tracer *t);
/* Stops at an execve's exit: logs it and starts over with the new image. 1: that one has a
 * recording of its own, which has not begun yet. */
int lz_call_exec_done(struct lz_tracer *t, struct user_regs_struct *r);

/* shorten.c */
/* At the entry of a call that the stub has waited with: only the rest of its time is left. */
int lz_call_shorten(struct lz_tracer *t, struct user_regs_struct *r);
/* Whoever is to wake a futex that processes share has its turn only while this one waits: a short wait may be
 * as long as that. */
int lz_call_wait_longer(struct lz_tracer *t, struct user_regs_struct *r);
/* When such a call is over, or is to be made again: its arguments are the program's again. */
int lz_call_lengthen(struct lz_tracer *t, struct user_regs_struct *r);

/* hello.c */
/* At the exit stop of the hello call, its event under construction: makes the ring. 1: welcome. */
int lz_call_hello(struct lz_tracer *t);

/* share.c */
/* LEN bytes that both can write, without a descriptor left in the program, where there is room from
 * address *AT on, in steps of STEP. CODE: so many bytes that are the program's alone, for code, are in
 * front of it, and no forked process has any of that; 0: it is nothing but memory. NULL: lz_error(); errno is EACCES where the program has become
 * another user's, EFBIG or ENOMEM where its limits forbid it, EMFILE or ENFILE where it may have no more
 * descriptors. */
void *lz_share(struct lz_tracer *t, size_t len, uint64_t *at, uint64_t step, size_t code);

/* blocked_take.c */
/* What the kernel may write for a call before the call's event. */
int lz_blocked_take(struct lz_tracer *t);
/* At the entry of a call that may fall asleep having written a part already, or write what is left of its time
 * before it is made again: the same at once. */
int lz_blocked_take_early(struct lz_tracer *t);

/* capture.c */
/* Adds what the call wrote to the event. */
int lz_capture(struct lz_tracer *t, int64_t result);
int lz_capture_prepare(struct lz_tracer *t); /* at entry */

/* vectors.c */
/* Before the call: nothing has been noted of it yet; */
void lz_vectors_begin(struct lz_tracer *t);
/* COUNT iovecs at AT are noted, */
int lz_vectors_note(struct lz_tracer *t, uint64_t at, uint64_t count);
/* a struct msghdr and what it points to, the first ones of COUNT struct mmsghdr, */
int lz_vectors_note_message(struct lz_tracer *t, uint64_t at);
int lz_vectors_note_messages(struct lz_tracer *t, uint64_t at, uint64_t count);
/* the same of a call that the stub has made, by the N pieces of its record, */
int lz_vectors_of_pieces(struct lz_tracer *t, const struct lz_call_piece *piece, uint32_t n);
/* and a structure of which one kind of call has one. */
void lz_vectors_note_head(struct lz_tracer *t, uint64_t at);
/* The first LEN bytes of that. False: it could not be read. */
bool lz_vectors_head(const struct lz_tracer *t, void *to, size_t len);
/* Behind the call, adds to the event what it wrote: LEN bytes by the vector, LEN bytes of the message,
 * COUNT messages. */
int lz_vectors_capture(struct lz_tracer *t, uint64_t len);
int lz_vectors_capture_message(struct lz_tracer *t, uint64_t at, uint64_t len);
int lz_vectors_capture_messages(struct lz_tracer *t, uint64_t at, uint64_t count);

/* names.c */
/* The name that the call gives to a thread, if it does. */
int lz_names_note(struct lz_tracer *t, int64_t result);

/* outputs.c */
int lz_capture_special(struct lz_tracer *t, int64_t result);
int lz_capture_prepare_special(struct lz_tracer *t); /* at entry */

/* refused.c */
/* Says, once, that what FMT names is refused. Gives ERROR. */
int64_t lz_refused(int64_t error, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* shared_code.c: before an mmap. */
int lz_shared_code_private(struct lz_tracer *t, struct user_regs_struct *r);

/* Is it an mprotect that would fail if the code were shared? */
bool lz_answer_shared_code(const struct lz_tracer *t, int64_t *result);

/* program_fd.c */
bool lz_fd_is_open(const struct lz_tracer *t, int fd);
bool lz_fd_is_socket(const struct lz_tracer *t, int fd);
/* One of ours for the same file; -1: it cannot be had. */
int lz_fd_copy(const struct lz_tracer *t, int fd);
/* Has the socket an error that the next call will tell of? */
bool lz_fd_has_error(const struct lz_tracer *t, int fd);

/* ioctls.c */
int lz_ioctl_prepare(struct lz_tracer *t, uint32_t request, uint64_t at); /* at entry */
int lz_ioctl_capture(struct lz_tracer *t, uint32_t request, uint64_t at, int64_t result);
/* The error that the program gets instead of the call, 0: none. */
int64_t lz_ioctl_refuse(struct lz_tracer *t, uint32_t request, uint64_t at);

/* ethtool.c */
/* The same of SIOCETHTOOL. */
int lz_ethtool_capture(struct lz_tracer *t, uint64_t at);
int64_t lz_ethtool_refuse(struct lz_tracer *t, uint64_t at);

/* answer_by_args.c */
/* At entry: true if the call is not to be made, because of its arguments; *result is given
 * instead. */
bool lz_answer_by_args(struct lz_tracer *t, int64_t *result);

/* dumpable.c */
/* At entry, as lz_answer_by_args(): of what the program believes to be. */
bool lz_answer_dumpable(struct lz_tracer *t, int64_t *result);
/* A process that has become undumpable, by its own wish or as it has changed its user, is made
 * dumpable again if we could not look at it any more; it believes that it is not. */
int lz_stay_dumpable(struct lz_tracer *t, int64_t result);
/* What it believes to be, it becomes when it is let go. */
int lz_set_undumpable(struct lz_tracer *t, struct lz_proc *c);

/* marks.c */
/* At entry, as lz_answer_by_args(): of a mark of the program's. */
bool lz_answer_mark(struct lz_tracer *t, int64_t *result);
/* At its exit: logs the text. */
int lz_mark_note(struct lz_tracer *t, int64_t result);

/* mapcalls.c */
/* Ops of an mmap-family call that returned RESULT. */
int lz_map_call(struct lz_tracer *t, int64_t result);
/* Between this and the end of the heap is nothing but the heap. */
uint64_t lz_heap_start(const struct lz_tracer *t);
/* Logs and forgets what is mapped in [START, END). */
int lz_map_removed(struct lz_tracer *t, uint64_t start, uint64_t end);

/* small_files.c */
/* At the exit of an mmap that gave AT: 1: it has mapped a small part of a file, and its event has the
 * bytes. 0: it is to be recorded otherwise. */
int lz_small_mapped(struct lz_tracer *t, uint64_t at);
/* The log has such a call: N bytes. 1: there are too many. */
int lz_small_logged(struct lz_tracer *t, const struct lz_call_record *r, const uint8_t *bytes,
                    uint64_t n);
/* ... and one that unmaps [START, END). */
void lz_small_gone(struct lz_tracer *t, uint64_t start, uint64_t end);
/* The program stands, and the whole log is known: what it has mapped becomes an object that is
 * watched. */
int lz_small_settle(struct lz_tracer *t);

/* own_pages.c */
/* At entry, as lz_answer_by_args(): of calls that change mappings where ours are. */
bool lz_answer_own_pages(struct lz_tracer *t, int64_t *result);
/* Are some of them in [START, END)? */
bool lz_own_pages_touch(const struct lz_tracer *t, uint64_t start, uint64_t end);
/* Is AT in one of them? *END: up to where it is as there. */
bool lz_own_pages_at(const struct lz_tracer *t, uint64_t at, uint64_t *end);
/* At the exit of a munmap that was so answered: unmaps what is not ours. */
int lz_own_pages_unmap(struct lz_tracer *t, int64_t *result);

/* Logs and forgets what is mapped in [START, END). */
int lz_map_removed(struct lz_tracer *t, uint64_t start, uint64_t end);
int lz_map_protected(struct lz_tracer *t, uint64_t start, uint64_t end, uint32_t prot);

/* child_maps.c */
/* A child is about to run in the program's memory. */
int lz_child_maps_before(struct lz_tracer *t);
/* It has left: adds to the call's event how it has changed the mappings. */
int lz_child_maps_log(struct lz_tracer *t);

/* child_code.c */
/* The same two, for what is there that the program cannot write. */
int lz_child_code_before(struct lz_tracer *t);
int lz_child_code_log(struct lz_tracer *t);

/* child_writes.c */
/* Adds to the call's event what a child that shared the memory has written. */
int lz_child_writes(struct lz_tracer *t);

/* affinity.c */
/* After sched_getaffinity: the program sees the CPUs it would have had without us. */
int lz_affinity_show(struct lz_tracer *t, int64_t result);
/* Instead of sched_setaffinity: what the program and its children believe in. */
int64_t lz_affinity_set(struct lz_tracer *t);

/* After getcpu: the one that the program is told. */
int lz_cpu_show(struct lz_tracer *t, int64_t result);
/* Chooses that one, among those that the program believes to have. */
void lz_cpu_choose(struct lz_tracer *t);

/* ownmem.c */
/* After each system call: adds to the event what it has written through /proc/PID/mem of the
 * program itself. */
int lz_own_mem_call(struct lz_tracer *t, int64_t result);

/* file_writes.c */
/* After each system call: adds to the event what changed in mapped files and shared memory. */
int lz_shared_call(struct lz_tracer *t, int64_t result);

#endif
