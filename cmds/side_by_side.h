/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of work in processes of their own, as many at a time as there are CPUs. */
#ifndef LIZARD_CMDS_SIDE_BY_SIDE_H
#define LIZARD_CMDS_SIDE_BY_SIDE_H

#include <stddef.h>

struct lz_side_by_side {
	size_t n;
	void *arg;
	/* In such a process, which stays on one CPU. 0: it is done. */
	int (*work)(void *arg, size_t i);
	/* The same in this process, if it was not done. */
	void (*again)(void *arg, size_t i);
};

/* What they print comes in the order of the pieces. With less than two CPUs all is done here. */
void lz_side_by_side(const struct lz_side_by_side *s);

#endif
