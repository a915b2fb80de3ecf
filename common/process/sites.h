/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System call instructions of the program, its rdtsc, rdtscp, cpuid and xsavec that have become jumps
 * to a detour (detour.c). Whoever made them sees the program as it would be without them. */
#ifndef LZ_COMMON_SITES_H
#define LZ_COMMON_SITES_H

#include <common/process/code_pages.h>
#include <common/process/code_range.h>
#include <lizard/proc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LZ_JUMP = 5, /* bytes of a jump to a detour */
	LZ_SHORT_JUMP = 2,
	LZ_PATCH = 7,                   /* bytes that are changed in one place, at most */
	LZ_SITE_REACH = 127 + LZ_PATCH, /* from a site to behind what is changed, at most */
	LZ_TRAPS_SHORTER = 2,           /* before a site is changed */
	LZ_TRAPS_MOST = 16,             /* in a row, before it is given up */
	LZ_DETOUR = 56,                 /* bytes of a detour, at most */
	LZ_CALL_INSN = 2,
	LZ_POINTS = 5,
	LZ_SITES = 512,
	LZ_POOLS = 8,
	LZ_POOL_LEN = 0x20000,
	LZ_RDTSCP_INSN = 3,
	LZ_SITE_COUNTER = 4, /* the first entry that is for rdtsc */
	LZ_SITE_CPUID = 7,   /* for cpuid */
	LZ_SITE_RDTSCP = 8,  /* the first one for rdtscp */
	LZ_SITE_XSAVEC = 11, /* and the first one for xsavec */
	LZ_SITE_ENTRIES = 14,
	LZ_SITE_RANGES = 8
};

/* Where an instruction is, behind the site's and behind the detour's system call instruction. */
struct lz_point {
	uint8_t at, in;
};

/* Bytes of the program that are changed. */
struct lz_patch {
	uint64_t at;
	uint8_t len, was[LZ_PATCH], now[LZ_PATCH];
};

/* The instruction, with what is behind it, is a jump to the detour. Or it is a short jump to another
 * one, in padding nearby. */
enum { LZ_AT_SITE, LZ_IN_PADDING, LZ_PATCHES };

struct lz_site {
	uint64_t at, end; /* what is changed lies between */
	uint64_t begin;   /* of the detour */
	uint64_t call;    /* its own such instruction; behind it is what the jump covers */
	/* From those two instructions on; the last one is where the detour ends. */
	struct lz_point point[LZ_POINTS];
	uint8_t n_points;
	uint8_t kind;    /* which of the entries it leads to */
	uint8_t len;     /* of the instruction */
	bool counter;    /* it is an rdtsc or rdtscp, which have entries of their own */
	bool cpuid;      /* it is an armed cpuid, which has one */
	bool xsavec;     /* it is an armed xsavec, which has entries of its own */
	bool faults;     /* it leads nowhere: an instruction that faults is in its place */
	bool given_back; /* the program has its own bytes, for a while */
	bool gone;       /* or for good: threads may still be in the detour */
	/* How often control has come to an int3 of its; and since it was used last. */
	uint32_t traps, idle;
	struct lz_patch patch[LZ_PATCHES]; /* LEN 0: it is none */
};

struct lz_sites {
	struct lz_elsewhere elsewhere;
	struct lz_site *a;
	size_t n, room;
	uint64_t pool[LZ_POOLS]; /* memory for detours */
	size_t n_pools;
	bool kept_from_children; /* that memory is not in forked processes */
	/* The code that detours lead to, and its entries; 0: it has none of that kind. */
	uint64_t code, code_len, entry[LZ_SITE_ENTRIES];
	uint64_t clock, clock_len; /* and more code, which that calls */
	/* The mappings that have sites. */
	struct lz_code_range code_of[LZ_SITE_RANGES];
	size_t n_code;
	uint64_t n_gone; /* sites so far that are no more */
	/* Many sites are made at once: what is changed meanwhile. */
	bool at_once;
	struct lz_code_pages changed;
};

static inline bool lz_patch_overlaps(const struct lz_patch *p, uint64_t start, uint64_t end)
{
	return p->at < end && p->at + p->len > start;
}

