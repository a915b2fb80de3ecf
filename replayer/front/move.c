/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moves that GDB has no name for: armed, and carried out by the next reverse resume.
 *
 * Where a thread matters it is the one that the resume is of.
 *
 * Only a reverse resume will do, for forward moves too: a forward one GDB would take for its
 * step over a breakpoint, and run on. A reverse-continue is answered without a signal, "Program
 * stopped."; a reverse-stepi as a step, so that the user sees the new place as after `step`. */
#include "replayer/front/inside.h"
#include "replayer/session/session.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* The instant right after N events. */
static int seek_event(struct lz_front *f, uint64_t n)
{
	if (n == 0 || n == lz_reader_first_event(f->reader))
		return lz_session_seek_start(f->s);
	if (n > lz_reader_n_events(f->reader))
		return lz_fail("the recording has only %lu events",
		               (unsigned long)lz_reader_n_events(f->reader));
	const struct lz_event *ev = lz_reader_event(f->reader, n - 1);

	if (!ev)
		return -1;
	struct lz_pos pos = {.tid = 0, .n = 1, .event = n, .marker = ev->marker, .ip = ev->ip};

	if (ev->has_regs)
		pos.ip = ev->regs.rip;
	return lz_session_seek(f->s, &pos);
}

/* Of a run without markers: of its events. */
static int seek_share_of_events(struct lz_front *f, double percent)
{
	uint64_t first = lz_reader_first_event(f->reader);
	double wanted = percent / 100 * (double)lz_reader_n_events(f->reader);
	uint64_t n = (uint64_t)wanted + ((double)(uint64_t)wanted < wanted);

	if (n >= lz_session_events(f->s))
		return lz_session_seek_end(f->s);
	return seek_event(f, n > first ? n : first);
}

static int seek_percent(struct lz_front *f, double percent)
{
	uint64_t total;

	lz_session_time(f->s, &total);
	if (percent >= 100)
		return lz_session_seek_end(f->s);
	if (!total)
		return seek_share_of_events(f, percent);
	return lz_session_seek_time(f->s, (uint64_t)(percent / 100 * (double)total));
}

static int jump(struct lz_front *f, const struct lz_front_move *m, uint32_t tid)
{
	if (lz_session_jump(f->s, m->direction, m->any_thread ? 0 : tid, m->addrs, m->n_addrs,
	                    &f->stop) < 0)
		return -1;
	if (f->stop.reason == LZ_STOP_INTERRUPTED)
		lz_front_say(f, "Interrupted.");
	return 0;
}

/* To the last instant of a thread that does not run now: its registers are the same as now. */
static int enter(struct lz_front *f, uint32_t tid)
{
	struct lz_pos pos;
	int rc = lz_session_turn(f->s, tid, LZ_BACKWARD, &pos);

	if (rc > 0)
		return lz_fail("thread %u has not run before", tid);
	return rc < 0 ? -1 : lz_session_seek(f->s, &pos);
}

/* N times; anything but a plain step ends it, as it ends `step 10`. */
static int back(struct lz_front *f, uint64_t n, uint32_t tid,
                int (*once)(struct lz_session *, struct lz_stop *))
{
	if (n && enter(f, tid) < 0)
		return -1;
	f->stop.reason = LZ_STOP_TARGET;
	for (; n > 0; n--) {
		if (once(f->s, &f->stop) < 0)
			return -1;
		if (f->stop.reason != LZ_STOP_STEP && f->stop.reason != LZ_STOP_TARGET)
			return 0;
	}
	f->stop.reason = LZ_STOP_TARGET; /* answered without a signal */
	return 0;
}

int lz_front_move(struct lz_front *f, const struct lz_front_move *m, uint32_t tid)
{
	memset(&f->stop, 0, sizeof f->stop);
	lz_session_pass_signals(f->s, f->pass_signals);
	lz_session_skip(f->s, f->skips);
	lz_front_breaks_retry(f);
	f->stop.reason = LZ_STOP_TARGET;
	switch (m->kind) {
	case LZ_MOVE_HERE: f->s->signal_told = 0; return 0;
	case LZ_MOVE_START: return lz_session_seek_start(f->s);
	case LZ_MOVE_END: return lz_session_seek_end(f->s);
	case LZ_MOVE_PERCENT: return seek_percent(f, m->percent);
	case LZ_MOVE_TIME: return lz_session_seek_time(f->s, m->n);
	case LZ_MOVE_EVENT: return seek_event(f, m->n);
	case LZ_MOVE_POSITION: return lz_session_seek(f->s, &m->pos);
	case LZ_MOVE_JUMP: return jump(f, m, tid);
	case LZ_MOVE_BACK_STEP: return back(f, m->n, tid, lz_session_back_step);
	case LZ_MOVE_BACK_NEXT: return back(f, m->n, tid, lz_session_back_next);
	case LZ_MOVE_UNDO: return lz_front_undo(f, LZ_BACKWARD, m->n);
	case LZ_MOVE_REDO: return lz_front_undo(f, LZ_FORWARD, m->n);
	case LZ_MOVE_ACCESS: return lz_front_access(f, m);
	case LZ_MOVE_ORIGIN: return lz_front_origin(f, m);
	}
	return lz_fail("unknown move %d", (int)m->kind);
}

/* After how many events the global time is T. */
static uint64_t event_at(struct lz_front *f, uint64_t t)
{
	return lz_reader_event_after_marker(f->reader, t);
}

/* After how many events a move ends that is not made within a program. */
static uint64_t ends_at(struct lz_front *f, const struct lz_front_move *m)
{
	uint64_t total;

	switch (m->kind) {
	case LZ_MOVE_START: return 0;
	case LZ_MOVE_END: return UINT64_MAX;
	case LZ_MOVE_TIME: return event_at(f, m->n);
	case LZ_MOVE_EVENT: return m->n;
	case LZ_MOVE_POSITION: return m->pos.event;
	case LZ_MOVE_PERCENT:
		lz_session_time(f->s, &total);
		return event_at(f, (uint64_t)(m->percent / 100 * (double)total));
	default:
		return lz_reader_programs(f->reader, &(uint32_t){0})[lz_session_program(f->s)].from;
	}
}

void lz_front_crosses(struct lz_front *f, struct lz_pos *begin)
{
	uint32_t n, to;

	begin->n = 0;
	if (!f->armed || f->programs.n < 2)
		return;
	to = lz_reader_program_at(f->reader, ends_at(f, f->armed));
	if (to != lz_session_program(f->s))
		*begin = lz_reader_programs(f->reader, &n)[to].begin;
}

int lz_front_arm(struct lz_front *f, const struct lz_front_move *m)
{
	struct lz_front_move *copy = malloc(sizeof *copy);

	if (!copy)
		return lz_fail("out of memory for a move");
	*copy = *m;
	free(f->armed);
	f->armed = copy;
	lz_front_forget_outcome(f);
	return 0;
}
