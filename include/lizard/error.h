/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors are values with a text for people: what happened, where, what to do.
 *
 * A function that can fail returns -1 (or NULL) after calling lz_fail().
 * The text is per thread and stays until the next lz_fail(). */
#ifndef LIZARD_ERROR_H
#define LIZARD_ERROR_H

/* Sets the error text and returns -1. */
int lz_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* As lz_fail(), with ": " and strerror(errno) behind the text. */
int lz_fail_errno(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Puts "CONTEXT: " before the present text and returns -1. */
int lz_fail_in(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The text; never NULL. Owned by the library. */
const char *lz_error(void);

/* One line "lizard: TEXT" on stderr. */
void lz_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Shown with LIZARD_DEBUG=1 in the environment. */
void lz_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
