/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The growing arrays of the line tables. */
#include <stdlib.h>
#include <lizard/error.h>
#include "replayer/program/lines_inside.h"

int lines_grow(void **array, size_t *cap, size_t n, size_t size)
{
	size_t want = *cap ? *cap * 2 : 16;
	void *p;

	if (n < *cap)
		return 0;
	p = reallocarray(*array, want, size);
	if (!p)
		return lz_fail("out of memory for line tables");
	*array = p;
	*cap = want;
	return 0;
}
