/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GDB on a recording, without a user: for what only GDB can read, as values of a program's types. */
#ifndef LIZARD_REPLAYER_GDB_BATCH_H
#define LIZARD_REPLAYER_GDB_BATCH_H

#include <stdio.h>

/* In a forked child: becomes lizard-gdb, in a process group of its own, at the end of the recording
 * DIR. GDB carries out COMMAND, has the N descriptors KEPT, and prints to nobody; its errors go to
 * SAID. */
_Noreturn void lz_gdb_batch(const char *dir, const char *command, const int *kept, int n, int said);

/* An empty file without a name, NULL: lz_error(). */
FILE *lz_gdb_batch_file(const char *name);
/* The last line of the file SAID, which tells why GDB failed. malloced; NULL: there is none. */
char *lz_gdb_batch_reason(FILE *said);

#endif
