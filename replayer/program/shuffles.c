/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How they choose their elements: Intel SDM volume 2. Those with 32 or 64 bytes do the same in each lane of 16. */
#include "replayer/program/shuffles.h"

enum { LANE = 16 };

/* Which of the sources has an element, 0 or 1, and its number in that source's lane. */
struct choice {
	unsigned source, element;
};

enum pattern {
	LOW,    /* the lower halves of both, by turns */
	HIGH,   /* the upper halves, likewise */
	BY_IMM, /* one source, each element by two bits of the immediate */
	BOTH_4, /* four elements: two of each source, by two bits each */
	BOTH_2, /* two elements: one of each source, by one bit each */
	TWICE,  /* the first one for each pair */
	UP,     /* the upper half of the second becomes the lower half */
	DOWN,   /* the lower half of the second becomes the upper half */
	UPPER,  /* the upper half goes out, or comes in */
	IN,     /* one element, whose number the immediate says, is the second source's */
	OUT     /* one element of a register goes out */
};

struct shuffle {
	ZydisMnemonic legacy, vex;
	enum pattern pattern;
	unsigned size; /* of an element */
};

#define BOTH(name) ZYDIS_MNEMONIC_##name, ZYDIS_MNEMONIC_V##name
static const struct shuffle shuffles[] = {
    {BOTH(PUNPCKLBW), LOW, 1},   {BOTH(PUNPCKLWD), LOW, 2},  {BOTH(PUNPCKLDQ), LOW, 4},
    {BOTH(PUNPCKLQDQ), LOW, 8},  {BOTH(UNPCKLPS), LOW, 4},   {BOTH(UNPCKLPD), LOW, 8},
    {BOTH(PUNPCKHBW), HIGH, 1},  {BOTH(PUNPCKHWD), HIGH, 2}, {BOTH(PUNPCKHDQ), HIGH, 4},
    {BOTH(PUNPCKHQDQ), HIGH, 8}, {BOTH(UNPCKHPS), HIGH, 4},  {BOTH(UNPCKHPD), HIGH, 8},
    {BOTH(PSHUFD), BY_IMM, 4},   {BOTH(SHUFPS), BOTH_4, 4},  {BOTH(SHUFPD), BOTH_2, 8},
    {BOTH(MOVDDUP), TWICE, 8},   {BOTH(MOVHLPS), UP, 8},     {BOTH(MOVLHPS), DOWN, 8},
    {BOTH(MOVHPS), UPPER, 8},    {BOTH(MOVHPD), UPPER, 8},   {BOTH(PINSRB), IN, 1},
    {BOTH(PINSRW), IN, 2},       {BOTH(PINSRD), IN, 4},      {BOTH(PINSRQ), IN, 8},
    {BOTH(PEXTRB), OUT, 1},      {BOTH(PEXTRW), OUT, 2},     {BOTH(PEXTRD), OUT, 4},
    {BOTH(PEXTRQ), OUT, 8}};

static const struct shuffle *shuffle_of(ZydisMnemonic m)
{
	for (size_t k = 0; k < sizeof shuffles / sizeof *shuffles; k++)
		if (shuffles[k].legacy == m || shuffles[k].vex == m)
			return &shuffles[k];
	return NULL;
}

static unsigned bits(unsigned imm, unsigned number, unsigned width)
{
	return imm >> (number * width) & ((1U << width) - 1);
}

/* OUT: to memory. */
static struct choice choose(const struct shuffle *h, unsigned imm, unsigned lane, unsigned j,
                            bool out)
{
	const unsigned n = LANE / h->size;

	switch (h->pattern) {
	case LOW: return (struct choice){j % 2, j / 2};
	case HIGH: return (struct choice){j % 2, n / 2 + j / 2};
	case BY_IMM: return (struct choice){1, bits(imm, j, 2)};
	case BOTH_4: return (struct choice){j / 2, bits(imm, j, 2)};
	case BOTH_2: return (struct choice){j, bits(imm, 2 * lane + j, 1)};
	case TWICE: return (struct choice){1, 0};
	case UP: return (struct choice){!j, 1};
	case DOWN: return (struct choice){j, 0};
	case UPPER: return out ? (struct choice){1, 1} : (struct choice){j, 0};
	case IN: return j == imm % n ? (struct choice){1, 0} : (struct choice){0, j};
	case OUT: break;
	}
	return (struct choice){1, imm % n};
}

/* The operand of source number SOURCE. With two operands besides the immediate, the first one is also written. */
static unsigned operand_of(unsigned registers, unsigned source)
{
	return registers == 3 ? 1 + source : source;
}

/* Operands of some are said to have the size of what is moved. */
static uint64_t register_width(const struct lz_decoded *i)
{
	return i->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER
	           ? ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, i->op[0].reg.value) / 8
	           : i->op[0].size / 8;
}

bool lz_shuffle_source(const struct lz_decoded *i, uint64_t off, struct lz_shuffled *from)
{
	const struct shuffle *h = shuffle_of(i->in.mnemonic);
	const unsigned n = i->in.operand_count_visible;

	if (!h || n < 2)
		return false;
	const bool has_imm = i->op[n - 1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	const unsigned registers = n - has_imm,
	               imm = has_imm ? (unsigned)i->op[n - 1].imm.value.u : 0;
	/* a mask is one operand more, and makes it another instruction */
	const bool masked = i->in.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	const bool out = i->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
	const uint64_t width = h->pattern == OUT ? h->size : register_width(i);
	if (masked || registers < 2 || registers > 3 || off >= width)
		return false;
	const struct choice c =
	    choose(h, imm, (unsigned)(off / LANE), (unsigned)(off % LANE / h->size), out);
	const uint64_t within = off % h->size;
	const bool whole = h->pattern != IN || c.source == 0;
	from->operand = operand_of(registers, c.source);
	from->at = (whole ? off / LANE * LANE : 0) + c.element * h->size + within;
	from->len = h->size - within;
	return true;
}
