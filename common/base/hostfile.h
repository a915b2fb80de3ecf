/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of this machine that a recording names. */
#ifndef LIZARD_HOSTFILE_H
#define LIZARD_HOSTFILE_H

#include <stdbool.h>

/* Opens the regular file PATH for reading. What is none is not opened at all: a FIFO would hang
 * whoever does, and a device may do something. -1: lz_error(). */
int lz_open_regular(const char *path);
/* Would opening PATH do more than reading a file? False if there is nothing. */
bool lz_is_special(const char *path);

#endif
