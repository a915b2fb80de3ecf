/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of many names the one that a mistyped word is likely to mean. */
#ifndef LIZARD_COMMON_NEAREST_H
#define LIZARD_COMMON_NEAREST_H

enum { LZ_NEAREST_NAME = 128 };

struct lz_nearest {
	const char *word;
	char name[LZ_NEAREST_NAME]; /* "": none is near enough */
	unsigned distance;
};

/* A struct with nothing but the word is one that has seen no name. Longer names are not looked at. */
void lz_nearest_see(struct lz_nearest *n, const char *name);

#endif
