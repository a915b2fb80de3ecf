/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building the state of a checkpoint in a live process: the restorer's contract.
 *
 * The process starts as an empty stub: nothing is mapped in it but one page at meta.stub_addr with
 * a `syscall` instruction, through which every mapping is then made. It is ptraced by the calling
 * thread, dies with it, has its own session and no open files but the memory that it maps more than
 * once, and runs on the CPU that the calling thread is pinned to. rdtsc traps in it, and cpuid
 * where the machine can do that. */
#ifndef LIZARD_RESTORE_H
#define LIZARD_RESTORE_H

#include <lizard/proc.h>
#include <lizard/recording.h>
#include <sys/mman.h>

/* Refuses a recording made on a machine with instruction sets that this one lacks: they are
 * named. */
int lz_host_check(const struct lz_meta *m);
/* What of RECORDED (words as in the flags line of /proc/cpuinfo) a program could have used and HERE
 * does not have: their number; names to OUT as far as they fit. Pure. */
size_t lz_features_missing(const char *recorded, const char *here, char *out, size_t room);
/* Pins the calling thread to the CPU that the recording was made on (to any one it may use if that
 * one is refused, or M is NULL): a stop costs much less when both sides share a CPU. */
void lz_stub_pin(const struct lz_meta *m);
/* The I-th CPU that the calling thread, which is pinned, could use: the first one is its own. -1:
 * there are no more. */
int lz_stub_cpu(unsigned i);
/* For a thread that replays beside the pinned one. */
void lz_stub_pin_to(int cpu);
/* For a thread that works beside the pinned one: back to the other CPUs. */
void lz_stub_unpin(void);
/* An empty process. On failure nothing is left behind. */
int lz_stub_start(struct lz_proc *p, const struct lz_meta *m);
/* A copy of the stopped process, in the same state. Debug registers are clear in it. */
int lz_stub_fork(struct lz_proc *p, struct lz_proc *copy);
/* RLIMIT_STACK as the program has it, in bytes: its stack grows, and overflows, where it did. A
 * limit that may not be set here is a warning. */
void lz_stub_limit_stack(struct lz_proc *p, uint64_t limit);
/* It gets SIGALRM each time that NS nanoseconds have gone by; 0: no more. */
int lz_stub_alarm(struct lz_proc *p, uint64_t ns);
/* Mapping calls that the process makes by itself (lz_proc_bar()) may be of data only: these bits of
 * `prot`, and these flags. */
enum { LZ_OWN_PROT = PROT_READ | PROT_WRITE };
enum { LZ_OWN_FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE };
/* May they change this range? The filter compares in units of 64 KiB; a range is taken to end in one
 * of the LZ_UNITS_MORE behind that of its start and its whole units. */
enum { LZ_UNIT_BITS = 16, LZ_UNITS_MORE = 3 };
bool lz_stub_is_apart(const struct lz_stub *stub, uint64_t addr, uint64_t len);
/* The first unit behind the stub. */
uint64_t lz_stub_units_end(const struct lz_stub *stub);
/* 1: lz_proc_bar() is possible. 0: the kernel cannot do that; -1. */
int lz_stub_can_bar(struct lz_proc *p);
/* Ends the process, reaps it and closes P. Does nothing if p->pid <= 0. */
void lz_stub_kill(struct lz_proc *p);
/* The same without waiting for its end, which takes a millisecond for a small program: it dies on
 * another CPU if there is one, and is reaped by later calls of the same thread. */
void lz_stub_drop(struct lz_proc *p);
/* Waits for those that this thread has dropped. */
void lz_stub_reap(void);

/* Does one mapping operation in the process by injected calls. Shared mappings become private ones
 * of the recording's copy, but for those of a numbered object, which show the same memory. */
int lz_restore_op(struct lz_proc *p, struct lz_reader *r, const struct lz_map_op *op);
/* LEN bytes at ADDR of the process become zeroes that it may write to and the caller sees, too:
 * whole pages. Returns the caller's view, to be given to munmap(); NULL: failed. No copy of the
 * process can be made while they are there. */
void *lz_restore_window(struct lz_proc *p, uint64_t addr, size_t len);
/* Mappings, contents and the running thread's registers of checkpoint CK (IM stands at it) in an
 * empty process. */
int lz_restore(struct lz_proc *p, struct lz_reader *r, const struct lz_image *im,
               const struct lz_checkpoint *ck);

#endif
