/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where an instruction took what it put somewhere. Pure. */
#ifndef LIZARD_REPLAYER_SOURCE_H
#define LIZARD_REPLAYER_SOURCE_H

#include "replayer/program/operands.h"

/* Bytes of memory or of a register. */
struct lz_location {
	bool in_memory;
	uint64_t addr;
	ZydisRegister reg; /* a whole one */
	unsigned at;       /* its first byte that is meant */
	uint64_t len;
};

enum lz_source_kind {
	LZ_SOURCE_COPY, /* `from` was there */
	LZ_SOURCE_KEPT, /* it was there before, in `from`: as a conditional move that did not move */
	LZ_SOURCE_CONSTANT, /* the instruction holds it */
	LZ_SOURCE_ADDRESS,  /* of something that is at a place known to the compiler */
	LZ_SOURCE_MADE      /* of `input` */
};

enum { LZ_INPUTS = 6 };
struct lz_source {
	enum lz_source_kind kind;
	struct lz_location from;
	uint64_t constant;
	struct lz_location input[LZ_INPUTS];
	unsigned n_inputs;
};

/* Does I, which stands at registers R, write bytes of OF? Then OF becomes those. */
bool lz_source_writes(const struct lz_decoded *i, const struct user_regs_struct *r,
                      struct lz_location *of);
/* Of what I has put into all of OF. */
void lz_source_of(const struct lz_decoded *i, const struct user_regs_struct *r,
                  const struct lz_location *of, struct lz_source *s);
/* What it computes with. */
void lz_source_inputs(const struct lz_decoded *i, const struct user_regs_struct *r,
                      struct lz_source *s);
/* A register by its name in the processor's manual, or a part of one; len = 0: there is none. */
struct lz_location lz_location_of_register(const char *name);

#endif
