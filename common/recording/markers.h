/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Going through the bytes of a marker stream. */
#ifndef COMMON_MARKERS_H
#define COMMON_MARKERS_H

#include <stdint.h>

/* Where the markers in mem[from..limit) end: the first offset at or after FROM, a marker boundary,
 * that holds no whole marker (a byte 0, an unknown code, a marker that LIMIT cuts). */
uint32_t lz_markers_end(const uint8_t *mem, uint32_t from, uint32_t limit);

#endif
