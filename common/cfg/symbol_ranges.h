/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the functions of an ELF file begin and end, as far as it has symbols. */
#ifndef LIZARD_SYMBOL_RANGES_H
#define LIZARD_SYMBOL_RANGES_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

/* Link-time addresses. */
struct lz_cfg_range {
	uint64_t start, end;
};

/* Of all functions, ascending by their starts. *RANGES is malloced. */
int lz_symbol_ranges(Elf *elf, struct lz_cfg_range **ranges, size_t *n);
/* The last of RANGES that begins at ADDR or before it, if ADDR is in it; else N. */
size_t lz_range_of(const struct lz_cfg_range *ranges, size_t n, uint64_t addr);

#endif
