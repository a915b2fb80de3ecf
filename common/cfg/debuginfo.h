/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef LIZARD_DEBUGINFO_H
#define LIZARD_DEBUGINFO_H

#include <stdbool.h>

struct lz_debug_look {
	bool inside; /* the file has units that may name source files */
	char *link;  /* the name of the file that has them instead, "": none; malloced */
};
/* -1: no memory. What is no ELF file has neither. */
int lz_debug_look(int fd, struct lz_debug_look *look);
/* Is there such a file, of the name LINK, beside PATH? */
bool lz_debug_is_beside(const char *path, const char *link);

#endif
