/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The marker ABI: what instrumented code writes, shared by the plugin, its
 * runtime, the tracer and the replayer. No other header is included here but
 * <stdint.h>, so that a GCC plugin can use it.
 *
 * stream  = { marker }
 * marker  = edge | WIDE id16 | WIDE32 id32 | ENTER fn32 | EXIT | TAIL
 *         | LANDING fn32 frame32
 * edge    = one byte 1..LZ_EDGE_MAX: the marked edge of the current function
 * fn32    = low 32 bits of the run-time address of the function's entry label
 * frame32 = low 32 bits of the activation's frame (any value that is constant
 *           within an activation and unique among the live activations of one
 *           function; the plugin takes the canonical frame address)
 *
 * Numbers are little-endian. The code byte of a marker has the lowest address
 * and is stored last. The byte 0 is never a code byte: what the tracer has
 * taken is zeroed, and the end of what was written is found by parsing
 * forwards from a known marker boundary.
 *
 * Order in a function: ENTER, then (only in functions that have landing sites:
 * returns-twice calls, EH landing pads, non-local labels) LANDING once right
 * after it, then markers; before a return EXIT, before a tail call TAIL.
 * LANDING again whenever control arrives at a landing site: the activation
 * (fn, frame) is current again, all activations above it are gone.
 *
 * Source: Ball and Larus, "Optimally Profiling and Tracing Programs", TOPLAS
 * 1994, section 3; Lizard, "Tracing and Replaying algorithms", algorithm 1. */
#ifndef LIZARD_MARKER_H
#define LIZARD_MARKER_H

#include <stdint.h>

enum {
	LZ_EDGE_MAX = 0xEF,
	LZ_WIDE = 0xF0,   /* + 2 bytes */
	LZ_WIDE32 = 0xF1, /* + 4 bytes */
	LZ_ENTER = 0xF2,  /* + 4 bytes */
	LZ_EXIT = 0xF3,
	LZ_TAIL = 0xF4,
	LZ_LANDING = 0xF5, /* + 8 bytes */
	LZ_MARKER_MAX_SIZE = 9
};

/* Without a tracer all threads write to one sink, aligned to its size, in which the write pointer
 * (r15) goes round: it is advanced by 16-bit adds. */
enum {
	LZ_SINK_SIZE = 0x10000,
	LZ_SINK_PAD = 0x1000 /* accessible bytes behind a sink or a ring of buffers */
};

/* When traced, a thread has a ring of buffers, aligned to the ring's size; each time one is full
 * its markers go on at the base of the next. They are larger than a sink, since a full one costs a
 * stop: the tracer makes the adds 64 bits wide (lizard/widen.h). The page at LZ_BUFFER_GUARD is
 * inaccessible. */
enum {
	LZ_BUFFER_SIZE = 0x80000,
	LZ_BUFFER_GUARD = LZ_BUFFER_SIZE - 0x1000,
	LZ_RING_BUFFERS = 4,
	LZ_RING_SIZE = LZ_RING_BUFFERS * LZ_BUFFER_SIZE
};

/* The ring that the buffer at BASE belongs to. */
static inline uint64_t lz_ring_of(uint64_t base)
{
	return base & ~(uint64_t)(LZ_RING_SIZE - 1);
}

static inline uint64_t lz_ring_next(uint64_t base)
{
	return lz_ring_of(base) + (base + LZ_BUFFER_SIZE) % LZ_RING_SIZE;
}

/* The hello call, made once per process by the runtime, as early as possible
 * (.preinit_array of an executable). It is brk(0), which every C library makes
 * when it starts, so no filter of system calls that lets a program start
 * objects to it; to the kernel the other registers mean nothing:
 *   rdi = 0
 *   rsi = address of the sink (LZ_SINK_SIZE aligned)
 *   rdx = address of __lizard_pos of the calling thread
 *   r10 = __lizard_pos's offset from the thread pointer (fs base), negative
 *   r8  = address of __lizard_traced (uint32_t in .bss): set to 1 by a tracer
 *   r9  = LZ_HELLO_MAGIC << 16 | version << 8 | flags
 *         (LZ_HELLO_CHECKING: code built in checking mode is present)
 * With a tracer *(rdx) then holds the base of the first buffer of a fresh
 * ring. The result is the kernel's and means nothing.
 *
 * Version 1 was a call with a number that no kernel has, LZ_HELLO_NR_1, with
 * rdi = the version and r9 = the flags; it gave 0, or -ENOSYS without a tracer.
 * Programs linked then make it, and recordings hold it. */
#define LZ_HELLO_NR 12 /* brk */
#define LZ_HELLO_NR_1 0x4c5a
#define LZ_HELLO_MAGIC 0x6c697a617264ULL /* "lizard" */
enum { LZ_HELLO_VERSION = 2, LZ_HELLO_CHECKING = 1 };

/* The hello's version, 0 if this call is another one. ARG: its six arguments. */
static inline uint64_t lz_hello_version(uint64_t nr, const uint64_t *arg)
{
	if (nr == LZ_HELLO_NR_1)
		return arg[0];
	if (nr == LZ_HELLO_NR && arg[0] == 0 && arg[5] >> 16 == LZ_HELLO_MAGIC)
		return arg[5] >> 8 & 0xff;
	return 0;
}

/* Size of the marker whose code byte is CODE; 0 for the byte 0 and for codes
 * that do not exist. */
static inline unsigned lz_marker_size(uint8_t code)
{
	if (code == 0)
		return 0;
	if (code <= LZ_EDGE_MAX)
		return 1;
	switch (code) {
	case LZ_WIDE: return 3;
	case LZ_WIDE32: return 5;
	case LZ_ENTER: return 5;
	case LZ_EXIT: return 1;
	case LZ_TAIL: return 1;
	case LZ_LANDING: return 9;
	default: return 0;
	}
}

#endif
