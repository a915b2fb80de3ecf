/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/base/array.h>

#include <stdlib.h>
#include <lizard/error.h>

enum { FEWEST = 16 };

static int resize(void **array, size_t n, size_t size)
{
	void *v = reallocarray(*array, n, size);

	if (!v)
		return lz_fail("out of memory");
	*array = v;
	return 0;
}

int lz_array_reserve(void **array, size_t *room, size_t n, size_t size, size_t max)
{
	size_t more = *room < FEWEST / 2 ? FEWEST : *room > max / 2 ? max : 2 * *room;

	if (n > max)
		return lz_fail("out of memory");
	if (more < n)
		more = n;
	if (resize(array, more, size) < 0)
		return -1;
	*room = more;
	return 0;
}

int lz_array_extend(void **array, size_t n, size_t size)
{
	return n & (n - 1) ? 0 : resize(array, n ? 2 * n : 1, size);
}
