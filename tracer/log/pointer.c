/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pointer behind the last marker, where the program keeps it between functions:
 * __lizard_pos. */
#include "tracer/log/log.h"

/* Before a handler runs, __lizard_pos must hold the pointer: the stream goes on there. */
int lz_stream_set_pos(struct lz_tracer *t)
{
	uint64_t now = t->s.base + t->s.parsed;

	if (!t->s.mem)
		return 0;
	if (lz_proc_write(&t->p, t->s.pos_addr, &now, sizeof(now)) < 0)
		return -1;
	return lz_build_write(t, t->s.pos_addr, &now, sizeof(now));
}
