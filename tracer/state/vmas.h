/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model of the program's address space: which mapping came from which file. /proc/PID/maps
 * cannot say which copy of a changed file is mapped, and is slow to read. Pure. */
#ifndef LIZARD_TRACER_VMAS_H
#define LIZARD_TRACER_VMAS_H

#include <lizard/recording.h>
#include <stdbool.h>
#include <stddef.h>

/* Page boundaries: at X or above, at X or below. */
static inline uint64_t lz_page_up(uint64_t x)
{
	return (x + LZ_PAGE - 1) & ~(uint64_t)(LZ_PAGE - 1);
}

static inline uint64_t lz_page_down(uint64_t x)
{
	return x & ~(uint64_t)(LZ_PAGE - 1);
}

struct lz_area {
	struct lz_vma v;
	bool armed;         /* registered for write tracking */
	bool follows;       /* private, but has shown changes of its file */
	bool small;         /* a private mapping of a file whose bytes are in its event */
	bool read_only;     /* cannot become writable, the program believes */
	bool counters;      /* code of which all rdtsc are sites: code/clock.c */
	uint32_t object;    /* what is mapped: objects.h; 0: nothing that others could map */
	uint64_t object_at; /* where v.start is in it */
};

struct lz_vmas {
	struct lz_area *a; /* sorted, not overlapping */
	size_t n, room;
	uint64_t changes;         /* so far; of parts that become one nobody need know */
	uint64_t changes_of_code; /* of these: code has come, or may have become other code */
};

/* [START, END) of it. */
struct lz_area lz_area_part(const struct lz_area *a, uint64_t start, uint64_t end);

void lz_vmas_clear(struct lz_vmas *m);
/* Index of the first area that ends behind ADDR (n if none). */
size_t lz_vmas_from(const struct lz_vmas *m, uint64_t addr);
/* Index of the area that holds ADDR, -1 if none. */
ptrdiff_t lz_vmas_find(const struct lz_vmas *m, uint64_t addr);
/* May the program store to all of it? */
bool lz_vmas_writable(const struct lz_vmas *m, uint64_t at, uint64_t len);
/* Splits the areas at START and END; *first..*last are those between. -1: out of memory. */
int lz_vmas_slice(struct lz_vmas *m, uint64_t start, uint64_t end, size_t *first, size_t *last);
int lz_vmas_remove(struct lz_vmas *m, uint64_t start, uint64_t end);
/* Puts AREA in place of what is there. */
int lz_vmas_add(struct lz_vmas *m, const struct lz_area *area);
/* Areas of [START, END) that have become alike, and those next to it, are one. */
void lz_vmas_join(struct lz_vmas *m, uint64_t start, uint64_t end);
int lz_vmas_protect(struct lz_vmas *m, uint64_t start, uint64_t end, uint32_t prot);

#endif
