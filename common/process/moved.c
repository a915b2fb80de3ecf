/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/process/moved.h>
#include <common/process/padding.h>

#include <lizard/randinsn.h>
#include <lizard/xsavec.h>
#include <string.h>
#include <Zydis/Zydis.h>

enum { RET = 0xc3 };
/* Behind 0x0f. */
enum { SYSCALL = 0x05, RDTSC = 0x31, CPUID = LZ_CPUID_ARMED, RDTSCP = 0x01, RDTSCP_LAST = 0xf9 };

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
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_XOR: return true;
	default: return false;
	}
}

/* Code with markers loads r15 from there behind each call. */
static bool is_thread_local(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.segment == ZYDIS_REGISTER_FS &&
	       op->mem.base == ZYDIS_REGISTER_NONE && op->mem.index == ZYDIS_REGISTER_NONE;
}

/* Behind these the results are stored. */
static bool may_store(const struct lz_moved *m)
{
	return m->cpuid || m->counter;
}

/* The module's own data, which the C library stores behind a cpuid, and loads behind brk. */
static bool is_own_data(const struct lz_moved *m, const ZydisDecodedOperand *op)
{
	return !m->data && op->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       op->mem.base == ZYDIS_REGISTER_RIP &&
	       (may_store(m) || !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE));
}

/* Where a register leads to, as where __rdtscp() stores the processor. r15 may lead to markers, whose
 * stores have a meaning. */
static bool is_result(const struct lz_moved *m, const ZydisDecodedOperand *op)
{
	return may_store(m) && op->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       (op->mem.segment == ZYDIS_REGISTER_DS || op->mem.segment == ZYDIS_REGISTER_SS) &&
	       op->mem.index == ZYDIS_REGISTER_NONE && op->mem.base >= ZYDIS_REGISTER_RAX &&
	       op->mem.base < ZYDIS_REGISTER_R15;
}

/* A fault is one of the instruction behind the site. */
static bool is_movable(const struct lz_moved *m, const ZydisDecodedInstruction *insn,
                       const ZydisDecodedOperand *op)
{
	for (int i = 0; i < insn->operand_count_visible; i++)
		if (op[i].type != ZYDIS_OPERAND_TYPE_REGISTER &&
		    op[i].type != ZYDIS_OPERAND_TYPE_IMMEDIATE && !is_thread_local(&op[i]) &&
		    !is_own_data(m, &op[i]) && !is_result(m, &op[i]))
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
	const size_t in = m->len ? (size_t)m->behind + m->len : at;

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

/* Of an operand that is addressed from the instruction's end, which is NEXT. */
static void add_data(struct lz_moved *m, const ZydisDecodedInstruction *insn,
                     const ZydisDecodedOperand *op, size_t next)
{
	for (int i = 0; i < insn->operand_count_visible; i++) {
		if (!is_own_data(m, &op[i]))
			continue;
		m->data = (uint8_t)(m->len + insn->raw.disp.offset);
		m->data_end = (uint8_t)(m->len + insn->length);
		m->operand = (int64_t)next + op[i].mem.disp.value;
	}
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
	const size_t next = *at + insn.length;

	/* a jump may lead to what is behind it */
	if (is_jcc(&insn) && next >= LZ_JUMP)
		add_jcc(m, &insn, (int64_t)next + op[0].imm.value.s);
	else if (is_movable(m, &insn, op) && m->len + insn.length <= LZ_MOVED_MOST) {
		add_data(m, &insn, op, next);
		memcpy(m->code + m->len, code + *at, insn.length);
		m->len += insn.length;
	} else {
		return false;
	}
	*at = next;
	return true;
}

/* Behind it is nothing that the jump would cover. */
static bool add_ret(struct lz_moved *m, const uint8_t *code, size_t *at)
{
	m->code[m->len++] = RET;
	++*at;
	return *at >= LZ_JUMP || lz_is_padding(code + *at);
}

/* What is the instruction at CODE? */
static bool begin(const uint8_t *code, struct lz_moved *m)
{
	const bool rdtscp = code[1] == RDTSCP && code[2] == RDTSCP_LAST;
	struct lz_xsavec save;

	*m = (struct lz_moved){.insn = code,
	                       .behind = rdtscp ? LZ_RDTSCP_INSN : LZ_CALL_INSN,
	                       .counter = rdtscp || code[1] == RDTSC,
	                       .cpuid = code[1] == CPUID};
	if (lz_xsavec_decode(code, LZ_MOVED_FROM, true, &save) && save.len == LZ_JUMP) {
		m->xsavec = true;
		m->behind = LZ_JUMP;
	}
	return code[0] == 0x0f && (m->counter || m->cpuid || m->xsavec || code[1] == SYSCALL);
}

bool lz_move_code(const uint8_t *code, struct lz_moved *m)
{
	bool returns = false;

	if (!begin(code, m))
		return false;
	add_point(m, 0);
	size_t at = m->behind;
	while (!returns && at < LZ_JUMP) {
		add_point(m, at);
		/* the jump's first byte is no part of its distance */
		m->begins |= 0xffU << 8 * (at - 1);
		returns = code[at] == RET;
		if (returns ? !add_ret(m, code, &at) : !add(m, code, &at))
			return false;
	}
	add_point(m, at);
	return true;
}

bool lz_move_nothing(const uint8_t *code, struct lz_moved *m)
{
	if (!begin(code, m))
		return false;
	add_point(m, 0);
	add_point(m, m->behind);
	return true;
}
