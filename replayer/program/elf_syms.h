/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols of an ELF file by name and by address. */
#ifndef LIZARD_REPLAYER_ELF_SYMS_H
#define LIZARD_REPLAYER_ELF_SYMS_H

#include <stdbool.h>
#include <stdint.h>

/* The value of the defined dynamic symbol NAME of the file PATH; 0 if there is none. */
uint64_t lz_elf_dynamic_symbol(const char *path, const char *name);

struct lz_elf_variable {
	char name[512];
	uint64_t addr, len; /* link-time */
};

/* The variable that the LEN bytes at link-time address ADDR of the file PATH lie in. False: no symbol says
 * so, or other files know the variable, too. */
bool lz_elf_own_variable(const char *path, uint64_t addr, uint64_t len, struct lz_elf_variable *v);

#endif
