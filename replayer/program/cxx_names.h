/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The linker's names of C++ functions, made readable. */
#ifndef LIZARD_REPLAYER_CXX_NAMES_H
#define LIZARD_REPLAYER_CXX_NAMES_H

/* "int most<int>(int, int)"; malloced. NULL: it is no such name, or one that repeats itself so often
 * that it may become too long. Names are untrusted. */
char *lz_cxx_demangled(const char *name);
/* "int most<int>(int, int)" becomes "most<int>", as a user types it. */
void lz_cxx_shorten(char *name);

#endif
