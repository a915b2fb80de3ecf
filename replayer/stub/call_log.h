/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of a replayed process by which its system calls are answered without a stop (stub.c): the
 * calls that come next, as they are recorded. The engine sees it as well, and fills it; the program
 * could write to it, so what the stub leaves there is checked. */
#ifndef LZ_REPLAYER_STUB_CALL_LOG_H
#define LZ_REPLAYER_STUB_CALL_LOG_H

#include <stdint.h>

enum {
	LZ_CALL_STUB_CODE = 0x1000, /* in front of the page */
	LZ_CALL_STUB_STACK = 0x1000,
	LZ_CALL_LOG_LEN = 2 << 20,
	LZ_CALL_KEPT_LEN = 2 << 20,
	LZ_TURN_THREADS = 64,
	LZ_TURN_XSAVE = 2752, /* bytes of xsave's standard format, up to AVX-512 */
	LZ_TURN_PARTS = 0xe7  /* these parts: x87, SSE, AVX, AVX-512 */
};

/* With its steps behind it, and room for the bytes that it takes at its end; a multiple of 8
 * bytes. */
struct lz_logged_call {
	uint32_t len; /* of all */
	uint16_t nr;
	uint8_t n_args, n_steps;
	uint64_t
	    turn; /* another thread goes on: a struct lz_logged_turn is in front of the steps */
	uint64_t site;    /* behind the program's instruction */
	uint64_t written; /* the code byte of a marker that is written; 0: none to be looked at */
	uint64_t free;    /* where the next marker will be; 0: there are none */
	int64_t result;
	uint64_t args[6];
	uint64_t takes;    /* what the engine compares, from this address on */
	uint64_t take_len; /* 0: nothing */
};

/* What the call does to memory. NR 0: it puts bytes there, which are behind it, filled up to a multiple
 * of 8. LZ_STEP_KEPT: the bytes are in `kept`, from PROT on. Else it is a call of that number: mmap,
 * munmap, mprotect or madvise. */
struct lz_logged_step {
	uint64_t addr, len;
	uint32_t nr, prot;
};
#define LZ_STEP_KEPT UINT32_MAX

/* What the stub saves of the program's registers. */
struct lz_stub_saved {
	uint64_t rax, rdi, rsi, rdx, r10, r8, r9, eflags;
};

/* The registers of a thread that does not run. */
struct lz_turn_regs {
	struct lz_stub_saved saved;
	uint64_t rbx, rbp, r12, r13, r14, r15, rsp, fs_base, gs_base;
};
struct lz_turn_context {
	uint8_t xsave[LZ_TURN_XSAVE] __attribute__((aligned(64)));
	struct lz_turn_regs regs;
};

/* From thread FROM to thread TO, by their contexts. That one has REGS but for r15 and rax, else the call
 * is not answered; its own call is over, and it goes on at GO_ON, where the program has IP. */
struct lz_logged_turn {
	uint32_t from, to;
	uint64_t ip, go_on;
	struct lz_turn_regs regs;
};

struct lz_call_log {
	/* For the assembly part, by these offsets. */
	uint64_t site;   /* 0: behind the program's system call instruction */
	uint64_t back;   /* 8: behind the detour's */
	uint64_t target; /* 16: where to go */
	uint64_t rsp;    /* 24: the program's */
	/* 32: of the process's stub (lizard/proc.h) */
	uint64_t map_insn;
	uint8_t stack[LZ_CALL_STUB_STACK - sizeof(struct lz_stub_saved)]
	    __attribute__((aligned(64)));
	struct lz_stub_saved saved;
	uint32_t next, end; /* of the log, in bytes */
	uint64_t parts;     /* that a thread has of its own; 0: no turn is in the log */
	struct lz_turn_context context[LZ_TURN_THREADS];
	uint8_t log[LZ_CALL_LOG_LEN] __attribute__((aligned(4096)));
	/* What is read again and again: it stays from one log to the next. */
	uint8_t kept[LZ_CALL_KEPT_LEN] __attribute__((aligned(4096)));
};

/* The code, LZ_CALL_STUB_CODE bytes at most, which works wherever the page is right behind it. At
 * the exit the registers to go on with are known. */
extern const uint8_t __start_lz_replay[], __stop_lz_replay[];
extern const uint8_t lz_call_stub_entry[], lz_call_stub_exit[];

#endif
