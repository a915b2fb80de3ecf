/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code of the program that is changed: instructions that are armed, markers that are widened. */
#ifndef LIZARD_TRACER_CODE_H
#define LIZARD_TRACER_CODE_H

#include "tracer/state/tracer.h"

#include <common/process/cpuid_answers.h>
#include <common/process/cpuid_cache.h>

/* insn.c */
/* 1 if the instruction at r->rip was a trapped one and has been done. */
int lz_insn_fault(struct lz_tracer *t, struct user_regs_struct *r);
/* The same, first, with one that always has the same result: no event tells it. */
int lz_insn_known(struct lz_tracer *t, struct user_regs_struct *r);
/* Switches trapping on, by injected calls. N others are made as well, at most LZ_INSN_TRAP_OTHERS. */
enum { LZ_INSN_TRAP_OTHERS = 12 };
int lz_insn_trap(struct lz_tracer *t, struct lz_proc_call *others, size_t n);
/* In the current thread, or in a child of it: only what it has set itself is left. */
int lz_insn_release(const struct lz_tracer *t, struct lz_proc *child);
/* At entry, as lz_answer_by_args(): PR_SET_TSC. */
bool lz_insn_answer(struct lz_tracer *t, int64_t *result);
/* After a prctl: the program sees what it would see without the trap. */
int lz_insn_show(struct lz_tracer *t, int64_t result);

/* armed.c */
int lz_places_add(struct lz_places *p, uint64_t at);
/* What was mapped at START is now at TO (0: nowhere). */
void lz_places_moved(struct lz_places *p, uint64_t start, uint64_t end, uint64_t to);
/* Stores TO at each of them where FROM is. */
void lz_places_put(const struct lz_places *s, const struct lz_proc *p, uint8_t from, uint8_t to);
bool lz_places_has(const struct lz_places *p, uint64_t at);
/* Of the first kind. */
bool lz_armed_has(const struct lz_tracer *t, uint64_t at);
/* Those of SITES, offsets in a file, that its mapping V shows. LOGGED: the event that is being built
 * tells it. How many, -1. */
int lz_armed_sites(struct lz_tracer *t, enum lz_armed_kind kind, const uint64_t *sites, size_t n,
                   const struct lz_vma *v, bool logged);
/* In a process that is let go, or that runs in our memory for a while. */
void lz_armed_release(const struct lz_tracer *t, const struct lz_proc *p);
void lz_armed_again(struct lz_tracer *t);
void lz_armed_moved(struct lz_tracer *t, uint64_t start, uint64_t end, uint64_t to);
void lz_armed_forget(struct lz_tracer *t);

/* counter.c */
/* May programs read the bases of segments, as the stub does for each instruction that it does? */
bool lz_segments_readable(void);
/* Two clocks are compared from now on, if the stub can do rdtsc here. */
void lz_counter_begin(struct lz_tracer *t);
/* t->fast.counter tells how the time is scaled. False: it is too early for that, or of no
 * use. */
bool lz_counter_scale(struct lz_tracer *t);
/* Is there a thread that may not read it? */
bool lz_counter_forbidden(const struct lz_tracer *t);
/* What rdtsc gives. */
uint64_t lz_counter_read(struct lz_tracer *t);

/* clock.c */
/* The current thread goes on, with calls without a stop: what the stub may do then. */
int lz_clock_resume(struct lz_tracer *t);
/* It has stopped: the stub may have let it read the counter. */
void lz_clock_stopped(struct lz_tracer *t);
/* Before the current thread goes on: it may read the counter no more if code has come of which not all is
 * known. MAY_CALL: a call can be made for that; else it is done later. */
int lz_clock_settle(struct lz_tracer *t, bool may_call);
/* The program itself forbids the counter. */
void lz_clock_never(struct lz_tracer *t);
/* The same if code may have been written to: between two addresses, or in a file. */
void lz_clock_written(struct lz_tracer *t, uint64_t from, uint64_t to);
void lz_clock_file_written(struct lz_tracer *t, uint32_t object);

