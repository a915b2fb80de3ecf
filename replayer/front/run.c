/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resuming, and what a stop is to a debugger: see include/lizard/front.h. */
#include "replayer/front/inside.h"

#include <lizard/error.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static bool at_users(struct lz_front *f, struct lz_front_stop *stop)
{
	const struct lz_regfile *r = lz_front_regs(f);
	const struct lz_front_break *b = r ? lz_front_break_at(f, r->gpr.rip) : NULL;

	if (b) {
		stop->why = LZ_SHOWN_BREAK;
		stop->kind = b->kind;
	}
	return b != NULL;
}

static void at_call(struct lz_front *f, struct lz_front_stop *stop)
{
	stop->why = f->catch.stop == 'e' ? LZ_SHOWN_CALL_ENTRY : LZ_SHOWN_CALL_RETURN;
	stop->nr = f->catch.nr;
}

static enum lz_front_kind watch_kind(char kind)
{
	return kind == 'r' ? LZ_WATCH_READ : kind == 'a' ? LZ_WATCH_ACCESS : LZ_WATCH_WRITE;
}

/* One that the run met at its very end, where the user still wants to be told of what he asked
 * for. */
static void take_interrupt(struct lz_front *f)
{
	switch (f->stop.reason) {
	case LZ_STOP_START:
	case LZ_STOP_END:
	case LZ_STOP_DIVERGED: lz_session_take_interrupt(f->s); break;
	default:
		if (lz_session_take_interrupt(f->s))
			f->stop.reason = LZ_STOP_INTERRUPTED;
		break;
	}
}

void lz_front_stop(struct lz_front *f, struct lz_front_stop *stop)
{
	if (lz_front_tell_program(f)) {
		*stop = (struct lz_front_stop){.why = LZ_SHOWN_EXEC, .signo = SIGTRAP};
		return;
	}
	bool between = f->programs.between;

	f->programs.between = false;
	take_interrupt(f);
	*stop =
	    (struct lz_front_stop){.why = LZ_SHOWN_SIGNAL, .signo = SIGTRAP, .ran = f->run.through};
	switch (f->stop.reason) {
	case LZ_STOP_BREAKPOINT:
		if (f->catch.stop)
			at_call(f, stop);
		else
			at_users(f, stop);
		break;
	case LZ_STOP_WATCH:
		stop->why = LZ_SHOWN_WATCH;
		stop->kind = watch_kind(f->stop.watch_kind);
		stop->addr = f->stop.watch_addr;
		break;
	case LZ_STOP_THREAD_START:
	case LZ_STOP_START: stop->why = LZ_SHOWN_BEGIN; break;
	case LZ_STOP_END: stop->why = LZ_SHOWN_END; break;
	case LZ_STOP_SIGNAL: stop->signo = (int)f->stop.signo; break;
	case LZ_STOP_INTERRUPTED: stop->signo = SIGINT; break;
	case LZ_STOP_EXEC:
	case LZ_STOP_TARGET: /* a move or a failure: no signal, or the end of a reverse-stepi */
	case LZ_STOP_DIVERGED:
		/* another thread than GDB knows to be stepping has no reason to stop */
		stop->signo = f->move.kind == 's' && lz_front_tid(f) == f->move.tid ? SIGTRAP : 0;
		if (f->move.kind == 'c' && at_users(f, stop))
			stop->signo = SIGTRAP;
		break;
	case LZ_STOP_THREAD_END:
	case LZ_STOP_STEP: break;
	}
	/* the debugger has forgotten its step in the program before */
	if (between && stop->why == LZ_SHOWN_SIGNAL && stop->signo == SIGTRAP)
		stop->signo = 0;
}

/* The signal that ended the program, if it did. */
static uint32_t fatal_signal(struct lz_front *f)
{
	uint64_t n = lz_reader_n_events(f->reader);

	for (uint64_t i = n; i > 0 && i + 3 > n; i--) {
		const struct lz_event *ev = lz_reader_event(f->reader, i - 1);

		if (ev && ev->kind == LZ_EV_SIGNAL && ev->flags & LZ_EVF_FATAL)
			return ev->signo;
	}
	return 0;
}

/* Before anything is resumed: at the end, the signal that was fatal. */
void lz_front_first_stop(struct lz_front *f)
{
	uint32_t signo = lz_session_at_end(f->s) ? fatal_signal(f) : 0;

	f->stop.reason = signo ? LZ_STOP_SIGNAL : LZ_STOP_STEP;
	f->stop.signo = signo;
}

