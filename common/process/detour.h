/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What detour.c and detour_place.c share. */
#ifndef LZ_COMMON_DETOUR_H
#define LZ_COMMON_DETOUR_H

#include <common/process/sites.h>

enum { LZ_INT3 = 0xcc };

/* detour.c: into the process, or, while many sites are made, into what is written later. */
int lz_sites_write(struct lz_sites *s, const struct lz_proc *p, uint64_t addr, const void *buf,
                   size_t len);

/* detour_place.c: *PLACE for the detour of a jump at AT, in the memory at *POOL; 0: there is none.
 * BEGINS: 0xff for each byte of the jump's distance that is to be int3. */
int lz_detour_place(struct lz_sites *s, struct lz_proc *p, uint64_t at, uint32_t begins,
                    uint64_t *pool, uint64_t *place);

#endif
