/* Text that comes from outside (names in a recording, what a program calls itself), for a terminal. */
#ifndef LIZARD_COMMON_PRINTABLE_H
#define LIZARD_COMMON_PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

enum { LZ_PRINTABLE = 9 };

/* The next byte at *S, which is no 0, into OUT; a control character, with which a terminal could be steered, as \xHH for each of
 * its bytes (C1's, which UTF-8 has as c2 80 to c2 9f, have two) unless KEEP has it. Moves *S behind it; how long OUT is. */
unsigned lz_printable(const char **s, const char *keep, char out[LZ_PRINTABLE]);

/* All of S to a stream, or into a buffer of SIZE bytes, cut where it is full. */
void lz_put_printable(FILE *to, const char *s, const char *keep);
void lz_copy_printable(char *to, size_t size, const char *s, const char *keep);

#endif
