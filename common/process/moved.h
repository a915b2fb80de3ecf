/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions behind a system call instruction, an rdtsc, an rdtscp, or an armed cpuid, that can be
 * executed elsewhere. An armed xsavec has none: it is as long as a jump. */
#ifndef LZ_COMMON_MOVED_H
#define LZ_COMMON_MOVED_H

#include <common/process/sites.h>

enum { LZ_MOVED_FROM = 32, LZ_MOVED_MOST = 22 };

struct lz_moved {
	uint8_t code[LZ_MOVED_MOST], len;
	struct lz_point point[LZ_POINTS];
	uint8_t n_points;
	uint32_t begins; /* 0xff for each byte of the jump's distance at which one begins */
	uint8_t jump;    /* where the distance of a jump is in the code; 0: there is none */
	int64_t target;  /* of that jump, from the site on */
	/* Where the distance of an operand is in the code, and from where it counts; 0: none. */
	uint8_t data, data_end;
	int64_t operand;     /* that operand, from the site on */
	const uint8_t *insn; /* the instruction that they are behind */
	uint8_t behind;      /* how long that is */
	bool counter;        /* it is an rdtsc or rdtscp */
	bool cpuid;          /* or an armed cpuid */
	bool xsavec;         /* or an armed xsavec */
};

/* CODE: LZ_MOVED_FROM bytes at such an instruction. What a jump would cover becomes M. False:
 * it cannot be moved. */
bool lz_move_code(const uint8_t *code, struct lz_moved *m);
/* The same of a jump that covers no more than the instruction. */
bool lz_move_nothing(const uint8_t *code, struct lz_moved *m);

#endif
