/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/process/arrive_once.h>

#include <Zydis/Zydis.h>
#include <string.h>

enum {
	MOST_INSNS = 512, /* are looked at */
	PIECE = 256       /* bytes are read at once */
};

struct search {
	lz_code_read *read;
	void *arg;
	ZydisDecoder decoder;
	/* A piece of code. */
	uint64_t addr;
	size_t len;
	uint8_t code[PIECE];
	/* Instructions that have been looked at: a hash table, 0 is free. */
	uint64_t seen[2 * MOST_INSNS];
	size_t n_seen;
	/* From where ways are still to be followed. */
	uint64_t todo[MOST_INSNS];
	size_t n_todo;
};

/* Where one instruction leads. */
struct step {
	bool ends;       /* what comes behind it is another gap, or another function */
	bool goes_on;    /* to the next instruction */
	uint64_t next;   /* that one */
	uint64_t target; /* of a direct jump; 0: none */
};

static const uint8_t *code_at(struct search *s, uint64_t pc, size_t *len)
{
	if (pc < s->addr || pc - s->addr + ZYDIS_MAX_INSTRUCTION_LENGTH > s->len) {
		s->addr = pc;
		s->len = s->read(s->arg, pc, s->code, sizeof(s->code));
	}
	*len = s->len - (size_t)(pc - s->addr);
	return s->code + (pc - s->addr);
}

/* movb $CODE, (%r15) */
static bool is_marker(const uint8_t *code, size_t len)
{
	static const uint8_t store[] = {0x41, 0xc6, 0x07};

	return len > sizeof(store) && memcmp(code, store, sizeof(store)) == 0;
}

static uint64_t target_of(const ZydisDecodedInstruction *in, uint64_t next)
{
	return in->raw.imm[0].is_relative ? next + (uint64_t)in->raw.imm[0].value.s : 0;
}

/* False: it cannot be told. */
static bool step_from(struct search *s, uint64_t pc, struct step *to)
{
	ZydisDecodedInstruction in;
	size_t len;
	const uint8_t *code = code_at(s, pc, &len);

	*to = (struct step){0};
	if (is_marker(code, len)) {
		to->ends = true;
		return true;
	}
	if (!len || !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&s->decoder, NULL, code, len, &in)))
		return false;
	to->next = pc + in.length;
	to->goes_on = true;
	switch (in.meta.category) {
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT: to->ends = true; break;
	case ZYDIS_CATEGORY_COND_BR: to->target = target_of(&in, to->next); return to->target != 0;
	case ZYDIS_CATEGORY_UNCOND_BR:
		/* the compiler has seen where an indirect one leads */
		to->target = target_of(&in, to->next);
		to->ends = !to->target;
		to->goes_on = false;
		break;
	default: break;
	}
	return true;
}

/* 1: for the first time; 0: again; -1: too many. */
static int mark(struct search *s, uint64_t pc)
{
	enum { ROOM = 2 * MOST_INSNS };
	size_t i = (size_t)(pc * 0x9e3779b97f4a7c15ULL >> 32) % ROOM;

	for (; s->seen[i]; i = (i + 1) % ROOM)
		if (s->seen[i] == pc)
			return 0;
	if (s->n_seen == MOST_INSNS)
		return -1;
	s->seen[i] = pc;
	s->n_seen++;
	return 1;
}

static bool push(struct search *s, uint64_t pc)
{
	if (s->n_todo == MOST_INSNS)
		return false;
	s->todo[s->n_todo++] = pc;
	return true;
}

/* From PC on as far as nothing branches off, or is known. False: back to AT, or it cannot be
 * told. */
static bool follow(struct search *s, uint64_t pc, uint64_t at)
{
	for (bool first = s->n_seen == 0;; first = false) {
		struct step to;
		int fresh = mark(s, pc);

		if (pc == at && !first)
			return false;
		if (fresh <= 0)
			return fresh == 0;
		if (!step_from(s, pc, &to))
			return false;
		if (to.ends)
			return true;
		if (to.target && !push(s, to.target))
			return false;
		if (!to.goes_on)
			return true;
		pc = to.next;
	}
}

bool lz_arrives_once(lz_code_read *read, void *arg, uint64_t at)
{
	struct search s = {.read = read, .arg = arg, .n_todo = 1};

	s.todo[0] = at;
	ZydisDecoderInit(&s.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (s.n_todo)
		if (!follow(&s, s.todo[--s.n_todo], at))
			return false;
	return true;
}
