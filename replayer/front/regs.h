/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The registers of x86-64 as GDB numbers them, in what ptrace calls user_regs and xstate. */
#ifndef LIZARD_REGS_H
#define LIZARD_REGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

/* One thread's registers. */
struct lz_regfile {
	struct user_regs_struct gpr;
	uint8_t xstate[16384];
	uint32_t xstate_len;
};

/* Which registers there are: follows from the xstate's size and its XCR0. */
struct lz_regmap;
struct lz_regmap *lz_regmap_new(const uint8_t *xstate, uint32_t len);
void lz_regmap_free(struct lz_regmap *m);
/* target.xml: owned by the map. */
const char *lz_regmap_xml(const struct lz_regmap *m);
size_t lz_regmap_count(const struct lz_regmap *m);
/* Bytes of all registers in a g packet. */
size_t lz_regmap_size(const struct lz_regmap *m);

/* Copies register NR; returns its size in bytes, 0 if there is none. */
size_t lz_reg_get(const struct lz_regmap *m, const struct lz_regfile *f, size_t nr, void *bytes);
/* Is register NR one of f->gpr? */
bool lz_reg_is_general(const struct lz_regmap *m, size_t nr);
/* Returns the size, 0 if there is none. */
size_t lz_reg_set(const struct lz_regmap *m, struct lz_regfile *f, size_t nr, const void *bytes);

#endif
