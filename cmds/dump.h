/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard dump: one file for each part of a recording. */
#ifndef LIZARD_CMDS_DUMP_H
#define LIZARD_CMDS_DUMP_H

#include <stdbool.h>
#include <lizard/recording.h>

struct lz_dump {
	struct lz_reader *r;
	bool json;
	bool bytes;     /* memory contents too */
	uint64_t limit; /* lines per part */
	uint64_t lines; /* printed of this part */
};

/* Each prints its part: text lines, or one JSON object a line. -1 with lz_error(). */
int lz_dump_events(struct lz_dump *d);
int lz_dump_markers(struct lz_dump *d);
int lz_dump_checkpoints(struct lz_dump *d);

#endif
