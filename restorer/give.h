/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Giving a replayed process a descriptor. It cannot open anything itself (confine.h): what it maps
 * is opened by the replayer and sent over a socket that the stub was started with. */
#ifndef LIZARD_RESTORER_GIVE_H
#define LIZARD_RESTORER_GIVE_H

#include <lizard/proc.h>

/* The process gets FD, which stays the caller's, too; *TO is its number there. */
int lz_give(struct lz_proc *p, int fd, int64_t *to);
/* Nothing more is given for now: the page that is used for it can no longer be reached. Cheap if
 * nothing was. */
int lz_give_end(struct lz_proc *p);

#endif
