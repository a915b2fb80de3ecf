/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events: everything that happened to the program from outside, in order.
 *
 * An event is applied at its instant: after exactly `marker` bytes of the process's stream, at
 * address `ip` of thread `tid`. Applying it means, in this order: change mappings (SYSCALL of kind
 * MAP only), write `writes`, set `regs` if has_regs, else rax=result, rcx=rip, r11=flags as the
 * `syscall` instruction does. Whoever logs an event (a tracer stop today, an in-process log later)
 * must give thread, position and number within the thread.
 *
 * Threads run one at a time and share one marker stream: the write pointer is handed from one to
 * the next by a SWITCH. Its `writes` begin with the next thread's __lizard_pos, once the hello call
 * has been made; what else the kernel has written meanwhile follows. Its `regs` are the next
 * thread's as it goes on (one that is inside a system call: those inside it); xstate is there only
 * when that thread runs for the first time. A thread that is inside a call when it gets its turn
 * has that call's SYSCALL as the next event, at once. */
#ifndef LIZARD_EVENT_H
#define LIZARD_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

enum lz_event_kind {
	/* ip: behind the syscall instruction */
	LZ_EV_SYSCALL = 1,
	/* ip: of the instruction not yet executed (a faulting one, a marker store, behind an
	 * interrupted system call) */
	LZ_EV_SIGNAL,
	/* ip: of the trapped instruction: rdtsc, cpuid, rdrand, ... */
	LZ_EV_INSN,
	/* thread `next` runs from here. ip: as for a SIGNAL; with IN_CALL as for a SYSCALL */
	LZ_EV_SWITCH,
	/* the process is gone: last event */
	LZ_EV_EXIT,
	/* other recorded processes have stored into memory that they share with this one. ip: as
	 * for a SIGNAL */
	LZ_EV_SHARED
};

enum lz_event_flags {
	/* the address space was replaced (execve): replay goes on from the checkpoint whose
	 * position follows this event */
	LZ_EVF_REBASE = 1,
	/* SIGNAL, SWITCH or SHARED in code without markers or system calls: the instant is named by
	 * the checkpoint whose position is this event's: replay runs until address, registers and
	 * memory equal it */
	LZ_EVF_SPIN = 2,
	LZ_EVF_FATAL = 4,       /* SIGNAL that ends the process */
	LZ_EVF_SYNC = 8,        /* SIGNAL caused by the instruction at ip itself */
	LZ_EVF_IGNORED = 16,    /* SIGNAL that was ignored or had no effect on the program */
	LZ_EVF_IN_CALL = 32,    /* SWITCH away from a thread inside system call nr(args) */
	LZ_EVF_THREAD_END = 64, /* SYSCALL exit that ends its thread only: a SWITCH follows */
	/* SYSCALL that made thread `next`; its result is another number, that of the program's PID
	 * namespace */
	LZ_EVF_THREAD_BORN = 128
};

/* Bytes of a chunk of the recording: what has been read of a file is stored once. */
struct lz_kept {
	uint64_t chunk;
	uint32_t at, len;
};

/* Bytes that the event put into the program's memory. With n_kept they are those of KEPT, one after
 * the other: a writer stores no others, and a reader has them at `bytes` all the same. */
struct lz_write {
	uint64_t addr, len;
	const uint8_t *bytes;
	const struct lz_kept *kept;
	uint32_t n_kept;
};

/* What an mmap-family call did, in terms that replay can redo. */
struct lz_map_op {
	uint8_t op; /* enum lz_map_opcode */
	uint64_t addr, len;
	uint32_t prot, flags;       /* as mmap(2); MAP_SHARED is kept here */
	uint32_t file;              /* index in the recording's file table, LZ_NO_FILE */
	uint64_t offset;            /* in the file, bytes */
	uint64_t old_addr, old_len; /* MREMAP */
};
enum lz_map_opcode {
	LZ_MAP = 1,
	LZ_UNMAP,
	LZ_PROTECT,
	LZ_REMAP,
	LZ_ZERO /* MADV_DONTNEED: contents back to the backing */
};
#define LZ_NO_FILE 0xFFFFFFFFu

/* Memory that is mapped more than once: the flags of a mapping without a file name its object by a
 * number from 1 above mmap's own bits, and `offset` is where in the object it begins. Mappings of
 * one object show the same memory; what none shows any more is zeroes again. 0: memory of its
 * own. */
enum { LZ_OBJECT_SHIFT = 16, LZ_OBJECTS_MAX = 1000 };
static inline uint32_t lz_flags_object(uint32_t flags)
{
	return flags >> LZ_OBJECT_SHIFT;
}

/* A page as it was: an XXH3 of what it held (state_sum.h). */
struct lz_page_sum {
	uint64_t addr, sum;
};

struct lz_event {
	uint8_t kind;
	uint32_t flags;
	uint32_t tid;
	uint64_t index;  /* global number, from 0, without gaps */
	uint64_t number; /* within the thread, from 0 */
	uint64_t marker; /* bytes of the thread's marker stream before it */
	uint64_t ip;
	uint64_t time_ns; /* since the recording began, CLOCK_MONOTONIC */
	uint64_t map_id;  /* number of mmap-family calls before this event */

	/* SIGNAL, SWITCH or SHARED at an address that control may come to more than once: the first
	 * arrival with this checksum of registers and stack is meant (state_sum.h) */
	bool has_state;
	uint64_t state;
	/* With a state, in code without markers: that arrival also has these vector registers and
	 * these pages, all that the program may have written to since the event or marker before.
	 * Two arrivals that are alike in all of it go on alike. By address. */
	bool has_pages;
	uint64_t vectors;
	const struct lz_page_sum *pages;
	uint32_t n_pages;

	/* SYSCALL; nr and args also of a SWITCH with LZ_EVF_IN_CALL */
	uint64_t nr, args[6];
	int64_t result;
	bool has_taken;
	uint32_t taken; /* of the bytes that the call took from the program: written_bytes.h */
	/* SWITCH: the thread that runs from here; SYSCALL with LZ_EVF_THREAD_BORN: a new one */
	uint32_t next;
	/* SIGNAL: number and the siginfo bytes as the program saw them */
	uint32_t signo;
	uint8_t siginfo[128];
	/* INSN: which */
	uint32_t insn; /* enum lz_insn */
	/* EXIT */
	uint32_t status; /* as waitpid gives it */

	bool has_regs;
	struct user_regs_struct regs; /* after the event */
	const uint8_t *xstate;        /* NT_X86_XSTATE after the event, or NULL */
	uint32_t xstate_len;

	struct lz_write *writes;
	uint32_t n_writes;
	/* What was there before, for munmap and its kin: the removed regions. */
	struct lz_map_op *ops;
	uint32_t n_ops;
};
enum lz_insn {
	LZ_INSN_RDTSC = 1,
	LZ_INSN_RDTSCP,
	LZ_INSN_CPUID,
	LZ_INSN_RDRAND,
	LZ_INSN_RDSEED,
	LZ_INSN_XSAVEC
};
/* A system call or an instruction that changes registers and memory and nothing else: no mapping, no
 * thread and its name, no program. Who looks for those need not read it. */
bool lz_event_plain(const struct lz_event *ev);
/* Are its `writes` the program's own bytes, which the call has not written: a thread's name, the text
 * of a mark? */
bool lz_event_writes_own(const struct lz_event *ev);
/* "?" for one that is not known. */
const char *lz_insn_name(uint32_t insn);

#endif
