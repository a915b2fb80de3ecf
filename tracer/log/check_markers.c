/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests: do the markers end where the program's pointer says? */
#include "tracer/log/log.h"

#include <common/recording/markers.h>
#include <lizard/error.h>
#include <stdlib.h>

bool lz_self_check_wanted(void)
{
	static int wanted = -1;

	if (wanted < 0)
		wanted = getenv("LIZARD_TRACE_CHECK") != NULL;
	return wanted;
}

int lz_self_check_failed(struct lz_tracer *t)
{
	kill((pid_t)t->tid, SIGKILL);
	return -1;
}

static int check(struct lz_tracer *t, uint32_t end, uint32_t limit)
{
	const struct lz_stream *s = &t->s;

	if (!lz_self_check_wanted() || lz_markers_end(s->mem, s->parsed, limit) == end)
		return 0;
	lz_fail("self check: the pointer is at offset %#x of the buffer, the markers do not end "
	        "there",
	        end);
	return lz_self_check_failed(t);
}

int lz_self_check_markers(struct lz_tracer *t, uint32_t end)
{
	return check(t, end, LZ_BUFFER_GUARD);
}

int lz_self_check_boundary(struct lz_tracer *t, uint32_t at)
{
	return check(t, at, at);
}
