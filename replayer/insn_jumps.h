/* Where the indirect jumps of a function lead, as compilers write `switch` and computed goto: through tables of constants. Pure.
 *
 * Every target that a jump can have is found, and maybe more. */
#ifndef LIZARD_REPLAYER_INSN_JUMPS_H
#define LIZARD_REPLAYER_INSN_JUMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <lizard/piece.h>

enum { LZ_TARGETS_MAX = 4096 };

/* What the caller has. */
struct lz_jumps_code {
	const struct lz_part *range; /* of the function, in order of address */
	uint8_t *const *bytes;       /* of each */
	size_t n;
	uint64_t entry;
	/* The constants around ADDR: malloced, *WHERE says which; NULL: what is there can change. */
	uint8_t *(*constants)(void *arg, uint64_t addr, struct lz_part *where);
	void *arg;
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
