/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/code/moved.h"

#include <string.h>
#include <Zydis/Zydis.h>

enum { RET = 0xc3, INT3 = 0xcc };

/* What is between functions, so that nobody jumps there. */
static bool is_padding(const uint8_t *code)
{
	return (code[0] == 0x66 && (code[1] == 0x90 || code[1] == 0x2e || code[1] == 0x0f)) ||
	       (code[0] == 0x0f && code[1] == 0x1f) || (code[0] == 0x90 && code[1] == 0x90) ||
	       (code[0] == INT3 && code[1] == INT3);
}

static bool is_plain(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_XOR: return true;
	default: return false;
	}
}

/* It works with registers alone, so that it does not fault. */
static bool is_movable(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *op)
{
	for (int i = 0; i < insn->operand_count_visible; i++)
		if (op[i].type != ZYDIS_OPERAND_TYPE_REGISTER &&
		    op[i].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return false;
	return is_plain(insn->mnemonic);
}

static bool is_jcc(const ZydisDecodedInstruction *insn)
{
	if (insn->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return insn->opcode >> 4 == 8;
	return insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && insn->opcode >> 4 == 7;
}

static void add_point(struct lz_moved *m, size_t at)
{
	const size_t in = m->len ? (size_t)LZ_CALL_INSN + m->len : at;

	m->point[m->n_points++] = (struct lz_point){(uint8_t)at, (uint8_t)in};
}

static void add_jcc(struct lz_moved *m, const ZydisDecodedInstruction *insn, int64_t target)
{
	m->code[m->len] = 0x0f;
	m->code[m->len + 1] = 0x80 | (insn->opcode & 0xf);
	m->jump = m->len + 2;
	m->target = target;
	m->len += 6;
}

/* The instruction at CODE + *AT. */
static bool add(struct lz_moved *m, const uint8_t *code, size_t *at)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(
	        ZydisDecoderDecodeFull(&decoder, code + *at, LZ_MOVED_FROM - *at, &insn, op)))
		return false;
	size_t next = *at + insn.length;
	if (is_jcc(&insn))
		add_jcc(m, &insn, (int64_t)next + op[0].imm.value.s);
	else if (is_movable(&insn, op) && m->len + insn.length <= LZ_MOVED_MOST) {
		memcpy(m->code + m->len, code + *at, insn.length);
		m->len += insn.length;
	} else {
		return false;
	}
	*at = next;
	add_point(m, *at);
	return true;
}

bool lz_move_code(const uint8_t *code, struct lz_moved *m)
{
	size_t at = LZ_CALL_INSN;

	*m = (struct lz_moved){0};
	if (code[0] != 0x0f || code[1] != 0x05)
		return false;
	add_point(m, 0);
	add_point(m, at);
	if (code[at] == RET && is_padding(code + at + 1)) {
		m->code[m->len++] = RET;
		add_point(m, at + 1);
		return true;
	}
	if (!add(m, code, &at))
		return false;
	if (at >= LZ_JUMP)
		return true;
	m->two = at == LZ_JUMP - 1;
	return m->two && !m->jump && add(m, code, &at);
}
