/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text for a terminal that comes in pieces, from a recording: no more than text. */
#ifndef LIZARD_TEXT_H
#define LIZARD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* What may be the begin of a character, until the next piece comes. */
struct lz_text_stream {
	char held[33];
	size_t n;
};

/* N BYTES more of it. Line breaks, tabs and, if they are wanted, COLOURS stay; what else could
 * steer a terminal becomes \xHH for each of its bytes. malloced; NULL: no memory. */
char *lz_text_stream(struct lz_text_stream *s, const char *bytes, size_t n, bool colours);

#endif
