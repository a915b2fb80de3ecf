/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The user's last moves, taken back and made again: see include/lizard/front.h. */
#include "replayer/front/inside.h"
#include "replayer/session/session.h"

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

/* n is 0 where it would take long to count: right before the event that ends a long gap. */
static struct lz_pos place(struct lz_front *f)
{
	struct lz_pos now;

	if (lz_session_uncounted(f->s))
		lz_session_present(f->s, &now);
	else
		lz_session_where(f->s, &now);
	return now;
}

/* Has A, which may be counted by now, become B? */
static bool is_same(struct lz_pos a, const struct lz_pos *b)
{
	if (!a.n || !b->n)
		a.n = b->n;
	return lz_pos_same(&a, b);
}

static int go_to(struct lz_front *f, const struct lz_pos *place)
{
	const struct lz_event *ev = lz_reader_event(f->reader, place->event);
	struct lz_pos to = *place;

	if (!to.n && (!ev || ev->flags & LZ_EVF_FATAL))
		return lz_session_seek_end(f->s);
	if (!to.n && lz_session_before_event(f->s, ev, &to) != 0)
		return -1;
	return lz_session_seek(f->s, &to);
}

void lz_front_here(struct lz_front *f, bool *returned)
{
	struct lz_front_places *p = &f->places;
	struct lz_pos now = place(f);

	if (!p->n)
		p->v[p->n++] = now;
	else if (!is_same(p->v[p->at], &now))
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
	if (go_to(f, &p->v[at]) < 0)
		return -1;
	p->at = at;
	return 0;
}
