/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Assembler macros; see macros.cc. */
#ifndef LIZARD_PLUGIN_MACROS_H
#define LIZARD_PLUGIN_MACROS_H

/* Writes what the asm statements of FNDECL, the NUMBER-th function, need. */
void lz_begin_function_macros(tree fndecl, unsigned number);

#endif
