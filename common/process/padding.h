/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions that only fill the room between others. */
#ifndef LZ_COMMON_PADDING_H
#define LZ_COMMON_PADDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Are the two bytes at CODE, behind a ret, the beginning of what nobody jumps to? */
bool lz_is_padding(const uint8_t *code);
/* The next padding of one instruction of LEAST bytes or more, behind a ret or a jmp, in the N bytes at
 * CODE, from *AT on, where an instruction begins. *AT: behind it. Where it is; 0: there is none. */
size_t lz_padding(const uint8_t *code, size_t n, size_t least, size_t *at);

#endif
