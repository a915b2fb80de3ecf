/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GDB's agent expressions (GDB's manual, "The GDB Agent Expression Mechanism"): the bytecode in
 * which a debugger hands over the condition of a breakpoint. It is untrusted. */
#ifndef LZ_REPLAYER_AGENT_H
#define LZ_REPLAYER_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an expression may look at. They return false for what cannot be read. */
struct lz_agent_state {
	void *arg;
	/* by GDB's remote number; without sign */
	bool (*reg)(void *arg, unsigned nr, uint64_t *value);
	bool (*read)(void *arg, uint64_t addr, void *buf, size_t len);
};

enum lz_agent_result {
	LZ_AGENT_VALUE,
	LZ_AGENT_BAD_CODE, /* no such operation, or one for tracepoints or floating point */
	LZ_AGENT_BAD_STACK,
	LZ_AGENT_BAD_JUMP,
	LZ_AGENT_ENDLESS,
	LZ_AGENT_UNREADABLE,
	LZ_AGENT_ARITHMETIC /* a division by zero or its like */
};

/* Has CODE only operations that are carried out here, does each jump lead to one of them, and can
 * it end? */
bool lz_agent_check(const uint8_t *code, size_t len);
/* *VALUE: what the expression leaves on top of its stack. */
enum lz_agent_result lz_agent_eval(const uint8_t *code, size_t len,
                                   const struct lz_agent_state *state, uint64_t *value);

#endif
