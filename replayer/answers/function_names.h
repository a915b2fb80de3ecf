/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions by what users call them. */
#ifndef LIZARD_REPLAYER_FUNCTION_NAMES_H
#define LIZARD_REPLAYER_FUNCTION_NAMES_H

#include "replayer/answers/asked.h"

/* WANTED, malloced, of the functions named NAME, added to *WANTED if that is there. NAME is the
 * linker's, or that of C++: parameters, and namespaces and classes in front, may be left out. It
 * means all functions that fit. -1: there is none. */
int lz_functions_named(const struct lz_asked *a, const char *name, uint8_t **wanted);

#endif
