#include "replayer/exits.h"

#include <Zydis/Zydis.h>

struct list {
	struct lz_exit *exits;
	int n;
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

int lz_exits_find(const uint8_t *code, uint64_t base, uint64_t start, uint64_t end,
                  struct lz_exit exits[LZ_EXITS_MAX])
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;
	struct list l = {exits, 0};
	uint64_t pc = base, target;
	bool room = true;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (; pc < end && room; pc += in.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + (pc - base),
		                                                end - pc, &in)))
			return -1;
		switch (in.meta.category) {
		case ZYDIS_CATEGORY_COND_BR:
			if (!direct_target(&in, pc, &target))
				return -1;
			if (target < start || target >= end)
				room = add(&l, target, false);
			break;
		case ZYDIS_CATEGORY_UNCOND_BR: /* may be a tail call */
			if (!direct_target(&in, pc, &target) || target < start || target >= end)
				room = add(&l, pc, true);
			break;
		case ZYDIS_CATEGORY_RET:
		case ZYDIS_CATEGORY_INTERRUPT: room = add(&l, pc, true); break;
		default: break;
		}
	}
	if (pc != end || !room || !add(&l, end, false))
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

/* May the instruction at PC lead into [start, end)? */
static bool may_enter(const ZydisDecodedInstruction *in, uint64_t pc, uint64_t start, uint64_t end)
{
	uint64_t target, next = pc + in->length;
	bool falls = next >= start && next < end;

	switch (in->meta.category) {
	case ZYDIS_CATEGORY_UNCOND_BR:
		return !direct_target(in, pc, &target) || (target >= start && target < end);
	case ZYDIS_CATEGORY_COND_BR:
		return falls || (direct_target(in, pc, &target) && target >= start && target < end);
	case ZYDIS_CATEGORY_RET: return false;
	default: return falls;
	}
}

int lz_entries_find(const uint8_t *code, uint64_t base, uint64_t limit, uint64_t start,
                    uint64_t end, uint64_t entries[LZ_EXITS_MAX])
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;
	uint64_t pc = base;
	int n = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (; pc < limit; pc += in.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + (pc - base),
		                                                limit - pc, &in)))
			return -1;
		if ((pc >= start && pc < end) || !may_enter(&in, pc, start, end))
			continue;
		if (n == LZ_EXITS_MAX)
			return -1;
		entries[n++] = pc;
	}
	return n;
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
