/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A way through the code leads from here to a marker and does not load r15 before: so r15 holds the
 * pointer. It makes no difference whether control takes that way now: to the compiler it might. */
#include <common/process/pointer_here.h>

#include <Zydis/Zydis.h>
#include <lizard/widen.h>
#include <string.h>

enum { MOST_INSNS = 128, MOST_WAYS = 16 };

struct search {
	lz_code_read *read;
	void *arg;
	ZydisDecoder decoder;
	int n_insns; /* looked at */
	/* From where ways are still to be followed. */
	uint64_t todo[MOST_WAYS];
	int n_todo;
};

/* movb $CODE, (%r15) */
static bool is_store(const uint8_t *code)
{
	return code[0] == 0x41 && code[1] == 0xc6 && code[2] == 0x07;
}

/* addw $SIZE, %r15w, wide or not */
static bool is_add(const uint8_t *code)
{
	return code[0] == 0x66 && (code[1] == LZ_ADD_NARROW || code[1] == LZ_ADD_WIDE) &&
	       code[2] == 0x83 && code[3] == 0xc7;
}

static bool writes_r15(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	for (unsigned i = 0; i < in->operand_count; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op[i].reg.value) ==
		        ZYDIS_REGISTER_R15)
			return true;
	return false;
}

/* Where control goes on; 0: elsewhere. One of two ways is left for later. */
static uint64_t next_of(struct search *s, const ZydisDecodedInstruction *in, uint64_t at)
{
	const uint64_t next = at + in->length;
	const uint64_t target =
	    in->raw.imm[0].is_relative ? next + (uint64_t)in->raw.imm[0].value.s : 0;

	switch (in->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT: return 0;
	case ZYDIS_CATEGORY_UNCOND_BR: return target;
	case ZYDIS_CATEGORY_COND_BR:
		if (target && s->n_todo < MOST_WAYS)
			s->todo[s->n_todo++] = target;
		return next;
	default: return next;
	}
}

static bool leads_to_marker(struct search *s, uint64_t at)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	while (at && s->n_insns < MOST_INSNS) {
		uint8_t code[ZYDIS_MAX_INSTRUCTION_LENGTH] = {0};
		const size_t len = s->read(s->arg, at, code, sizeof(code));

		if (is_store(code) || (s->n_insns++ == 0 && is_add(code)))
			return true;
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&s->decoder, code, len, &in, op)) ||
		    writes_r15(&in, op))
			return false;
		at = next_of(s, &in, at);
	}
	return false;
}

bool lz_pointer_here(lz_code_read *read, void *arg, uint64_t at)
{
	struct search s = {.read = read, .arg = arg, .todo = {at}, .n_todo = 1};

	ZydisDecoderInit(&s.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (s.n_todo)
		if (leads_to_marker(&s, s.todo[--s.n_todo]))
			return true;
	return false;
}
