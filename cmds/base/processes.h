/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes of a recording: the first one, and those that --follow has recorded below it. */
#ifndef LIZARD_CMDS_PROCESSES_H
#define LIZARD_CMDS_PROCESSES_H

#include <cmds/base/catalog.h>

struct lz_processes {
	struct lz_entry *v; /* parents before their children, in the order in which they began */
	unsigned *depth;    /* 0: the first one, or one whose parent is not recorded */
	size_t n;
};

/* Without their sizes. */
int lz_processes_read(struct lz_processes *p, const char *recording);
/* Their sizes. */
void lz_processes_measure(struct lz_processes *p);
void lz_processes_free(struct lz_processes *p);
/* The recording of the process with this id, or the only one of a program with this name. malloced;
 * NULL: lz_error() says which there are. */
char *lz_process_find(const char *recording, const char *pid_or_name);

#endif
