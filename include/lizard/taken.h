/* What a system call took from the program's memory: the bytes that it has written or sent. */
#ifndef LIZARD_TAKEN_H
#define LIZARD_TAKEN_H

#include <stdbool.h>
#include <stdint.h>

struct lz_proc;

/* CRC-32 of the bytes that the call, which has ended with RESULT, took: write, send and their kin. COUNTS, if given, says
 * whether a range is the program's own, so that replay finds the same bytes there. False: the call takes none, or they
 * are not to be had. */
bool lz_taken(const struct lz_proc *p, uint64_t nr, const uint64_t *args, int64_t result,
              bool (*counts)(void *arg, uint64_t addr, uint64_t len), void *arg, uint32_t *crc);

#endif
