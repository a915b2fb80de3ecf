/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/program/source.h"
#include "replayer/program/shuffles.h"
#include <string.h>
#include <strings.h>

static bool is_general(ZydisRegister r)
{
	return ZydisRegisterGetClass(lz_register_whole(r)) == ZYDIS_REGCLASS_GPR64;
}

static bool is_vector(ZydisRegister r)
{
	const ZydisRegisterClass c = ZydisRegisterGetClass(r);

	return c == ZYDIS_REGCLASS_XMM || c == ZYDIS_REGCLASS_YMM || c == ZYDIS_REGCLASS_ZMM;
}

static unsigned first_byte(ZydisRegister r)
{
	return r == ZYDIS_REGISTER_AH || r == ZYDIS_REGISTER_BH || r == ZYDIS_REGISTER_CH ||
	       r == ZYDIS_REGISTER_DH;
}

static struct lz_location of_register(ZydisRegister r)
{
	return (struct lz_location){.reg = lz_register_whole(r),
	                            .at = first_byte(r),
	                            .len =
	                                ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, r) / 8};
}

struct lz_location lz_location_of_register(const char *name)
{
	if (strcasecmp(name, "eflags") == 0 || strcasecmp(name, "rflags") == 0)
		return (struct lz_location){.reg = ZYDIS_REGISTER_RFLAGS, .len = 4};
	for (int r = ZYDIS_REGISTER_NONE + 1; r <= ZYDIS_REGISTER_MAX_VALUE; r++) {
		const char *its = ZydisRegisterGetString((ZydisRegister)r);
		if (its && strcasecmp(its, name) == 0 &&
		    (is_general((ZydisRegister)r) || is_vector((ZydisRegister)r)))
			return of_register((ZydisRegister)r);
	}
	return (struct lz_location){0};
}

/* ---- what is written ---- */

/* The bytes that it has after a write to operand O: one of 32 bits clears the upper half. */
static struct lz_location written_bytes(const ZydisDecodedOperand *o)
{
	struct lz_location l = of_register(o->reg.value);

	if (is_general(o->reg.value) && l.len == 4)
		l.len = 8;
	if (is_vector(o->reg.value))
		l.len = 64;
	if (l.reg == ZYDIS_REGISTER_RFLAGS)
		l.len = 4;
	return l;
}

static bool clip(uint64_t from, uint64_t len, uint64_t *start, uint64_t *n)
{
	const uint64_t first = from > *start ? from : *start;
	const uint64_t end = from + len < *start + *n ? from + len : *start + *n;

	if (first >= end)
		return false;
	*start = first;
	*n = end - first;
	return true;
}

static bool clip_register(const ZydisDecodedOperand *o, struct lz_location *of)
{
	const struct lz_location w = written_bytes(o);
	uint64_t at = of->at;

	if (w.reg != of->reg || !clip(w.at, w.len, &at, &of->len))
		return false;
	of->at = (unsigned)at;
	return true;
}

static bool is_written(const ZydisDecodedOperand *o)
{
	return o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
}

static const ZydisDecodedOperand *written_register(const struct lz_decoded *i,
                                                   const struct lz_location *of)
{
	for (unsigned k = 0; k < i->in.operand_count; k++) {
		struct lz_location l = *of;
		if (i->op[k].type == ZYDIS_OPERAND_TYPE_REGISTER && is_written(&i->op[k]) &&
		    clip_register(&i->op[k], &l))
			return &i->op[k];
	}
	return NULL;
}

/* The access that writes bytes of OF. */
static bool written_memory(const struct lz_decoded *i, const struct user_regs_struct *r,
                           const struct lz_location *of, struct lz_touch *to)
{
	struct lz_touch v[LZ_TOUCHES];
	const size_t n = lz_insn_touches(i, r, v);

	for (size_t k = 0; k < n; k++)
		if (v[k].writes && lz_overlap(v[k].addr, v[k].len, of->addr, of->len)) {
			*to = v[k];
			return true;
		}
	return false;
}

bool lz_source_writes(const struct lz_decoded *i, const struct user_regs_struct *r,
                      struct lz_location *of)
{
	const ZydisDecodedOperand *o;
	struct lz_touch t;

	if (of->in_memory)
		return written_memory(i, r, of, &t) && clip(t.addr, t.len, &of->addr, &of->len);
	if (i->in.mnemonic == ZYDIS_MNEMONIC_SYSCALL)
		return of->reg == ZYDIS_REGISTER_RAX || of->reg == ZYDIS_REGISTER_RCX ||
		       of->reg == ZYDIS_REGISTER_R11;
	o = written_register(i, of);
	return o && clip_register(o, of);
}

