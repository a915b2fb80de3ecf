/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The intervals of the recording: what lies between two checkpoints. */
#include "replayer/front/inside.h"

#include <common/base/print.h>
#include <lizard/error.h>

char *lz_front_intervals(struct lz_front *f)
{
	const uint32_t n = lz_reader_n_checkpoints(f->reader);
	char *text = NULL, where[LZ_POS_TEXT];
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		const struct lz_checkpoint *ck = lz_reader_checkpoint(f->reader, i);
		if (!ck)
			continue;
		lz_pos_print(&ck->pos, where);
		lz_print(to, "%s %lu %lu %lu %u\n", where, (unsigned long)ck->pos.event,
		         (unsigned long)ck->pos.marker, (unsigned long)ck->time_ns, ck->n_dirty);
	}
	fclose(to);
	return text;
}
