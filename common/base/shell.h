/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands for a shell, or for who types them. */
#ifndef LIZARD_SHELL_H
#define LIZARD_SHELL_H

/* TEXT as one word, in quotes if it needs them. malloced; NULL: no memory. */
char *lz_shell_word(const char *text);

#endif
