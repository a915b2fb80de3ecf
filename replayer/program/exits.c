/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/program/exits.h"

#include <Zydis/Zydis.h>

struct list {
	struct lz_exit *exits;
	int n;
	const struct lz_piece_of_code *piece;
};

static bool add(struct list *l, uint64_t pc, bool inside)
{
	for (int i = 0; i < l->n; i++)
		if (l->exits[i].pc == pc)
			return true;
	if (l->n == LZ_EXITS_MAX)
		return false;
	l->exits[l->n++] = (struct lz_exit){pc, inside};
	return true;
}

/* The target of a jump whose bytes tell it. */
static bool direct_target(const ZydisDecodedInstruction *in, uint64_t pc, uint64_t *target)
{
	if (in->raw.imm[0].size == 0 || !in->raw.imm[0].is_relative)
		return false;
	*target = pc + in->length + (uint64_t)in->raw.imm[0].value.s;
	return true;
}

/* Where the instruction at PC leads to the outside. False: no room, or not to be told. */
static bool add_exit(struct list *l, const ZydisDecodedInstruction *in, uint64_t pc)
{
	uint64_t target;

	switch (in->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return direct_target(in, pc, &target) &&
		       (lz_piece_has(l->piece, target) || add(l, target, false));
	case ZYDIS_CATEGORY_UNCOND_BR: /* may be a tail call */
		return (direct_target(in, pc, &target) && lz_piece_has(l->piece, target)) ||
		       add(l, pc, true);
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_INTERRUPT: return add(l, pc, true);
	default: return true;
	}
}

static bool add_exits(struct list *l, const struct lz_part *range, const uint8_t *code)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;
	uint64_t pc;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (pc = range->start; pc < range->end; pc += in.length)
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
		        &decoder, NULL, code + (pc - range->start), range->end - pc, &in)) ||
		    !add_exit(l, &in, pc))
			return false;
	return pc == range->end && (lz_piece_has(l->piece, pc) || add(l, pc, false));
}

int lz_exits_find(const struct lz_piece_of_code *piece, uint8_t *const code[],
                  struct lz_exit exits[LZ_EXITS_MAX])
{
	struct list l = {exits, 0, piece};

	for (uint32_t i = 0; i < piece->n_ranges; i++)
		if (!add_exits(&l, &piece->range[i], code[i]))
			return -1;
	return l.n;
}

static bool in_middle(uint64_t addr, const struct lz_part *part, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (addr > part[i].start && addr < part[i].end)
			return true;
	return false;
}

bool lz_enters_at_start(const uint8_t *code, uint64_t base, uint64_t end,
                        const struct lz_part *part, size_t n)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;
	uint64_t target;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint64_t pc = base; pc < end; pc += in.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + (pc - base),
		                                                end - pc, &in)))
			return false;
		if (in.meta.category != ZYDIS_CATEGORY_COND_BR &&
		    in.meta.category != ZYDIS_CATEGORY_UNCOND_BR)
			continue;
		if (!direct_target(&in, pc, &target) || in_middle(target, part, n))
			return false;
	}
	return true;
}

bool lz_has_calls(const uint8_t *code, uint64_t base, uint64_t end)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint64_t pc = base; pc < end; pc += in.length)
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + (pc - base),
		                                                end - pc, &in)) ||
		    in.meta.category == ZYDIS_CATEGORY_CALL)
			return true;
	return false;
}

/* May the instruction at PC lead into the piece? */
static bool may_enter(const ZydisDecodedInstruction *in, uint64_t pc,
                      const struct lz_piece_of_code *piece)
{
	bool falls = lz_piece_has(piece, pc + in->length);
	uint64_t target;

	switch (in->meta.category) {
	case ZYDIS_CATEGORY_UNCOND_BR:
		return !direct_target(in, pc, &target) || lz_piece_has(piece, target);
	case ZYDIS_CATEGORY_COND_BR:
		return falls || (direct_target(in, pc, &target) && lz_piece_has(piece, target));
	case ZYDIS_CATEGORY_RET: return false;
	default: return falls;
	}
}

static bool has_entry(const struct lz_entries *e, uint64_t pc)
{
	for (int i = 0; i < e->n; i++)
		if (e->pc[i] == pc)
			return true;
	return false;
}

bool lz_entries_add(const uint8_t *code, uint64_t base, uint64_t limit,
                    const struct lz_piece_of_code *piece, struct lz_entries *e)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint64_t pc = base; pc < limit; pc += in.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + (pc - base),
		                                                limit - pc, &in)))
			return false;
		if (lz_piece_has(piece, pc) || !may_enter(&in, pc, piece) || has_entry(e, pc))
			continue;
		if (e->n == LZ_EXITS_MAX)
			return false;
		e->pc[e->n++] = pc;
	}
	return true;
}

bool lz_always_leads(const uint8_t *code, size_t n, uint64_t pc, uint64_t to)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;
	uint64_t target;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code, n, &in)))
		return false;
	/* a step is one iteration */
	if (in.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		return false;
	switch (in.meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_UNCOND_BR: return direct_target(&in, pc, &target) && target == to;
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET: return false;
	default: return pc + in.length == to;
	}
}
