/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard tree --at: the part of the tree around an instant. */
#ifndef LIZARD_CMDS_TREE_AT_H
#define LIZARD_CMDS_TREE_AT_H

#include <cmds/ask/asking.h>

/* DEPTH levels below the activation that runs at the instant AT, LIMIT lines before and behind it;
 * UINT64_MAX: as by default. 0, or -1: lz_error(). */
int lz_tree_print_around(struct lz_asking *asking, const char *at, uint64_t depth, uint64_t limit);

#endif
