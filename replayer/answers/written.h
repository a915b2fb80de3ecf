/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program wrote: the calls, and who was active then. */
#ifndef LIZARD_REPLAYER_WRITTEN_H
#define LIZARD_REPLAYER_WRITTEN_H

#include "replayer/answers/event_piece.h"

/* A call that has written. */
struct lz_written {
	uint64_t event, marker;
	uint32_t fd, tid;
	uint32_t thread; /* its number */
	uint32_t *stack; /* functions, innermost first */
	uint32_t n;      /* how many are kept */
	uint64_t depth;  /* how many were active */
};

struct lz_written_list {
	struct lz_written *v;
	size_t n, room;
};

/* The calls of a piece of the run that have written to one of the N descriptors FDS. */
int lz_written_find(struct lz_asked *a, const struct lz_event_piece *p, const uint32_t *fds,
                    size_t n, struct lz_written_list *list);
/* Adds the stacks of the calls from number FROM on, from the markers. */
int lz_written_stacks(struct lz_asked *a, struct lz_written_list *list, size_t from);
void lz_written_free(struct lz_written_list *list);

#endif
