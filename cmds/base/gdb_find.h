/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which GDB is started, and what it is. -1: failed. */
#ifndef LIZARD_CMDS_GDB_FIND_H
#define LIZARD_CMDS_GDB_FIND_H

#include <limits.h>

#ifdef LIZARD_PACKAGED
#define GET_PATCHED "the package lizard-gdb"
#else
#define GET_PATCHED "`make gdb`"
#endif

enum lz_front_end { LZ_FRONT_ANY, LZ_FRONT_STOCK, LZ_FRONT_PATCHED };

/* What LIZARD_FRONT_END asks for. */
int lz_gdb_front_end(enum lz_front_end *f);
/* The path of this program. */
int lz_gdb_self(char self[PATH_MAX]);
/* NAME in the directory of Lizard's files: ../lib/lizard as seen from the program. */
int lz_gdb_part(const char *self, const char *name, int mode, char path[PATH_MAX]);
/* NAMED: a stock GDB, NULL: by default. Decides on the front end if that is open. */
int lz_gdb_find(enum lz_front_end *front_end, const char *named, const char *self,
                char path[PATH_MAX]);
/* The first line of what GDB says of itself. */
int lz_gdb_version(const char *gdb, char line[200]);
/* The major version of the one that is started by default; 0: it is not known. */
unsigned lz_gdb_major(void);
/* 0: it speaks the Debug Adapter Protocol. */
int lz_gdb_has_adapter(const char *gdb);

#endif
