/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Printing what comes from outside: a recording, its name, what a program calls itself. All that is
 * shown goes this way; scripts/check-printing finds what does not. */
#ifndef LIZARD_COMMON_PRINT_H
#define LIZARD_COMMON_PRINT_H

#include <stdarg.h>
#include <stdio.h>

/* As fprintf(), but each argument is shown as text of one line (common/base/printable.h). Control
 * characters of the format itself stay. */
void lz_print(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same where arguments may have several lines, as lz_error() has. The further ones are
 * indented, so that none of them can pass for a message of its own. */
void lz_print_lines(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void lz_vprint_lines(FILE *to, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* What that prints. malloced; NULL: no memory. */
char *lz_printed_lines(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

#endif
