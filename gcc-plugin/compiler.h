/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which GCC a driver starts, and whether Lizard has a plugin for it. */
#ifndef LIZARD_CC_COMPILER_H
#define LIZARD_CC_COMPILER_H

#include <stdbool.h>

/* What is asked for by OPTION (--gcc=N or --gcc=PATH, or NULL), by SELF (the driver's name, as
 * lizard-gcc-14) or by LIZARD_GCC; else the system's GCC. */
const char *lz_cc_choose(const char *option, const char *self, bool cxx);

/* The path of the program NAME, never this program's own; NULL with errno. */
char *lz_cc_find(const char *name);

/* LIB's folder with the plugin for the GCC at PATH; NULL if there is none, which is said. */
char *lz_cc_plugin_dir(const char *lib, const char *path);

/* The versions that have a plugin in LIB, for people: "12, 14". */
char *lz_cc_supported(const char *lib);

#endif
