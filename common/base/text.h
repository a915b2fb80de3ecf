/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as people read them, and texts as JSON takes them. */
#ifndef LIZARD_COMMON_TEXT_H
#define LIZARD_COMMON_TEXT_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

enum { LZ_TEXT = 48 };
/* "12.3 MiB" */
const char *lz_text_size(uint64_t bytes, char buf[LZ_TEXT]);
/* "1.23 s", "2:03:04" */
const char *lz_text_duration(uint64_t ns, char buf[LZ_TEXT]);
/* "2026-11-20 23:52:36", local time */
const char *lz_text_time(uint64_t seconds, char buf[LZ_TEXT]);
/* "exit 3", "signal 11 (SEGV)", "unknown": a status as waitpid gives it */
const char *lz_text_status(int status, char buf[LZ_TEXT]);
/* The same in a sentence: "exit status 3", "killed by SIGSEGV", "killed by signal 40" */
const char *lz_text_ending(int status, char buf[LZ_TEXT]);
/* "SEGV", or the number */
const char *lz_text_signal(int signo, char buf[LZ_TEXT]);

/* How many columns S takes where it is printed. */
unsigned lz_text_columns(const char *s);
/* Prints S on one line, no more than COLUMNS characters of it (0: all). */
void lz_text_print_cut(const char *s, unsigned columns);

/* A JSON string; bytes that are not UTF-8 become \xHH. */
json_t *lz_json_text(const char *s);
json_t *lz_json_hex(uint64_t v);
/* Sets exit_status, or signal, of a status as waitpid gives it; the other one, or both of -1,
 * become null. */
void lz_json_status(json_t *o, int status);
/* Prints one line and drops the reference. -1 if V is NULL (no memory) or the stream is broken. */
int lz_json_write(FILE *to, json_t *v);
/* To stdout. */
int lz_json_print(json_t *v);

/* "10", "10K", "1.5G" in bytes; "90s", "30m", "12h", "7d", "2w" in seconds. -1: lz_error(). */
int lz_parse_size(const char *text, uint64_t *bytes);
int lz_parse_duration(const char *text, uint64_t *seconds);

/* Flushes stdout; the exit status: STATUS, or 1 with a message if it could not be written. */
int lz_finish_output(int status);

#endif
