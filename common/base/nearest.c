/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/base/nearest.h>

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* How many letters have to be put in, left out, replaced, or exchanged with the next one. Both are
 * shorter than LZ_NEAREST_NAME. */
static unsigned distance(const char *a, const char *b)
{
	const size_t m = strlen(a), n = strlen(b);
	unsigned rows[3][LZ_NEAREST_NAME], *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t k = 0; k <= n; k++)
		above[k] = (unsigned)k;
	for (size_t i = 1; i <= m; i++) {
		row[0] = (unsigned)i;
		for (size_t k = 1; k <= n; k++) {
			row[k] = least(above[k - 1] + !is_same(a[i - 1], b[k - 1]),
			               least(above[k], row[k - 1]) + 1);
			if (i > 1 && k > 1 && is_same(a[i - 1], b[k - 2]) &&
			    is_same(a[i - 2], b[k - 1]))
				row[k] = least(row[k], before[k - 2] + 1);
		}
		unsigned *free_row = before;
		before = above;
		above = row;
		row = free_row;
	}
	return above[n];
}

void lz_nearest_see(struct lz_nearest *n, const char *name)
{
	const size_t len = strlen(n->word);

	if (len >= LZ_NEAREST_NAME || strlen(name) >= LZ_NEAREST_NAME)
		return;
	const unsigned d = distance(n->word, name);
	/* of three letters one may be wrong */
	if (3 * d > len || (*n->name && d >= n->distance))
		return;
	n->distance = d;
	strcpy(n->name, name);
}