static void say_end(struct lz_front *f)
{
	const struct lz_meta *m = lz_reader_meta(f->reader);
	int status = m->exit_status;

	if (m->became && *m->became)
		lz_front_say(f,
		             "The recording ends here: the process goes on as another program "
		             "(lizard-gdb -p %s).",
		             m->became);
	else if (*m->stopped)
		lz_front_say(f, "The recording ends here: %s; the program went on.", m->stopped);
	else if (lz_reader_damage(f->reader))
		lz_front_say(f, "The recording ends here: it is not whole (%s).",
		             lz_reader_damage(f->reader));
	else if (status >= 0 && (status & 0x7f))
		lz_front_say(f, "The recording ends here: signal %d (%s) ended the program.",
		             status & 0x7f, strsignal(status & 0x7f));
	else if (status >= 0)
		lz_front_say(f, "The recording ends here: the program exited with status %d.",
		             status >> 8 & 0xff);
}

/* RC < 0: what was asked for could not be done, or replay went wrong. */
static void finish(struct lz_front *f, int rc)
{
	f->regs.valid = false;
	f->tid = 0;
	if (rc < 0 && lz_session_take_interrupt(f->s)) {
		f->stop.reason = LZ_STOP_INTERRUPTED;
		if (f->move.kind)
			lz_front_say(f, "Interrupted.");
		return;
	}
	if (rc < 0) {
		f->stop.reason = LZ_STOP_TARGET;
		if (f->move.kind)
			f->failure = strdup(lz_error());
		else
			lz_front_say(f, "%s", lz_error());
		return;
	}
	if (f->stop.reason == LZ_STOP_DIVERGED) {
		const char *what = lz_session_divergence(f->s);

		lz_front_say(f, "The replay went another way than the recording: %s",
		             what ? what : lz_error());
	}
	if (f->stop.reason == LZ_STOP_END && !f->div.run)
		say_end(f);
	if (f->stop.reason == LZ_STOP_START && !f->div.run && lz_reader_begins_later(f->reader))
		lz_front_say(f,
		             "The recording begins here: earlier parts of the run were not kept.");
}

/* The debugger goes on in a thread that waits for its turn, and has put a breakpoint where that
 * stands, to go on with a step that others have disturbed. A live thread would meet it at once.
 * In the order of time others come first, and where they run through the same code they would
 * meet it over and over. */
static bool stands_at_break(struct lz_front *f, const struct lz_front_resume *r)
{
	struct user_regs_struct regs;
	struct lz_pos now;

	if (r->how != LZ_RESUME_CONTINUE || r->direction != LZ_FORWARD || r->alone || !r->tid)
		return false;
	lz_session_present(f->s, &now);
	if (now.tid == r->tid || lz_session_thread_regs(f->s, r->tid, &regs) < 0 ||
	    !lz_front_break_at(f, regs.rip))
		return false;
	f->run.waiting_tid = r->tid;
	f->stop = (struct lz_stop){.reason = LZ_STOP_BREAKPOINT, .pos = now};
	return true;
}

/* A search has left the program backwards: to its first instant. */
static int stay_in_program(struct lz_front *f)
{
	uint32_t n;
	const struct lz_program *p = lz_reader_programs(f->reader, &n);

	f->stop.reason = LZ_STOP_START;
	return lz_session_seek(f->s, &p[f->programs.told].begin);
}

static int run(struct lz_front *f, const struct lz_front_resume *r)
{
	int rc = r->direction == LZ_FORWARD && !r->alone ? lz_front_go_to_passed(f) : 0;

	if (rc)
		return rc < 0 ? -1 : 0;
	if (r->how != LZ_RESUME_CONTINUE)
		return lz_front_step(f, r, r->tid ? r->tid : lz_front_tid(f));
	if (f->catch.on)
		return lz_front_run_catching(f, r->direction);
	if (lz_session_run(f->s, r->direction, &f->stop) < 0)
		return -1;
	return f->pass_all && r->direction == LZ_BACKWARD && f->stop.reason == LZ_STOP_EXEC
	           ? stay_in_program(f)
	           : 0;
}

static void disarm(struct lz_front *f)
{
	free(f->armed);
	f->armed = NULL;
}

static void move_armed(struct lz_front *f, const struct lz_front_resume *r)
{
	lz_front_undivert(f);
	f->move.tid = r->tid ? r->tid : lz_front_tid(f);
	int rc = lz_front_move(f, f->armed, f->move.tid);

	disarm(f);
	f->move.kind = r->how == LZ_RESUME_CONTINUE ? 'c' : 's';
	finish(f, rc);
}

