/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the indirect jumps of a function lead, as compilers write `switch` and computed goto:
 * through tables in the data of its file. Pure.
 *
 * Every target within the function that a jump can have is found, and maybe more. Jumps out of
 * it, as tail calls are, are not told from others. */
#ifndef LIZARD_REPLAYER_JUMPS_H
#define LIZARD_REPLAYER_JUMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <lizard/piece.h>

enum { LZ_TARGETS_MAX = 4096 };

/* What a file has in memory. */
struct lz_jumps_data {
	struct lz_part where;
	const uint8_t *bytes;
	bool constant;
};

/* What the caller has. */
struct lz_jumps_code {
	const struct lz_part *range; /* of the function, in order of address */
	uint8_t *const *bytes;       /* of each */
	size_t n;
	uint64_t entry;
	const struct lz_jumps_data *data; /* all that the file has */
	size_t n_data;
};

struct lz_jump {
	uint64_t pc;
	uint64_t *targets; /* sorted */
	size_t n;          /* 0: not known */
};

struct lz_jumps {
	struct lz_jump *v; /* in order of address */
	size_t n;
};

/* None of them is known if one is not: that may lead anywhere. -1: no memory. */
int lz_jumps_find(const struct lz_jumps_code *code, struct lz_jumps *jumps);
void lz_jumps_free(struct lz_jumps *jumps);

#endif