/* detour.c */
/* There may be sites from now on. */
void lz_detours_begin(struct lz_tracer *t);
/* The system call instruction, or the rdtsc, at AT becomes a jump. 1; 0: it cannot be changed. */
int lz_detour_make(struct lz_tracer *t, uint64_t at);
/* The detour's jump goes to the stub's entry of KIND. */
int lz_detour_kind(struct lz_tracer *t, struct lz_site *x, uint8_t kind);
/* P, which is let go, gets the program's own instructions back. */
void lz_detours_release(const struct lz_tracer *t, const struct lz_proc *p);
/* The same while P runs in the program's memory; and after that. */
void lz_detours_lend(struct lz_tracer *t, const struct lz_proc *p);
void lz_detours_again(struct lz_tracer *t);
/* The program may read the counter no more: it finds its own rdtsc. */
void lz_detours_end_counters(struct lz_tracer *t);
/* What was mapped at START is now at TO, with the program's own instructions; 0: nowhere. */
void lz_detours_moved(struct lz_tracer *t, uint64_t start, uint64_t end, uint64_t to);

/* widen.c */
/* The markers in a new mapping, told by the event that is being built. Nothing is done before
 * the hello call. */
int lz_wide_mapped(struct lz_tracer *t, const struct lz_area *a);
/* At the hello call: those in all mappings. */
int lz_wide_hello(struct lz_tracer *t);
/* FILE, of which [START, END) is a part, has been bound: its code is to use the runtime that has
 * said hello, even if there is another copy for it. */
int lz_wide_join(struct lz_tracer *t, uint32_t file, uint64_t start, uint64_t end);
/* The same for all files that are mapped. */
int lz_wide_join_all(struct lz_tracer *t);

/* marked.c */
/* Is the instruction at AT in a function with markers, and does control arrive there once between
 * two markers or events? A whole rep instruction is one arrival. */
bool lz_marked_once(struct lz_tracer *t, uint64_t at);
/* Is r15 the marker pointer there: pointer_here.h? */
bool lz_marked_pointer(struct lz_tracer *t, uint64_t at);
/* In any code: is it in a loop without markers and system calls, or may it be? Calls are not
 * followed. */
bool lz_in_loop(struct lz_tracer *t, uint64_t at);
/* Another program, or another recording. */
void lz_marked_forget(void);

/* random.c */
/* Arms rdrand and rdseed in the new image's program. */
int lz_random_arm(struct lz_tracer *t);
/* In another file's mapping, where cpuid cannot hide them. LOGGED: the event that is being built
 * tells it. */
int lz_random_mapped(struct lz_tracer *t, const struct lz_vma *v, bool logged);
/* Does the code at IP belong to a program of which all are armed? */
bool lz_random_known(uint64_t ip);

/* cpuid.c */
/* Arms cpuid in the new image's files if the processor does not trap it. */
int lz_cpuid_arm(struct lz_tracer *t);
/* In a new mapping. t->cpuid_told is set if there may be more than are known. LOGGED: as above. */
int lz_cpuid_mapped(struct lz_tracer *t, const struct lz_vma *v, bool logged);
/* Is it a trapped cpuid that has faulted at IP? */
bool lz_cpuid_does(const struct lz_tracer *t, uint64_t ip, const uint8_t *insn);

/* cpuid_sites.c */
/* What cpuid answers from now on; the texts that tell it, lz_cpuid_answers_text(). */
char **lz_cpuid_collect(void);
/* R is at a cpuid, which is done if that is known. */
bool lz_cpuid_known(struct user_regs_struct *r);
/* Those that are armed become jumps to code that does them. */
int lz_cpuid_sites(struct lz_tracer *t);
/* Is IP in that code? */
bool lz_cpuid_inside(const struct lz_tracer *t, uint64_t ip);

/* linker.c */
/* The code of the new image's dynamic linker, or else of the program where it begins; NULL: it is not known. */
const struct lz_vma *lz_linker_code(struct lz_tracer *t);
/* Its system calls by which it loads files, and the counters that it reads, become jumps before it runs. There must be
 * memory for the stub. */
int lz_linker_sites(struct lz_tracer *t);

/* xsavec.c */
/* Arms xsavec in the new image's dynamic linker. */
int lz_xsavec_arm(struct lz_tracer *t);
/* Does the armed instruction at CODE and r->rip, and adds what it stores to the event that is
 * being built. 0: there is none. */
int lz_xsavec_fault(struct lz_tracer *t, const uint8_t *code, size_t n, struct user_regs_struct *r);

#endif
