/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slot of its GOT from which a library's code takes __lizard_pos's offset from the thread
 * pointer (R_X86_64_TPOFF64 of the initial-exec model; Drepper, "ELF Handling For Thread-Local
 * Storage", 4.1.6). It tells which copy of the runtime the library was bound to: with dlmopen and
 * RTLD_DEEPBIND there may be several in a process. */
#ifndef LIZARD_SLOT_H
#define LIZARD_SLOT_H

#include <stdint.h>

/* *DISTANCE: from where the code of library PATH that is at file offset OFFSET is mapped to its
 * slot. 1; 0: it has none; -1: PATH cannot be read. */
int lz_slot_find(const char *path, uint64_t offset, int64_t *distance);

#endif
