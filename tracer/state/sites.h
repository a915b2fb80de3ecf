/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System call instructions of the program that have become jumps to a detour (code/detour.c). The
 * tracer sees the program as it would be without them. Pure. */
#ifndef LIZARD_TRACER_SITES_H
#define LIZARD_TRACER_SITES_H

#include "tracer/state/call_page.h"

#include <lizard/proc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LZ_JUMP = 5,    /* bytes that are changed */
	LZ_DETOUR = 48, /* bytes of a detour, at most */
	LZ_CALL_INSN = 2,
	LZ_POINTS = 4,
	LZ_SITES = 512,
	LZ_POOLS = 8,
	LZ_POOL_LEN = 0x20000
};

/* Where an instruction is, behind the site's and behind the detour's system call instruction. */
struct lz_point {
	uint8_t at, in;
};

struct lz_site {
	uint64_t at;
	uint64_t begin; /* of the detour */
	uint64_t call;  /* its own system call instruction; behind it is what the jump covers */
	/* From those two instructions on; the last one is where the detour ends. */
	struct lz_point point[LZ_POINTS];
	uint8_t n_points;
	uint8_t kind;    /* enum lz_site_kind */
	bool given_back; /* the program has its own bytes, for a while */
	bool gone;       /* or for good: threads may still be in the detour */
	uint8_t was[LZ_JUMP], now[LZ_JUMP];
};

struct lz_sites {
	struct lz_elsewhere elsewhere;
	struct lz_site *a;
	size_t n, room;
	uint64_t pool[LZ_POOLS]; /* memory for detours */
	size_t n_pools;
	uint64_t code, code_len; /* the stub's */
	/* The mappings that have sites. */
	struct lz_code_range code_of[LZ_CODE_RANGES];
	size_t n_code;
};

void lz_sites_begin(struct lz_sites *s);
void lz_sites_free(struct lz_sites *s);
/* The site, not gone, in whose jump is an instruction of the program that is at ADDR. */
struct lz_site *lz_site_of(const struct lz_sites *s, uint64_t addr);
/* The same by the address of the system call instruction. */
struct lz_site *lz_site_at(const struct lz_sites *s, uint64_t at);
/* Is ADDR in the stub, or in a detour on the way to it? *AT: the site's instruction, if the detour
 * tells. */
bool lz_sites_inside(const struct lz_sites *s, uint64_t addr, uint64_t *at);
/* PAGE was read at ADDR: puts the program's own bytes into it. False: it has them. */
bool lz_sites_show(const struct lz_sites *s, uint64_t addr, uint8_t *page);
/* What a register that holds REAL is for the program. */
uint64_t lz_sites_shown(const struct lz_sites *s, uint64_t real);

#endif
