/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/program/operands.h"

#include "replayer/program/defs.h"

enum { FLAG_DF = 1 << 10 };

bool lz_insn_decode(const uint8_t *code, size_t len, struct lz_decoded *i)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, len, &i->in, i->op));
}

/* ---- registers ---- */

static uint64_t whole_value(const struct user_regs_struct *r, ZydisRegister whole)
{
	switch (whole) {
	case ZYDIS_REGISTER_RAX: return r->rax;
	case ZYDIS_REGISTER_RBX: return r->rbx;
	case ZYDIS_REGISTER_RCX: return r->rcx;
	case ZYDIS_REGISTER_RDX: return r->rdx;
	case ZYDIS_REGISTER_RSI: return r->rsi;
	case ZYDIS_REGISTER_RDI: return r->rdi;
	case ZYDIS_REGISTER_RBP: return r->rbp;
	case ZYDIS_REGISTER_RSP: return r->rsp;
	case ZYDIS_REGISTER_R8: return r->r8;
	case ZYDIS_REGISTER_R9: return r->r9;
	case ZYDIS_REGISTER_R10: return r->r10;
	case ZYDIS_REGISTER_R11: return r->r11;
	case ZYDIS_REGISTER_R12: return r->r12;
	case ZYDIS_REGISTER_R13: return r->r13;
	case ZYDIS_REGISTER_R14: return r->r14;
	case ZYDIS_REGISTER_R15: return r->r15;
	case ZYDIS_REGISTER_RIP: return r->rip;
	case ZYDIS_REGISTER_RFLAGS: return r->eflags;
	default: return 0;
	}
}

ZydisRegister lz_register_whole(ZydisRegister r)
{
	return ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_FLAGS ? ZYDIS_REGISTER_RFLAGS
	                                                        : lz_whole_register(r);
}

static bool is_high_byte(ZydisRegister r)
{
	return r == ZYDIS_REGISTER_AH || r == ZYDIS_REGISTER_BH || r == ZYDIS_REGISTER_CH ||
	       r == ZYDIS_REGISTER_DH;
}

uint64_t lz_register_value(const struct user_regs_struct *regs, ZydisRegister r)
{
	const ZydisRegister whole = lz_register_whole(r);
	uint64_t v = whole_value(regs, whole);
	const unsigned bits = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (is_high_byte(r))
		v >>= 8;
	return bits < 64 ? v & ((1ULL << bits) - 1) : v;
}

bool lz_insn_writes(const struct lz_decoded *i, ZydisRegister r)
{
	for (size_t k = 0; k < i->in.operand_count; k++)
		if (i->op[k].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    i->op[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    lz_register_whole(i->op[k].reg.value) == r)
			return true;
	return false;
}

/* ---- memory ---- */

/* It has an address, and nothing is read or written there. */
static bool only_names_memory(const struct lz_decoded *i)
{
	return i->in.mnemonic == ZYDIS_MNEMONIC_NOP ||
	       i->in.meta.category == ZYDIS_CATEGORY_PREFETCH ||
	       i->in.meta.category == ZYDIS_CATEGORY_WIDENOP;
}

static bool is_pushed(const ZydisDecodedOperand *o)
{
	return o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	       o->mem.base == ZYDIS_REGISTER_RSP && o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
}

static uint64_t address(const struct lz_decoded *i, const ZydisDecodedOperand *o,
                        const struct user_regs_struct *r)
{
	uint64_t at = o->mem.disp.has_displacement ? (uint64_t)o->mem.disp.value : 0;

	if (o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP)
		at += r->rip + i->in.length;
	else if (o->mem.base != ZYDIS_REGISTER_NONE)
		at += lz_register_value(r, o->mem.base);
	if (o->mem.index != ZYDIS_REGISTER_NONE)
		at += lz_register_value(r, o->mem.index) * o->mem.scale;
	if (i->in.address_width == 32)
		at &= UINT32_MAX;
	if (o->mem.segment == ZYDIS_REGISTER_FS)
		at += r->fs_base;
	else if (o->mem.segment == ZYDIS_REGISTER_GS)
		at += r->gs_base;
	/* `pop` into memory that the stack pointer names takes the one behind it */
	if (i->in.mnemonic == ZYDIS_MNEMONIC_POP &&
	    o->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT && o->mem.base == ZYDIS_REGISTER_RSP)
		at += i->in.operand_width / 8;
	return is_pushed(o) ? r->rsp - o->size / 8 : at;
}

static bool is_repeated(const struct lz_decoded *i)
{
	return i->in.attributes &
	       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

/* Rounds of a rep instruction. One that compares may end before them all are done. */
static void repeat(const struct lz_decoded *i, const struct user_regs_struct *r, struct lz_touch *a)
{
	const uint64_t n = i->in.address_width == 32 ? (uint32_t)r->rcx : r->rcx;

	if (!n) {
		a->reads = a->writes = false;
		return;
	}
	if (r->eflags & FLAG_DF)
		a->addr -= (n - 1) * a->len;
	a->len *= n;
}

size_t lz_insn_touches(const struct lz_decoded *i, const struct user_regs_struct *r,
                       struct lz_touch v[LZ_TOUCHES])
{
	size_t n = 0;

	if (only_names_memory(i))
		return 0;
	for (unsigned k = 0; k < i->in.operand_count; k++) {
		const ZydisDecodedOperand *o = &i->op[k];
		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type != ZYDIS_MEMOP_TYPE_MEM)
			continue;
		v[n] = (struct lz_touch){.addr = address(i, o, r),
		                         .len = o->size / 8,
		                         .reads = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ,
		                         .writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE,
		                         .op = k};
		if (is_repeated(i))
			repeat(i, r, &v[n]);
		n++;
	}
	return n;
}

bool lz_insn_keeps_addresses(const struct lz_decoded *i)
{
	if (i->in.raw.imm[0].is_relative || i->in.meta.category == ZYDIS_CATEGORY_CALL ||
	    i->in.meta.category == ZYDIS_CATEGORY_RET ||
	    i->in.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
		return false;
	for (size_t k = 0; k < i->in.operand_count; k++) {
		const ZydisDecodedOperand *o = &i->op[k];
		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (lz_insn_writes(i, lz_register_whole(o->mem.base)) ||
		    (o->mem.index != ZYDIS_REGISTER_NONE &&
		     lz_insn_writes(i, lz_register_whole(o->mem.index))))
			return false;
	}
	return true;
}
