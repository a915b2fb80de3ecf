/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hash map from page addresses to page contents. */
#ifndef LIZARD_PAGEMAP_H
#define LIZARD_PAGEMAP_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty. */
struct lz_pagemap {
	struct lz_pagemap_slot {
		uint64_t key; /* page number + 1, 0: free */
		uint8_t *page;
	} * slot;
	size_t cap, used; /* used counts removed ones too */
};

/* NULL if absent or removed. */
uint8_t *lz_pagemap_get(const struct lz_pagemap *m, uint64_t addr);
/* Where the page's pointer is kept, NULL inside if new; NULL if there is no memory. Setting the
 * pointer to NULL removes the page. Valid until the next call. */
uint8_t **lz_pagemap_at(struct lz_pagemap *m, uint64_t addr);
/* Calls FN for each page of [FROM, TO), in no order, until it is not 0, and returns that. FN does
 * not change the map. */
int lz_pagemap_each(const struct lz_pagemap *m, uint64_t from, uint64_t to,
                    int (*fn)(void *arg, uint64_t addr, uint8_t *page), void *arg);
/* The pages themselves belong to the caller. */
void lz_pagemap_free(struct lz_pagemap *m);

#endif