/* ---- where it came from ---- */

/* The memory of operand K. */
static struct lz_location memory_of(const struct lz_decoded *i, const struct user_regs_struct *r,
                                    unsigned k)
{
	struct lz_touch v[LZ_TOUCHES];
	const size_t n = lz_insn_touches(i, r, v);

	for (size_t j = 0; j < n; j++)
		if (v[j].op == k)
			return (struct lz_location){true, v[j].addr, ZYDIS_REGISTER_NONE, 0,
			                            v[j].len};
	return (struct lz_location){0};
}

static uint64_t immediate(const ZydisDecodedOperand *o)
{
	return o->imm.is_signed ? (uint64_t)o->imm.value.s : o->imm.value.u;
}

static void constant(struct lz_source *s, uint64_t value)
{
	s->kind = LZ_SOURCE_CONSTANT;
	s->constant = value;
}

/* The first operand was not written, but where it is of 32 bits the upper half is cleared. */
static void kept(const struct lz_decoded *i, const struct lz_location *of, uint64_t off,
                 struct lz_source *s)
{
	const uint64_t width = i->op[0].size / 8;

	if (off >= width) {
		constant(s, 0);
		return;
	}
	s->kind = LZ_SOURCE_KEPT;
	s->from = *of;
	if (s->from.len > width - off)
		s->from.len = width - off;
}

/* The lower half of rax becomes all of it, with the sign. */
static bool extends_itself(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_CBW || m == ZYDIS_MNEMONIC_CWDE || m == ZYDIS_MNEMONIC_CDQE;
}

/* What lies behind the operand that was copied. */
static void extension(const struct lz_decoded *i, const struct lz_location *of, struct lz_source *s)
{
	const ZydisMnemonic m = i->in.mnemonic;
	const bool registers = i->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	                       i->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER;

	if (m == ZYDIS_MNEMONIC_MOVLPS || m == ZYDIS_MNEMONIC_MOVLPD ||
	    (registers && (m == ZYDIS_MNEMONIC_MOVSS || m == ZYDIS_MNEMONIC_MOVSD)))
		*s = (struct lz_source){.kind = LZ_SOURCE_KEPT, .from = *of};
	else if (m != ZYDIS_MNEMONIC_MOVSX && m != ZYDIS_MNEMONIC_MOVSXD && !extends_itself(m))
		constant(s, 0);
}

/* Operand K was copied, of which bytes from number OFF on are OF. What is behind it
 * is its extension. */
static void copy_of(const struct lz_decoded *i, const struct user_regs_struct *r, unsigned k,
                    uint64_t off, const struct lz_location *of, struct lz_source *s)
{
	const ZydisDecodedOperand *o = &i->op[k];
	struct lz_location from;

	if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		constant(s, off < 8 ? immediate(o) >> (8 * off) : 0);
		return;
	}
	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
		from = memory_of(i, r, k);
	else if (is_general(o->reg.value) || is_vector(o->reg.value))
		from = of_register(o->reg.value);
	else
		return;
	if (k && i->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && i->op[0].size / 8 < from.len)
		from.len = i->op[0].size / 8;
	if (off >= from.len) {
		extension(i, of, s);
		return;
	}
	if (from.in_memory)
		from.addr += off;
	else
		from.at += (unsigned)off;
	from.len = of->len < from.len - off ? of->len : from.len - off;
	s->kind = LZ_SOURCE_COPY;
	s->from = from;
}

/* How far OF lies behind the first byte of what is written. */
static uint64_t offset_in(const struct lz_decoded *i, const struct user_regs_struct *r,
                          const struct lz_location *of)
{
	struct lz_touch t = {0};

	if (of->in_memory)
		return written_memory(i, r, of, &t) ? of->addr - t.addr : 0;
	const ZydisDecodedOperand *o = written_register(i, of);
	return o ? of->at - first_byte(o->reg.value) : 0;
}

static bool is_string(const struct lz_decoded *i)
{
	return i->in.meta.category == ZYDIS_CATEGORY_STRINGOP;
}

/* The operand that a string instruction copies; operand_count: it copies none. */
static unsigned string_operand(const struct lz_decoded *i, const struct lz_location *of)
{
	unsigned k = 0;

	if (!of->in_memory && of->reg != ZYDIS_REGISTER_RAX)
		return i->in.operand_count;
	while (k < i->in.operand_count && (is_written(&i->op[k]) || k > 1))
		k++;
	return k;
}

