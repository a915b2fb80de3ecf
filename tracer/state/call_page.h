/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that the tracer shares with the code by which the program makes system calls without a
 * stop (tracer/stub): what that code may do, and the log of what it has done. The program can write
 * to all of it. */
#ifndef LIZARD_TRACER_CALL_PAGE_H
#define LIZARD_TRACER_CALL_PAGE_H

#include <stdint.h>

enum {
	LZ_FAST_CALLS = 512, /* numbers of calls */
	LZ_FAST_FDS = 1024,
	LZ_FAST_THREADS = 1024,
	LZ_FAST_OUTS = 2,
	LZ_CODE_RANGES = 8,
	LZ_FAST_MOST = 64 << 10, /* bytes of a call's output */
	LZ_FAST_TAKEN = 8 << 10, /* bytes that a call takes */
	LZ_CALL_LOG = 1 << 20,
	LZ_STUB_CODE = 0x2000, /* in front of the page */
	LZ_STUB_STACK = 0x1000
};

/* What a descriptor is known to be good for: none of it waits for anybody. */
enum { LZ_FD_READ = 1, LZ_FD_WRITE = 2, LZ_FD_LIST = 4, LZ_FD_CLOSE = 8 };

/* What the stub knows of a system call. The lengths are sizes, or the result where they are 0. */
struct lz_fast_call {
	uint8_t may;   /* be made by the stub */
	uint8_t fd;    /* what its first argument must be good for; 0: it is no descriptor */
	uint8_t close; /* its first argument is no descriptor any more */
	uint8_t takes; /* 1 + the number of the argument that points to what it takes; 0: nothing */
	uint8_t n_outs;
	uint8_t most; /* where a length is the result: the argument that limits it */
	struct {
		uint8_t arg;
		uint16_t size;
	} out[LZ_FAST_OUTS];
};

/* Where the pointer behind the last marker is: code with markers has it in r15, other code was
 * called with __lizard_pos set. What is not known is believed if both agree. */
enum lz_site_kind { LZ_SITE_ANY, LZ_SITE_MARKERS, LZ_SITE_PLAIN, LZ_SITE_KINDS };

enum { LZ_CALL_UNREAD = 1 }; /* its output is not in the record */

/* In the log, with the bytes of its output and of what it took behind it; a multiple of 8 bytes. */
struct lz_call_record {
	uint32_t len; /* of all */
	uint16_t nr, flags;
	uint64_t ip;
	uint64_t marker; /* the pointer behind the last marker; 0: there are none */
	uint64_t args[6];
	int64_t result;
};

/* Code that has been changed: a call that takes it from the program is made with a stop. */
struct lz_code_range {
	uint64_t start, end;
};

struct lz_call_page {
	/* For the assembly part, by these offsets. */
	uint64_t site;   /* 0: behind the program's system call instruction */
	uint64_t back;   /* 8: where the call is over, in the site's detour */
	uint64_t target; /* 16: where to go */
	uint64_t rsp;    /* 24: the program's */
	uint32_t kind;   /* 32: enum lz_site_kind */
	uint8_t stack[LZ_STUB_STACK] __attribute__((aligned(64)));
	/* Set by the tracer */
	uint32_t go;       /* calls may be made */
	uint32_t guard;    /* bytes of a marker buffer */
	uint64_t ring;     /* the present one; 0: there are no markers */
	uint64_t pos_addr; /* the thread's __lizard_pos; 0: none */
	struct lz_code_range code[LZ_CODE_RANGES];
	/* Set by the stub */
	uint32_t busy; /* a call is under way */
	uint32_t head; /* of the log: what is behind it is free */
	uint8_t selector[LZ_FAST_THREADS];
	uint8_t fd[LZ_FAST_FDS];
	struct lz_fast_call call[LZ_FAST_CALLS];
	uint8_t log[LZ_CALL_LOG] __attribute__((aligned(4096)));
};

/* The code, LZ_STUB_CODE bytes at most, which works wherever the page is right behind it. */
extern const uint8_t __start_lz_stub[], __stop_lz_stub[];
/* The entry for LZ_SITE_ANY, and how far it is to the one of the next kind. */
extern const uint8_t lz_stub_entry[], lz_stub_trap[];
enum { LZ_STUB_ENTRY = 16 };

#endif
