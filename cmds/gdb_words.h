/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of GDB's command line that make it find what a recording brought along. Each function adds
 * to ARGV and returns how many words it added; they live as long as the process. A recording is
 * not trusted: what could steer GDB is left out. */
#ifndef LIZARD_CMDS_GDB_WORDS_H
#define LIZARD_CMDS_GDB_WORDS_H

#include <stdbool.h>

/* The most that all of them add. */
enum { LZ_GDB_WORDS = 96 };

/* Is NAME printed as it is? */
bool lz_gdb_shows(const char *name);
/* TEXT as one word of a command of GDB's, which takes a backslash for itself between quotes as
 * well. malloced. */
char *lz_gdb_word(const char *text);

/* For the source files of a packed recording: two words for each directory of the root, since GDB
 * replaces whole ones. */
int lz_gdb_source_words(const char *pack, const char **argv);
/* For the sources that the recording keeps, if those here are others; says so on stderr. */
int lz_gdb_kept_words(const char *recording, const char **argv);
/* For the separate debug information of a packed recording; sets $LIZARD_GDB_DEBUG. */
int lz_gdb_debug_words(const char *recording, const char **argv);

#endif
