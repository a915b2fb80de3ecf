/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events that runs look for: signals, where one stops, and those that change mappings. */
#include "replayer/session/session.h"
#include <common/base/array.h>
#include <lizard/error.h>

bool lz_session_tells(const struct lz_session *s, const struct lz_event *ev)
{
	if (ev->kind != LZ_EV_SIGNAL)
		return false;
	if (ev->flags & LZ_EVF_FATAL)
		return true;
	return !(ev->flags & LZ_EVF_IGNORED) &&
	       !(ev->signo < 64 && s->pass_signals >> ev->signo & 1);
}

static int add(struct lz_event_list *l, uint64_t event)
{
	if (lz_reserve(l->v, l->room, l->n + 1) < 0)
		return -1;
	l->v[l->n++] = event;
	return 0;
}

static int sort(struct lz_session *s, const struct lz_event *ev)
{
	if (ev->kind == LZ_EV_SIGNAL)
		return add(&s->signals, ev->index);
	return ev->n_ops || ev->flags & LZ_EVF_REBASE ? add(&s->remaps, ev->index) : 0;
}

/* Reads all events that may be of interest, once. */
static int collect(struct lz_session *s)
{
	uint64_t n = lz_reader_n_events(s->rp.reader);

	if (s->listed)
		return 0;
	s->signals.n = s->remaps.n = 0;
	for (uint64_t i = lz_reader_first_event(s->rp.reader);
	     (i = lz_reader_event_telling(s->rp.reader, i)) < n; i++) {
		const struct lz_event *ev = lz_reader_event(s->rp.reader, i);

		if (!ev || sort(s, ev) < 0)
			return -1;
	}
	s->listed = true;
	return 0;
}

/* How many of the list come before EVENT. */
static size_t before(const struct lz_event_list *l, uint64_t event)
{
	return lz_lower_bound(i, l->n, l->v[i] < event);
}

int lz_session_signal_before(struct lz_session *s, uint64_t event, uint64_t *one_more)
{
	const struct lz_checkpoint *ck = lz_reader_checkpoint(s->rp.reader, 0);
	uint64_t first = ck ? ck->pos.event : UINT64_MAX;

	*one_more = 0;
	if (collect(s) < 0)
		return -1;
	for (size_t i = before(&s->signals, event); i > 0 && s->signals.v[i - 1] >= first; i--) {
		const struct lz_event *ev = lz_reader_event(s->rp.reader, s->signals.v[i - 1]);

		if (!ev)
			return -1;
		if (lz_session_tells(s, ev)) {
			*one_more = ev->index + 1;
			break;
		}
	}
	return 0;
}

static bool remaps_watched(const struct lz_session *s, const struct lz_event *ev)
{
	for (size_t i = 0; i < s->n_watches; i++)
		if (lz_watch_remapped(&s->watches[i], ev))
			return true;
	return false;
}

int lz_session_remapped_between(struct lz_session *s, uint64_t from, uint64_t to)
{
	if (collect(s) < 0)
		return -1;
	for (size_t i = before(&s->remaps, from); i < s->remaps.n && s->remaps.v[i] < to; i++) {
		const struct lz_event *ev = lz_reader_event(s->rp.reader, s->remaps.v[i]);

		if (!ev)
			return -1;
		if (remaps_watched(s, ev))
			return 1;
	}
	return 0;
}
