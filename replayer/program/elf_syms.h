/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols of an ELF file by name. */
#ifndef LIZARD_REPLAYER_ELF_SYMS_H
#define LIZARD_REPLAYER_ELF_SYMS_H

#include <stdint.h>

/* The value of the defined dynamic symbol NAME of the file PATH; 0 if there is none. */
uint64_t lz_elf_dynamic_symbol(const char *path, const char *name);

#endif
