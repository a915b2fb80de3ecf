/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is text for a terminal, character by character. common/base/print.h prints whole lines by it. */
#ifndef LIZARD_COMMON_PRINTABLE_H
#define LIZARD_COMMON_PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

enum { LZ_PRINTABLE = 33 };

/* The next character at *S, which is no 0, into OUT. What could steer a terminal becomes \xHH for
 * each of its bytes: control characters (C0, DEL, C1), what is no UTF-8 (a byte alone may be a C1
 * one to a terminal), and what turns the direction of text or ends a line. KEEP has the control
 * characters that stay; an ESC in it stands for whole sequences that set a colour. Moves *S
 * behind the character; how long OUT is. */
unsigned lz_printable(const char **s, const char *keep, char out[LZ_PRINTABLE]);

/* All of S to a stream, or into a buffer of SIZE bytes, cut where it is full. */
void lz_put_printable(FILE *to, const char *s, const char *keep);
void lz_copy_printable(char *to, size_t size, const char *s, const char *keep);
/* On one line. malloced; NULL: no memory. */
char *lz_dup_printable(const char *s);

#endif
