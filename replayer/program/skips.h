/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that `step` goes over: the list of GDB's `skip`. */
#ifndef LIZARD_REPLAYER_SKIPS_H
#define LIZARD_REPLAYER_SKIPS_H

#include <stdbool.h>
#include <stdint.h>

struct lz_skips;

/* TEXT has an entry for each word, of four parts with colons between: `file` or `glob`, the pattern in
 * hexadecimal digits, `function` or `regexp`, and its pattern. An empty pattern fits all, but not both of them.
 * NULL: lz_error(). */
struct lz_skips *lz_skips_new(const char *text);
void lz_skips_free(struct lz_skips *s);
/* Is it the list that TEXT makes? */
bool lz_skips_is(const struct lz_skips *s, const char *text);
/* Of each list another number. 0: no list, S is NULL. */
uint64_t lz_skips_number(const struct lz_skips *s);
/* Does step go over FUNCTION, by the name that GDB shows, whose code is of FILE (NULL: not known)? */
bool lz_skips_has(const struct lz_skips *s, const char *function, const char *file);

#endif