/* movs, stos, lods, with all their rounds. */
static void string_source(const struct lz_decoded *i, const struct user_regs_struct *r,
                          const struct lz_location *of, struct lz_source *s)
{
	const unsigned k = string_operand(i, of);
	uint64_t off = offset_in(i, r, of);

	if (k >= i->in.operand_count)
		return;
	if (i->op[k].type == ZYDIS_OPERAND_TYPE_REGISTER && i->op[k].size)
		off %= i->op[k].size / 8;
	copy_of(i, r, k, off, of, s);
}

static bool is_move(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_MOVNTI:
	case ZYDIS_MNEMONIC_MOVD:
	case ZYDIS_MNEMONIC_MOVQ:
	case ZYDIS_MNEMONIC_MOVSS:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVAPS:
	case ZYDIS_MNEMONIC_MOVAPD:
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_MOVDQA:
	case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_MOVLPS:
	case ZYDIS_MNEMONIC_MOVLPD:
	case ZYDIS_MNEMONIC_MOVNTPS:
	case ZYDIS_MNEMONIC_MOVNTDQ:
	case ZYDIS_MNEMONIC_LDDQU:
	case ZYDIS_MNEMONIC_VMOVD:
	case ZYDIS_MNEMONIC_VMOVQ:
	case ZYDIS_MNEMONIC_VMOVSS:
	case ZYDIS_MNEMONIC_VMOVSD:
	case ZYDIS_MNEMONIC_VMOVAPS:
	case ZYDIS_MNEMONIC_VMOVAPD:
	case ZYDIS_MNEMONIC_VMOVUPS:
	case ZYDIS_MNEMONIC_VMOVUPD:
	case ZYDIS_MNEMONIC_VMOVDQA:
	case ZYDIS_MNEMONIC_VMOVDQU:
	case ZYDIS_MNEMONIC_VMOVDQU8:
	case ZYDIS_MNEMONIC_VMOVDQU16:
	case ZYDIS_MNEMONIC_VMOVDQU32:
	case ZYDIS_MNEMONIC_VMOVDQU64:
	case ZYDIS_MNEMONIC_VMOVDQA32:
	case ZYDIS_MNEMONIC_VMOVDQA64:
	case ZYDIS_MNEMONIC_VMOVNTDQ: return true;
	default: return false;
	}
}

/* The flags that condition CC (the low bits of the opcode) looks at. */
static bool holds(unsigned cc, uint64_t flags)
{
	const bool cf = flags & 1, pf = flags & 4, zf = flags & 0x40, sf = flags & 0x80,
	           of = flags & 0x800;
	const bool is[] = {of, cf, zf, cf || zf, sf, pf, sf != of, zf || sf != of};

	return is[cc / 2] != (cc & 1);
}

/* The number of the operand that a move of one value copies; 0: it does more. A mask that leaves nothing
 * out is one operand more. */
static unsigned moved_operand(const struct lz_decoded *i)
{
	if (!is_move(i->in.mnemonic))
		return 0;
	if (i->in.operand_count_visible == 2)
		return 1;
	return i->in.operand_count_visible == 3 && i->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	               i->op[1].reg.value == ZYDIS_REGISTER_K0
	           ? 2
	           : 0;
}

static bool clears(const struct lz_decoded *i)
{
	switch (i->in.mnemonic) {
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_XORPD:
	case ZYDIS_MNEMONIC_VPXOR:
	case ZYDIS_MNEMONIC_VXORPS: break;
	default: return false;
	}
	const unsigned last = i->in.operand_count_visible - 1U;

	return last && i->op[last].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       i->op[last - 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       i->op[last].reg.value == i->op[last - 1].reg.value;
}

static void lea(const struct lz_decoded *i, const struct user_regs_struct *r, struct lz_source *s)
{
	const ZydisDecodedOperandMem *m = &i->op[1].mem;
	const uint64_t disp = m->disp.has_displacement ? (uint64_t)m->disp.value : 0;

	if (m->index != ZYDIS_REGISTER_NONE)
		return;
	if (m->base == ZYDIS_REGISTER_RIP)
		s->constant = r->rip + i->in.length + disp;
	else if (m->base == ZYDIS_REGISTER_RSP || m->base == ZYDIS_REGISTER_RBP)
		s->constant = lz_register_value(r, m->base) + disp;
	else
		return;
	s->kind = LZ_SOURCE_ADDRESS;
}

static void add_input(struct lz_source *s, struct lz_location l)
{
	for (unsigned k = 0; k < s->n_inputs; k++)
		if (memcmp(&s->input[k], &l, sizeof(l)) == 0)
			return;
	if (s->n_inputs < LZ_INPUTS && l.len)
		s->input[s->n_inputs++] = l;
}

static void add_register(struct lz_source *s, ZydisRegister r)
{
	if (r == ZYDIS_REGISTER_RFLAGS)
		add_input(s, (struct lz_location){.reg = r, .len = 4});
	else if ((is_general(r) || is_vector(r)) && lz_register_whole(r) != ZYDIS_REGISTER_RSP)
		add_input(s, of_register(r));
}

void lz_source_inputs(const struct lz_decoded *i, const struct user_regs_struct *r,
                      struct lz_source *s)
{
	for (unsigned k = 0; k < i->in.operand_count; k++) {
		const ZydisDecodedOperand *o = &i->op[k];
		const bool read = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && read)
			add_register(s, o->reg.value);
		else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		         o->mem.type == ZYDIS_MEMOP_TYPE_MEM && read)
			add_input(s, memory_of(i, r, k));
		else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		         o->mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
			add_register(s, o->mem.base);
			add_register(s, o->mem.index);
		}
	}
}

