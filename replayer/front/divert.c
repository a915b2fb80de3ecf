/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diversions: what the debugger changes, and calls of the program's functions, happen in a copy.
 *
 * One `call f("abc")` is several resumes (malloc for the string, then f), so a diversion lives
 * until the user moves in time: until a resume that is not part of a call. A resume is a call's
 * if, at its first resume, the word at the stack pointer is an address with a breakpoint (GDB's
 * return trap) and the stack is deeper than the recorded one; it stays one until GDB sets the
 * stack pointer to above that word, as it does when it restores the registers. They need not be
 * the recorded ones: the user may change some. */
#include "replayer/front/inside.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

int lz_front_divert(struct lz_front *f)
{
	if (f->div.run)
		return 0;
	f->div.run = lz_diversion_new(f->s);
	f->div.tid = lz_front_tid(f);
	f->regs.valid = false;
	f->div.called = f->div.written = false;
	f->div.call_sp = 0;
	if (f->div.run && lz_front_scratch_enter(f) == 0)
		return 0;
	lz_diversion_free(f->div.run);
	f->div.run = NULL;
	return -1;
}

void lz_front_undivert(struct lz_front *f)
{
	if (f->div.run) {
		lz_front_scratch_leave(f);
		lz_diversion_free(f->div.run);
	}
	f->div.run = NULL;
	f->div.called = f->div.written = false;
	f->div.call_sp = 0;
	f->div.stepped_tid = 0;
	f->regs.valid = false;
}

static bool call_begins(struct lz_front *f, const struct user_regs_struct *now,
                        const struct user_regs_struct *recorded)
{
	uint64_t ret = 0;

	return now->rsp < recorded->rsp &&
	       lz_diversion_read(f->div.run, now->rsp, &ret, sizeof ret) == sizeof ret &&
	       lz_front_break_at(f, ret);
}

/* orig_rax is left out: GDB sets it whenever it sets the program counter. */
static bool same_registers(struct user_regs_struct a, struct user_regs_struct b)
{
	a.orig_rax = b.orig_rax;
	return memcmp(&a, &b, sizeof a) == 0;
}

int lz_front_divert_into(struct lz_front *f, uint32_t tid)
{
	if (f->div.tid == tid)
		return 0;
	if (f->div.call_sp)
		return lz_fail("a function is being called in thread %u", f->div.tid);
	f->div.called = false;
	if (lz_diversion_thread(f->div.run, tid) < 0)
		return -1;
	f->div.tid = tid;
	return 0;
}

enum lz_front_fate lz_front_divert_fate(struct lz_front *f)
{
	struct user_regs_struct now, recorded;

	if (!f->div.run || lz_diversion_regs(f->div.run, &now) < 0 ||
	    lz_session_thread_regs(f->s, f->div.tid, &recorded) < 0)
		return LZ_FATE_MOVE;
	if (same_registers(now, recorded)) {
		if (f->div.written && !f->div.called)
			lz_front_say(f, "The change of memory was thrown away: "
			                "a recording cannot be changed.");
		return LZ_FATE_MOVE;
	}
	if (!f->div.call_sp && call_begins(f, &now, &recorded)) {
		f->div.called = true;
		f->div.call_sp = now.rsp;
	}
	if (f->div.call_sp)
		return LZ_FATE_CALL;
	lz_front_say(f, "A recorded run cannot be made to go another way: the changed registers "
	                "were thrown away.");
	return LZ_FATE_REFUSED;
}

int lz_front_divert_run(struct lz_front *f, bool step)
{
	uint64_t *addrs = calloc(f->breaks.n + 1, sizeof *addrs);
	size_t n = 0;

	if (!addrs)
		return lz_fail("out of memory for breakpoints");
	for (size_t i = 0; i < f->breaks.n; i++)
		if (f->breaks.v[i].kind < LZ_WATCH_WRITE)
			addrs[n++] = f->breaks.v[i].addr;
	f->regs.valid = false;
	memset(&f->stop, 0, sizeof f->stop);
	int rc = lz_diversion_run(f->div.run, step, addrs, n, &f->stop);

	free(addrs);
	if (rc == 0 && f->stop.reason == LZ_STOP_END) {
		lz_front_say(f, "The called function ended the program; the call was thrown away.");
		lz_front_undivert(f);
		f->stop.reason = LZ_STOP_TARGET;
	}
	return rc;
}

/* GDB lets all threads run while it calls a function, and first steps those over their
 * breakpoints that stand at one. */
int lz_front_divert_step_other(struct lz_front *f, uint32_t tid)
{
	struct lz_regfile *r = &f->div.stepped;
	int rc;

	if (lz_diversion_thread(f->div.run, tid) < 0)
		return -1;
	memset(&f->stop, 0, sizeof f->stop);
	rc = lz_diversion_run(f->div.run, true, NULL, 0, &f->stop);
	r->xstate_len = sizeof r->xstate;
	if (rc == 0 && lz_diversion_regs(f->div.run, &r->gpr) == 0 &&
	    lz_diversion_xstate(f->div.run, r->xstate, &r->xstate_len) == 0)
		f->div.stepped_tid = tid;
	if (lz_diversion_thread(f->div.run, f->div.tid) < 0)
		return -1;
	return rc;
}
