/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/origin/return_place.h"

int lz_return_keep(struct lz_session *s, struct lz_return_place *p)
{
	*p = (struct lz_return_place){0};
	lz_session_known(s, &p->pos);
	if (p->pos.n)
		return 0;
	p->copy = lz_engine_fork(s->e);
	return p->copy ? 0 : -1;
}

int lz_return_to(struct lz_session *s, const struct lz_return_place *p)
{
	return p->copy ? lz_session_to_copy(s, p->copy) : lz_session_restore(s, &p->pos);
}

void lz_return_drop(struct lz_return_place *p)
{
	lz_engine_free(p->copy);
	p->copy = NULL;
}
