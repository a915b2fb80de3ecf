/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places of a program that users name: FILE:LINE, a function, or *ADDRESS. */
#ifndef LIZARD_REPLAYER_PLACES_H
#define LIZARD_REPLAYER_PLACES_H

#include "replayer/answers/asked.h"

/* One instruction, where a breakpoint would be. */
struct lz_place {
	uint64_t addr; /* at run time */
	uint32_t fn;   /* LZ_FN_NONE: lizard-cc did not compile it */
	const struct lz_module *mod;
};

struct lz_places {
	struct lz_place *v; /* those that lizard-cc compiled */
	size_t n, room;
	uint32_t line;       /* of FILE:LINE the line that has code, else 0 */
	size_t n_foreign;    /* how many there are beside, in code that it did not compile, */
	const char *foreign; /* ... in this file */
};

/* -1: there is none, or only some of the others: lz_error() says so. */
int lz_places_find(struct lz_asked *a, const char *text, struct lz_places *p);
void lz_places_free(struct lz_places *p);

#endif
