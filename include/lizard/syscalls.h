/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one table of system calls (syscalls.tbl), for the tracer and for replay. */
#ifndef LIZARD_SYSCALLS_H
#define LIZARD_SYSCALLS_H

#include <stdint.h>

enum lz_sys_class {
	LZ_SC_PLAIN = 1, /* replay answers from the log: result and writes */
	LZ_SC_WAIT,      /* the same; may wait for something: other threads run meanwhile */
	LZ_SC_WRITE,     /* the same; puts the program's bytes into a file or stream */
	LZ_SC_MAP,       /* changes the address space: the event has ops */
	LZ_SC_FORK,      /* makes a child, which is not recorded; else as PLAIN */
	LZ_SC_EXEC,      /* on success the event is flagged LZ_EVF_REBASE */
	LZ_SC_EXIT,      /* does not return: a SYSCALL event, then an EXIT event */
	LZ_SC_SIGRETURN, /* the event has regs and xstate */
	LZ_SC_REFUSED,   /* the tracer answers ENOSYS and names it once */
	LZ_SC_ABSENT     /* the tracer answers ENOSYS as an older kernel would */
};

/* What the kernel wrote; A is an argument's number. Unless said otherwise only
 * after success, and nothing at a null pointer. */
enum lz_sys_out_kind {
	LZ_OUT_FIX = 1, /* size bytes at A */
	LZ_OUT_RET,     /* result bytes at A, at most args[B] */
	LZ_OUT_RETN,    /* result * size bytes at A */
	LZ_OUT_LEN,     /* args[B] bytes at A */
	LZ_OUT_ARR,     /* args[B] * size bytes at A */
	LZ_OUT_BITS,    /* a mask of args[B] bits at A, in longs */
	LZ_OUT_FDSET,   /* a mask of args[B] bits at A, in longs */
	LZ_OUT_VALLEN,  /* at A, the length before and after the call at B (int) */
	LZ_OUT_IOV,     /* result bytes over args[B] iovecs at A */
	LZ_OUT_MSG,     /* a struct msghdr at A and what it points to */
	LZ_OUT_MMSG,    /* result struct mmsghdr at A, at most B */
	LZ_OUT_SPECIAL  /* depends on the arguments: code in the tracer */
};

struct lz_sys_out {
	uint8_t kind; /* enum lz_sys_out_kind */
	uint8_t a, b;
	uint8_t always; /* also after failure */
	uint16_t size;
};

enum { LZ_SYS_OUTS = 4 };
struct lz_syscall {
	const char *name; /* NULL: no such row */
	uint8_t n_args, klass;
	struct lz_sys_out out[LZ_SYS_OUTS]; /* up to the first of kind 0 */
};

/* The row of a call, NULL if the number is not in the table. */
const struct lz_syscall *lz_syscall(uint64_t nr);
/* Its name; "syscall_NR" (per-thread buffer) if unknown. */
const char *lz_syscall_name(uint64_t nr);
/* The same; "lizard_hello" for a hello call, "lizard_mark" and "lizard_recording" for those of
 * <lizard.h>, which the six arguments tell. */
const char *lz_call_name(uint64_t nr, const uint64_t *args);

#endif
