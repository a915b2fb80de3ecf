/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads in front of a debugger: see include/lizard/front.h. */
#include "replayer/front/inside.h"
#include "replayer/session/session.h"

#include <common/base/printable.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint32_t lz_front_chosen(const struct lz_front *f)
{
	return f->tid ? f->tid : lz_front_tid(f);
}

int lz_front_threads(struct lz_front *f, struct lz_front_thread **threads, uint32_t *n)
{
	struct lz_thread *t;
	char name[16];

	if (lz_session_threads(f->s, &t, n) < 0)
		return -1;
	*threads = calloc(*n + 1u, sizeof **threads);
	for (uint32_t i = 0; *threads && i < *n; i++) {
		struct lz_front_thread *to = &(*threads)[i];

		to->tid = t[i].tid;
		to->running = t[i].running;
		to->fresh = t[i].fresh;
		lz_front_thread_name(f, t[i].tid, name);
		lz_copy_printable(to->name, sizeof to->name, name, "");
	}
	free(t);
	return *threads ? 0 : lz_fail("out of memory for %u threads", *n);
}

int lz_front_select(struct lz_front *f, uint32_t tid)
{
	struct user_regs_struct r;

	if (tid && tid != lz_front_tid(f) && lz_session_thread_regs(f->s, tid, &r) < 0)
		return -1;
	if (f->tid != tid)
		f->regs.valid = false;
	f->tid = tid;
	return 0;
}

/* ---- stepping one thread ---- */

/* Instructions in [start, end) of a thread that may have to wait for its turn. */
static int step_range(struct lz_front *f, const struct lz_front_resume *r, uint32_t tid)
{
	struct lz_pos now;

	lz_session_present(f->s, &now);
	if (now.tid != tid) {
		int rc = lz_session_step_thread(f->s, tid, r->direction, &f->stop);

		lz_session_present(f->s, &now);
		if (rc < 0 || f->stop.reason != LZ_STOP_STEP || now.tid != tid ||
		    now.ip <= r->start || now.ip >= r->end)
			return rc;
	}
	return lz_session_step_range(f->s, r->direction, r->start, r->end, &f->stop);
}

/* Out of a piece of code, if the thread runs now. In an inlined call handlers run to their ends,
 * as GDB steps over them. */
static int leave(struct lz_front *f, const struct lz_front_resume *r, uint32_t tid)
{
	struct lz_pos now;
	int rc = 1;

	lz_session_present(f->s, &now);
	if (now.tid == tid && !f->catch.on) {
		lz_session_pass_signals(f->s, r->piece.lines ? 0 : lz_front_passed(f));
		rc = (r->direction == LZ_FORWARD ? lz_session_leave : lz_session_leave_back)(
		    f->s, &r->piece, &f->stop);
		lz_session_pass_signals(f->s, 0);
	}
	f->run.through = rc <= 0;
	return f->run.through ? rc : step_range(f, r, tid);
}

static bool is_others(const struct lz_stop *stop, uint32_t tid)
{
	return stop->pos.tid != tid &&
	       (stop->reason == LZ_STOP_BREAKPOINT || stop->reason == LZ_STOP_WATCH ||
	        stop->reason == LZ_STOP_SIGNAL);
}

/* Others have stopped before TID had its turn: to its turn, whatever they meet. 0: the step is
 * still to be made; 1: TID was inside a system call, whose end is the step's, or it has no turn
 * any more. */
static int go_to_turn(struct lz_front *f, uint32_t tid, uint64_t ip)
{
	struct lz_pos turn = {0};
	int rc = lz_session_turn(f->s, tid, LZ_FORWARD, &turn);

	if (rc < 0 || (rc ? lz_session_seek_end(f->s) : lz_session_seek(f->s, &turn)) < 0)
		return -1;
	f->stop = (struct lz_stop){.reason = rc ? LZ_STOP_END : LZ_STOP_STEP, .pos = turn};
	return rc || turn.ip != ip;
}

/* GDB steps over a breakpoint in one thread, and takes it for certain that no other one moves.
 * In the recording they do if they are switched just there; where one of them would have stopped
 * is gone to before the next resume. */
static int step_alone(struct lz_front *f, const struct lz_front_resume *r, uint32_t tid)
{
	struct user_regs_struct regs;
	struct lz_pos from;
	bool passed = false;
	int rc;

	/* it matters only with others */
	if (f->s->e && f->s->e->threads.n > 1)
		lz_session_where(f->s, &from);
	else
		lz_session_present(f->s, &from);
	if (lz_session_thread_regs(f->s, tid, &regs) < 0)
		return -1;
	do {
		rc = lz_session_step_thread(f->s, tid, r->direction, &f->stop);
		if (rc < 0 || !is_others(&f->stop, tid))
			break;
		passed = true;
		rc = go_to_turn(f, tid, regs.rip);
	} while (rc == 0);
	if (rc < 0)
		return -1;
	/* a stop in another thread would be one that GDB asserts not to come */
	if (f->stop.reason == LZ_STOP_INTERRUPTED && f->stop.pos.tid != tid)
		return lz_session_seek(f->s, &from);
	if (f->stop.reason == LZ_STOP_THREAD_END) {
		f->stop.reason = LZ_STOP_END;
		return lz_session_seek_end(f->s);
	}
	if (passed) {
		f->passed.from = from;
		lz_session_where(f->s, &f->passed.to);
	}
	return 0;
}

/* *OVER: a step within an inlined call that the debugger goes over becomes a run out of that.
 * False: R stands. */
static bool goes_over(struct lz_front *f, const struct lz_front_resume *r, uint32_t tid,
                      struct lz_front_resume *over)
{
	if (!lz_over_inlined_step(&f->over, f->s, tid, &over->piece) || r->how != LZ_RESUME_STEP ||
	    r->alone)
		return false;
	over->how = LZ_RESUME_LEAVE;
	over->direction = r->direction;
	over->tid = r->tid;
	over->start = over->piece.range[0].start + 1;
	over->end = over->piece.range[0].end;
	return true;
}

int lz_front_step(struct lz_front *f, const struct lz_front_resume *r, uint32_t tid)
{
	struct lz_front_resume over = {0};
	int rc;

	if (goes_over(f, r, tid, &over))
		r = &over;
	if (r->alone && r->direction == LZ_FORWARD)
		rc = step_alone(f, r, tid);
	else if (r->how == LZ_RESUME_RANGE)
		rc = step_range(f, r, tid);
	else if (r->how == LZ_RESUME_LEAVE)
		rc = leave(f, r, tid);
	else
		rc = lz_session_step_thread(f->s, tid, r->direction, &f->stop);
	/* the others go on */
	if (rc == 0 && f->stop.reason == LZ_STOP_THREAD_END)
		rc = lz_session_run(f->s, LZ_FORWARD, &f->stop);
	return rc;
}

int lz_front_go_to_passed(struct lz_front *f)
{
	struct lz_pos now;
	bool passed = f->passed.to.n != 0;

	lz_session_present(f->s, &now);
	if (passed)
		lz_session_where(f->s, &now);
	passed = passed && memcmp(&now, &f->passed.to, sizeof now) == 0;
	f->passed.to.n = 0;
	if (!passed)
		return 0;
	if (lz_session_seek(f->s, &f->passed.from) < 0 ||
	    lz_session_run(f->s, LZ_FORWARD, &f->stop) < 0)
		return -1;
	return 1;
}
