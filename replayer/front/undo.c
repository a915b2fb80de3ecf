/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The user's last moves, taken back and made again: see include/lizard/front.h. */
#include "replayer/front/inside.h"
#include "replayer/session/session.h"

#include <lizard/error.h>
#include <string.h>

/* Of the places FROM to TO. */
static void drop_copies(struct lz_front_places *p, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		lz_engine_free(p->v[i].copy);
		p->v[i].copy = NULL;
	}
}

void lz_front_forget_places(struct lz_front *f)
{
	drop_copies(&f->places, 0, f->places.n);
	f->places.n = f->places.at = 0;
}

/* The N oldest. */
static void forget(struct lz_front_places *p, size_t n)
{
	drop_copies(p, 0, n);
	memmove(p->v, p->v + n, (p->n - n) * sizeof *p->v);
	p->n -= n;
	p->at -= n;
}

/* Up to the oldest one with a copy, if there are as many as may be. */
static void make_room(struct lz_front_places *p)
{
	size_t copies = 0, oldest = 0;

	for (size_t i = p->n; i-- > 0;)
		if (p->v[i].copy) {
			copies++;
			oldest = i;
		}
	if (copies >= LZ_FRONT_COPIES)
		forget(p, oldest + 1);
	else if (p->n > LZ_FRONT_MOVES)
		forget(p, 1);
}

/* Behind the present one, instead of what was there. */
static void add(struct lz_front_places *p, const struct lz_front_place *place)
{
	if (p->n) {
		drop_copies(p, p->at + 1, p->n);
		p->n = p->at + 1;
		make_room(p);
	}
	p->v[p->n++] = *place;
	p->at = p->n - 1;
}

/* Where counting would take long: a copy, or, right before the event that ends a long gap, nothing
 * but that. */
static struct lz_front_place place(struct lz_front *f)
{
	struct lz_front_place now = {.moves = f->s->moves};

	lz_session_known(f->s, &now.pos);
	if (!now.pos.n && !lz_session_uncounted(f->s) && !(now.copy = lz_engine_fork(f->s->e)))
		lz_session_where(f->s, &now.pos);
	return now;
}

/* Has A, which may be counted by now, become the present place? */
static bool is_here(struct lz_front *f, const struct lz_front_place *a)
{
	struct lz_pos was = a->pos, now;

	if (a->copy && a->moves == f->s->moves)
		return true;
	lz_session_known(f->s, &now);
	if (!now.n && !lz_session_uncounted(f->s))
		return false;
	if (!a->copy && (!was.n || !now.n))
		was.n = now.n;
	return lz_pos_same(&was, &now);
}

static int go_to(struct lz_front *f, struct lz_front_place *place)
{
	const struct lz_event *ev = lz_reader_event(f->reader, place->pos.event);
	struct lz_pos to = place->pos;

	if (place->copy) {
		int ret = lz_session_to_copy(f->s, place->copy);
		place->moves = f->s->moves;
		return ret;
	}
	if (!to.n && (!ev || ev->flags & LZ_EVF_FATAL))
		return lz_session_seek_end(f->s);
	if (!to.n && lz_session_before_event(f->s, ev, &to) != 0)
		return -1;
	return lz_session_seek(f->s, &to);
}

void lz_front_here(struct lz_front *f, bool *returned)
{
	struct lz_front_places *p = &f->places;

	if (!p->n || !is_here(f, &p->v[p->at])) {
		struct lz_front_place now = place(f);
		add(p, &now);
	}
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
