/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an ELF file has in memory, at link-time addresses: its segments, with the relocations applied
 * that only depend on where it is loaded. The file is untrusted. */
#ifndef LIZARD_REPLAYER_ELF_DATA_H
#define LIZARD_REPLAYER_ELF_DATA_H

#include "replayer/program/jumps.h"

struct lz_elf_data;

/* NULL: lz_error(). */
struct lz_elf_data *lz_elf_data_open(const char *path);
void lz_elf_data_close(struct lz_elf_data *d);
/* N of them, as lz_jumps_find() takes them. */
const struct lz_jumps_data *lz_elf_data_parts(const struct lz_elf_data *d, size_t *n);
/* The bytes at ADDR; *LEFT: how many follow. NULL: there are none. */
const uint8_t *lz_elf_data_at(const struct lz_elf_data *d, uint64_t addr, size_t *left);

#endif
