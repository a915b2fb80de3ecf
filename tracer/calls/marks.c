/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks that the program makes: <lizard.h>. Their texts are logged as if the kernel had written
 * them, which changes nothing: they are there already. */
#include "tracer/calls/calls.h"
#include "tracer/log/log.h"

#include <errno.h>
#include <lizard/mark.h>

bool lz_answer_mark(struct lz_tracer *t, int64_t *result)
{
	const struct lz_call *c = &t->cur->call;
	uint64_t len = c->args[2] < LIZARD_MARK_MOST ? c->args[2] : LIZARD_MARK_MOST;
	char text[LIZARD_MARK_MOST];

	if (!lz_is_mark(c->nr, c->args))
		return false;
	*result = (int64_t)len;
	if (len && lz_proc_read_some(&t->p, c->args[1], text, len) != len)
		*result = -EFAULT;
	return true;
}

int lz_mark_note(struct lz_tracer *t, int64_t result)
{
	const struct lz_call *c = &t->cur->call;

	return result > 0 && lz_is_mark(c->nr, c->args)
	           ? lz_build_read(t, c->args[1], (uint64_t)result)
	           : 0;
}