void lz_sites_begin(struct lz_sites *s);
void lz_sites_free(struct lz_sites *s);
/* The site, not gone, in whose jump is an instruction of the program that is at ADDR. */
struct lz_site *lz_site_of(const struct lz_sites *s, uint64_t addr);
/* The same by the address of the system call instruction. */
struct lz_site *lz_site_at(const struct lz_sites *s, uint64_t at);
/* The same by the address behind it, be that in the jump or not: who makes the call again from there
 * must do so in the detour. */
struct lz_site *lz_site_behind(const struct lz_sites *s, uint64_t addr);
/* The site, not gone, whose patch in padding begins with an int3 at ADDR. */
struct lz_site *lz_site_padding(const struct lz_sites *s, uint64_t addr);
/* Is ADDR in the stub, or on the way to it? *AT: the site's instruction, if the detour
 * tells. */
bool lz_sites_inside(const struct lz_sites *s, uint64_t addr, uint64_t *at);
/* PAGE was read at ADDR: puts the program's own bytes into it. False: it has them. */
bool lz_sites_show(const struct lz_sites *s, uint64_t addr, uint8_t *page);
/* The same with N bytes. */
bool lz_sites_show_some(const struct lz_sites *s, uint64_t addr, uint8_t *bytes, size_t n);
/* Has the page at ADDR had a part of a jump? */
bool lz_sites_had(const struct lz_sites *s, uint64_t addr);
/* What a register that holds REAL is for the program. */
uint64_t lz_sites_shown(const struct lz_sites *s, uint64_t real);

/* ---- detour.c: in process P ---- */

/* The entries have changed: detours find the new ones. */
int lz_sites_entries(struct lz_sites *s, const struct lz_proc *p);
/* The system call instruction at AT becomes a jump, to entry 0, the rdtsc, to LZ_SITE_COUNTER, the
 * rdtscp, to LZ_SITE_RDTSCP, the cpuid, to LZ_SITE_CPUID, or the xsavec, to LZ_SITE_XSAVEC.
 * What is changed lies between AT and END.
 * 1; 0: it cannot be changed, or there is no such entry. */
int lz_site_make(struct lz_sites *s, struct lz_proc *p, uint64_t at, uint64_t end);
/* The rdtsc or rdtscp at AT, of LEN bytes, faults from now on, whether or not the program may read the
 * counter. 1; 0: as above. */
int lz_site_fault(struct lz_sites *s, const struct lz_proc *p, uint64_t at, uint8_t len);
/* It is what it was. */
int lz_site_end_fault(struct lz_sites *s, const struct lz_proc *p, struct lz_site *x);
/* Control has come to an int3 of X's, by which calls have been made since the last time if USED. If
 * that is often so X becomes a short jump, which covers nothing else. It is given up if it is not used
 * meanwhile, or if the int3 is in padding: 1. */
int lz_site_trapped(struct lz_sites *s, struct lz_proc *p, struct lz_site *x, bool used);
/* Those that are made from here on are there when lz_sites_made() has returned. The process stands
 * meanwhile. */
void lz_sites_make_many(struct lz_sites *s);
int lz_sites_made(struct lz_sites *s, const struct lz_proc *p);
/* Its detour leads to entry KIND, counted from the first one that it can lead to. */
int lz_site_enter(const struct lz_sites *s, const struct lz_proc *p, struct lz_site *x,
                  uint8_t kind);
/* P, which may be another process with this code, gets the program's own instructions back. */
void lz_sites_release(const struct lz_sites *s, const struct lz_proc *p);
/* The same for a while; and after that. */
void lz_sites_lend(struct lz_sites *s, const struct lz_proc *p);
void lz_sites_again(struct lz_sites *s, const struct lz_proc *p);
/* The sites of rdtsc and rdtscp are gone: the program has its own. */
void lz_sites_end_counters(struct lz_sites *s, const struct lz_proc *p);
/* What was mapped at START is now at TO, with the program's own instructions; 0: nowhere. */
void lz_sites_moved(struct lz_sites *s, const struct lz_proc *p, uint64_t start, uint64_t end,
                    uint64_t to);

#endif
