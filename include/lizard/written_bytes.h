/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a system call took from the program's memory: the bytes that it has written or sent. */
#ifndef LIZARD_WRITTEN_BYTES_H
#define LIZARD_WRITTEN_BYTES_H

#include <stdbool.h>
#include <stdint.h>

struct lz_proc;

/* Bytes of a call that are summed, from its first one. */
enum { LZ_WRITTEN_BYTES_MAX = 1 << 20 };

/* CRC-32 of the bytes, at most LZ_WRITTEN_BYTES_MAX, that the call took, which has ended with
 * RESULT: write, send and their kin. COUNTS, if given, says whether replay finds the same bytes in
 * a range as recording did. False: the call takes none, or they are not to be had. */
bool lz_written_bytes_crc(const struct lz_proc *p, uint64_t nr, const uint64_t *args,
                          int64_t result, bool (*counts)(void *arg, uint64_t addr, uint64_t len),
                          void *arg, uint32_t *crc);

#endif
