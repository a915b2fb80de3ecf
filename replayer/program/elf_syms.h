/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols of an ELF file by name and by address. */
#ifndef LIZARD_REPLAYER_ELF_SYMS_H
#define LIZARD_REPLAYER_ELF_SYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of the defined dynamic symbol NAME of the file PATH; 0 if there is none. */
uint64_t lz_elf_dynamic_symbol(const char *path, const char *name);

/* The name, of ROOM bytes at most, of the variable that the LEN bytes at link-time address ADDR of the
 * file PATH lie in. False: no symbol says so, or other files know the variable, too. */
bool lz_elf_own_variable(const char *path, uint64_t addr, uint64_t len, char *name, size_t room);

#endif
