/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The width of the add behind each marker instruction.
 *
 *   41 c6 07 CODE      movb $CODE, (%r15)     a site (lz_cfg_site.addr)
 *   66 41 83 c7 SIZE   addw $SIZE, %r15w
 *
 * As compiled it is 16 bits wide, so that an untraced program's pointer stays in the sink. With
 * REX.W in the prefix 41, which is 49 then, the operand size prefix 66 is without effect, and the
 * same five bytes are addq $SIZE, %r15 (Intel SDM vol. 2A, 2.2.1.2). While a program is recorded
 * and replayed it has the wide ones; a debugger is shown the file's. */
#ifndef LIZARD_WIDEN_H
#define LIZARD_WIDEN_H

#include <stddef.h>
#include <stdint.h>

enum { LZ_ADD_NARROW = 0x41, LZ_ADD_WIDE = 0x49 };
enum { LZ_SITE_LEN = 9, LZ_SITE_PREFIX = 5 }; /* the prefix's offset in a site */

/* Where in the LEN bytes at CODE the first marker with such an add is, wide or not, from offset
 * FROM on; LEN: nowhere. */
size_t lz_widen_next(const uint8_t *code, size_t len, size_t from);
/* CODE was read from FILE's offset OFFSET as far as that was not changed: what is wide there and
 * not in the file is shown as it is in the file. */
void lz_widen_hide(uint8_t *code, size_t len, int file, uint64_t offset);

#endif
