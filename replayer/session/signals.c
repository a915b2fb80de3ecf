/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The signals of a recording: where a run stops. */
#include "replayer/session/session.h"
#include <common/array.h>
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

static int add(struct lz_session *s, uint64_t event)
{
	if (lz_extend(s->signals, s->n_signals) < 0)
		return lz_fail("out of memory for the list of signals");
	s->signals[s->n_signals++] = event;
	return 0;
}

/* Reads all events, once. */
static int collect(struct lz_session *s)
{
	uint64_t n = lz_reader_n_events(s->rp.reader);

	if (s->signals_known)
		return 0;
	s->n_signals = 0;
	for (uint64_t i = lz_reader_first_event(s->rp.reader); i < n; i++) {
		const struct lz_event *ev = lz_reader_event(s->rp.reader, i);

		if (!ev || (ev->kind == LZ_EV_SIGNAL && add(s, i) < 0))
			return -1;
	}
	s->signals_known = true;
	return 0;
}

int lz_session_signal_before(struct lz_session *s, uint64_t event, uint64_t *one_more)
{
	const struct lz_checkpoint *ck = lz_reader_checkpoint(s->rp.reader, 0);
	uint64_t first = ck ? ck->pos.event : UINT64_MAX;

	*one_more = 0;
	if (collect(s) < 0)
		return -1;
	for (size_t i = s->n_signals; i > 0 && s->signals[i - 1] >= first; i--) {
		const struct lz_event *ev;

		if (s->signals[i - 1] >= event)
			continue;
		ev = lz_reader_event(s->rp.reader, s->signals[i - 1]);
		if (!ev)
			return -1;
		if (lz_session_tells(s, ev)) {
			*one_more = s->signals[i - 1] + 1;
			break;
		}
	}
	return 0;
}