void lz_front_pass_signals(struct lz_front *f, uint64_t mask)
{
	f->pass_signals = mask;
}

void lz_front_pass_all_signals(struct lz_front *f, bool pass)
{
	f->pass_all = pass;
}

uint64_t lz_front_passed(const struct lz_front *f)
{
	return f->pass_all ? UINT64_MAX : f->pass_signals;
}

/* A thread-local variable that is not there yet has no address; the debugger learns it at its
 * next stop, be it a hidden one of its own. */
static void say_unseen(struct lz_front *f, const struct lz_front_resume *r)
{
	if (f->run.said_unseen || r->how != LZ_RESUME_CONTINUE || r->direction != LZ_FORWARD ||
	    !lz_front_watches_nowhere(f))
		return;
	f->run.said_unseen = true;
	lz_front_say(f, "A watched thread-local variable is not there yet: what changed it before "
	                "the next stop may have been passed by.");
}

static void move(struct lz_front *f, const struct lz_front_resume *r)
{
	lz_front_undivert(f);
	f->run.back = r->how == LZ_RESUME_CONTINUE && r->direction == LZ_BACKWARD;
	say_unseen(f, r);
	/* While stepping, signals are GDB's business: it steps over their handlers. */
	lz_session_pass_signals(f->s, r->how == LZ_RESUME_CONTINUE ? lz_front_passed(f) : 0);
	f->tid = 0;
	lz_front_breaks_retry(f);
	memset(&f->stop, 0, sizeof f->stop);
	finish(f, stands_at_break(f, r) ? 0 : run(f, r));
}

static void resume(struct lz_front *f, const struct lz_front_resume *r)
{
	f->catch.stop = 0;
	f->move.kind = 0;
	f->div.stepped_tid = f->run.waiting_tid = 0;
	f->regs.valid = f->run.through = f->run.back = false;
	if (f->armed && r->direction == LZ_BACKWARD) {
		move_armed(f, r);
		return;
	}
	disarm(f);
	lz_front_forget_outcome(f);
	switch (r->direction == LZ_FORWARD ? lz_front_divert_fate(f) : LZ_FATE_MOVE) {
	case LZ_FATE_CALL:
		if (r->alone && r->tid && r->tid != f->div.tid)
			finish(f, lz_front_divert_step_other(f, r->tid));
		else
			finish(f, lz_front_divert_run(f, r->how != LZ_RESUME_CONTINUE));
		break;
	case LZ_FATE_MOVE: move(f, r); break;
	case LZ_FATE_REFUSED:
		lz_front_undivert(f);
		f->stop.reason = LZ_STOP_TARGET;
		break;
	}
}

/* ---- conditions ---- */

void lz_front_heed_conditions(struct lz_front *f, enum lz_front_heed heed)
{
	f->heed = heed;
	f->continued = false;
}

/* A step over a breakpoint begins a continue as well as a `step`. It is one instruction, from FROM on;
 * where that calls or returns, the debugger may go on to a breakpoint of its own. */
static bool only_over_breakpoint(struct lz_front *f, const struct lz_front_resume *r, uint64_t from)
{
	enum { INSN_MAX = 15 };
	const struct lz_regfile *regs = lz_front_regs(f);

	return r->how == LZ_RESUME_STEP && r->alone && regs && regs->gpr.rip - from - 1 < INSN_MAX;
}

/* R, a step, was made from FROM on. */
static void heed_less(struct lz_front *f, const struct lz_front_resume *r, uint64_t from)
{
	if (f->continued ? f->heed == LZ_HEED_FIRST : !only_over_breakpoint(f, r, from))
		f->heed = LZ_HEED_NEVER;
}

void lz_front_resume(struct lz_front *f, const struct lz_front_resume *r)
{
	bool continues = r->how == LZ_RESUME_CONTINUE;
	bool steps = f->heed && !continues;
	const struct lz_regfile *regs = steps ? lz_front_regs(f) : NULL;
	uint64_t from = regs ? regs->gpr.rip : 0;

	/* the debugger goes on by itself once it knows the program */
	if (f->programs.between)
		return;
	lz_front_breaks_heed(f, f->heed && continues);
	resume(f, r);
	if (steps)
		heed_less(f, r, from);
	else
		f->continued = true;
}

void lz_front_not_resumed(struct lz_front *f)
{
	disarm(f);
	f->move.kind = 0;
	f->tid = f->run.waiting_tid = 0;
	f->regs.valid = false;
	f->stop.reason = LZ_STOP_INTERRUPTED;
}
