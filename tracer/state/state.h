/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked of a thread, a call or a process, and the tracer's own process. */
#ifndef LIZARD_TRACER_STATE_H
#define LIZARD_TRACER_STATE_H

#include "tracer/state/tracer.h"

/* thread.c */
struct lz_thread *lz_thread_find(const struct lz_tracer *t, pid_t tid);
/* The same by the number that the program knows. */
struct lz_thread *lz_thread_named(const struct lz_tracer *t, pid_t own_tid);
int lz_thread_save_xstate(struct lz_tracer *t);
void lz_vectors_free(struct lz_vectors *v);
/* As in /proc/PID/stat: R S D t Z ...; 0: not known. */
char lz_thread_state_of(const struct lz_tracer *t, struct lz_thread *th);
/* Lets what works on the current thread work on TH. */
void lz_become(struct lz_tracer *t, struct lz_thread *th);
/* Is there more than the first thread, or another one? */
bool lz_threaded(const struct lz_tracer *t);

/* timer.c */
/* What the timer sends to the tracer. */
#define LZ_WAKE SIGRTMAX
/* In FIRST nanoseconds, and each EVERY nanoseconds from then on. */
int lz_timer_set(uint64_t first, uint64_t every);

/* call_kinds.c */
/* Is it a call during which others may run? */
bool lz_call_waits(const struct lz_call *c);
/* The result that makes the call write most; more than LZ_CALL_MOST is not looked at. */
int64_t lz_call_most(const struct lz_call *c);
/* Is it one during which other processes may run that share memory with this one? */
bool lz_call_may_sleep(const struct lz_call *c);
/* Is it under way, and of this class of syscalls.h? */
bool lz_call_has_class(const struct lz_call *c, int klass);
/* Is the entry stop with registers R the same call, made again? */
bool lz_call_same(const struct lz_call *c, const struct user_regs_struct *r);

/* file_systems.c */
/* Do reads and writes of the file wait for nobody? Others answer from a process or another machine. */
bool lz_is_local(const char *path);
/* Does a lease on FD's file prove that nobody can store to it? */
bool lz_leases_prove(int fd);
/* ... or at least that nobody has it open for writing, who may have mapped it before? */
bool lz_leases_show_open(int fd);

/* jobs.c */
/* Once the program has been started. */
void lz_jobs_begin(void);
/* The program has stopped; returns when it may go on. */
void lz_jobs_stopped(const struct lz_tracer *t);

/* descriptors.c */
/* Of stdin, stdout and stderr, what is closed is not taken by files of ours. */
void lz_descriptors_reserve(void);
/* As many as the tracer may have; the program gets its own limit back. */
void lz_descriptors_most(void);
void lz_descriptors_own(void);
/* Closes those that the tracer was given, but for stderr; stdin and stdout become /dev/null. */
void lz_descriptors_drop(void);
/* stderr, too; and if nobody reads NEWS, as the first tracer has ended then. */
void lz_descriptors_silence(void);
void lz_descriptors_alone(int news);

/* privileges.c */
/* Says why PTRACE_SEIZE of PID has failed with the present errno. Gives -1. */
int lz_cannot_trace(pid_t pid);
/* Yama allows it to nobody else, unless the process says so. */
bool lz_only_ancestors_trace(void);
/* -1: PID's program is one that has no privileges only because we trace it. */
int lz_check_privileges(pid_t pid);
/* Says so of a process that is none of those that Lizard was told to run. */
void lz_tell_privileges(pid_t pid);

#endif
