/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one instruction does to memory and to registers. Pure. */
#ifndef LIZARD_REPLAYER_OPERANDS_H
#define LIZARD_REPLAYER_OPERANDS_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

enum { LZ_INSN_LONGEST = 15, LZ_TOUCHES = ZYDIS_MAX_OPERAND_COUNT };

struct lz_decoded {
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT]; /* [in.operand_count] */
};

/* False: it is none. */
bool lz_insn_decode(const uint8_t *code, size_t len, struct lz_decoded *i);

struct lz_touch {
	uint64_t addr, len;
	bool reads, writes;
	unsigned op; /* the operand's number */
};
/* Those of I, which stands at registers R, before it is done; of a rep instruction those of all its
 * rounds. Returns how many. */
size_t lz_insn_touches(const struct lz_decoded *i, const struct user_regs_struct *r,
                       struct lz_touch v[LZ_TOUCHES]);
/* The registers that hold the addresses are the same behind it, and it goes on behind itself. */
bool lz_insn_keeps_addresses(const struct lz_decoded *i);
/* Does it write R, a whole register, or a part of it? */
bool lz_insn_writes(const struct lz_decoded *i, ZydisRegister r);
/* What R is a part of; the flags are one. */
ZydisRegister lz_register_whole(ZydisRegister r);
/* The general register R, or a part of one; 0: it is none. */
uint64_t lz_register_value(const struct user_regs_struct *regs, ZydisRegister r);

static inline bool lz_overlap(uint64_t a, uint64_t a_len, uint64_t b, uint64_t b_len)
{
	return a - b < b_len || b - a < a_len;
}

#endif
