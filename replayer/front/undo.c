/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The user's last moves, taken back and made again: see include/lizard/front.h. */
#include "replayer/front/inside.h"

#include <lizard/error.h>
#include <string.h>

static void add(struct lz_front_places *p, const struct lz_pos *pos)
{
	if (p->at == LZ_FRONT_MOVES) {
		memmove(p->v, p->v + 1, LZ_FRONT_MOVES * sizeof *p->v);
		p->at--;
	}
	p->v[++p->at] = *pos;
	p->n = p->at + 1;
}

void lz_front_here(struct lz_front *f, bool *returned)
{
	struct lz_front_places *p = &f->places;
	struct lz_pos now;

	lz_session_where(f->s, &now);
	if (!p->n)
		p->v[p->n++] = now;
	else if (!lz_pos_same(&p->v[p->at], &now))
		add(p, &now);
	*returned = f->run.back && f->stop.reason == LZ_STOP_START;
}

int lz_front_undo(struct lz_front *f, enum lz_direction d, uint64_t n)
{
	struct lz_front_places *p = &f->places;
	size_t most = d == LZ_BACKWARD ? p->at : p->n ? p->n - 1 - p->at : 0;

	if (!p->n || (n && !most))
		return lz_fail("there is no move to %s",
		               d == LZ_FORWARD ? "make again" : "take back");
	if (n > most)
		n = most;
	size_t at = d == LZ_FORWARD ? p->at + n : p->at - n;
	if (lz_session_seek(f->s, &p->v[at]) < 0)
		return -1;
	p->at = at;
	return 0;
}