/* The hidden operand of push and pop. */
static unsigned stack_operand(const struct lz_decoded *i)
{
	for (unsigned k = 0; k < i->in.operand_count; k++)
		if (i->op[k].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    i->op[k].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			return k;
	return 0;
}

/* All bytes of OF must have been together before. */
static bool shuffle(const struct lz_decoded *i, const struct user_regs_struct *r, uint64_t off,
                    const struct lz_location *of, struct lz_source *s)
{
	struct lz_shuffled first, next;

	if (!lz_shuffle_source(i, off, &first))
		return false;
	for (uint64_t n = first.len; n < of->len; n += next.len)
		if (!lz_shuffle_source(i, off + n, &next) || next.operand != first.operand ||
		    next.at != first.at + n)
			return false;
	const ZydisDecodedOperand *o = &i->op[first.operand];
	struct lz_location from = o->type == ZYDIS_OPERAND_TYPE_MEMORY
	                              ? memory_of(i, r, first.operand)
	                              : of_register(o->reg.value);
	if (from.in_memory)
		from.addr += first.at;
	else
		from.at += (unsigned)first.at;
	from.len = of->len;
	*s = (struct lz_source){.kind = LZ_SOURCE_COPY, .from = from};
	return true;
}

static void exchange(const struct lz_decoded *i, const struct user_regs_struct *r,
                     const struct lz_location *of, struct lz_source *s)
{
	const bool first = of->in_memory ? i->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY
	                                 : written_register(i, of) == &i->op[0];

	copy_of(i, r, first ? 1 : 0, offset_in(i, r, of), of, s);
}

/* The low bits of the opcode are its condition. */
static bool is_conditional_move(const struct lz_decoded *i)
{
	return i->in.meta.category == ZYDIS_CATEGORY_CMOV &&
	       i->in.opcode_map == ZYDIS_OPCODE_MAP_0F;
}

void lz_source_of(const struct lz_decoded *i, const struct user_regs_struct *r,
                  const struct lz_location *of, struct lz_source *s)
{
	const uint64_t off = offset_in(i, r, of);

	*s = (struct lz_source){.kind = LZ_SOURCE_MADE};
	if (is_string(i))
		string_source(i, r, of, s);
	else if (moved_operand(i))
		copy_of(i, r, moved_operand(i), off, of, s);
	else if (shuffle(i, r, off, of, s))
		return;
	else if (extends_itself(i->in.mnemonic))
		copy_of(i, r, 1, off, of, s);
	else if (i->in.mnemonic == ZYDIS_MNEMONIC_PUSH && of->in_memory)
		copy_of(i, r, 0, off, of, s);
	else if ((i->in.mnemonic == ZYDIS_MNEMONIC_POP || i->in.mnemonic == ZYDIS_MNEMONIC_LEAVE) &&
	         of->reg != ZYDIS_REGISTER_RSP)
		copy_of(i, r, stack_operand(i), off, of, s);
	else if (i->in.mnemonic == ZYDIS_MNEMONIC_XCHG)
		exchange(i, r, of, s);
	else if (i->in.meta.category == ZYDIS_CATEGORY_CALL && of->in_memory)
		constant(s, off < 8 ? (r->rip + i->in.length) >> (8 * off) : 0);
	else if (is_conditional_move(i) && !holds(i->in.opcode & 15, r->eflags))
		kept(i, of, off, s);
	else if (is_conditional_move(i))
		copy_of(i, r, 1, off, of, s);
	else if (i->in.mnemonic == ZYDIS_MNEMONIC_LEA)
		lea(i, r, s);
	else if (clears(i) && of->reg != ZYDIS_REGISTER_RFLAGS)
		constant(s, 0);
	if (s->kind == LZ_SOURCE_MADE)
		lz_source_inputs(i, r, s);
}
