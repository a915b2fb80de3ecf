/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions that store to a variable whose address is a part of them. */
#ifndef LIZARD_REPLAYER_ORIGIN_DIRECT_STORES_H
#define LIZARD_REPLAYER_ORIGIN_DIRECT_STORES_H

#include "replayer/navigate/nav.h"

enum { LZ_DIRECT_STORES = 16 };
struct lz_direct_stores {
	uint64_t pc[LZ_DIRECT_STORES]; /* link-time addresses */
	size_t n;
};

/* All stores of function F of MOD to the scalar variable of LEN bytes at link-time address ADDR. False: it may store by an
 * address that it has in a register, or has too many. */
bool lz_direct_stores_find(struct lz_nav *nav, struct lz_module *mod, const struct lz_cfg_func *f,
                           uint64_t addr, uint64_t len, struct lz_direct_stores *d);

#endif
