/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Test tool: moves that fail, or are interrupted, on their way leave the session where they began.
 *
 *   replay-moves RECORDING START END CALLEE
 *
 * START and END: a piece of code, a loop that calls CALLEE. Linked with wrappers (-Wl,--wrap) for functions that fail, or
 * interrupt the session, where they are told to. Prints a line for each move; exit status 1 if one was wrong. */
#include <lizard/error.h>
#include <lizard/session.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "replayer/engine/engine.h"

static struct lz_session *s;
static bool interrupts;  /* when a breakpoint is taken away */
static int resumes = -1; /* the engine fails when it has been resumed so often, */
static bool restoring;   /* but not on the way back */
static bool failed, any_failed;

int __real_lz_session_restore(struct lz_session *of, const struct lz_pos *pos);
int __wrap_lz_session_restore(struct lz_session *of, const struct lz_pos *pos);
int __real_lz_session_unbreak(struct lz_session *of, uint64_t addr);
int __wrap_lz_session_unbreak(struct lz_session *of, uint64_t addr);
int __real_lz_engine_resume(struct lz_engine *e, bool step, struct lz_halt *h);
int __wrap_lz_engine_resume(struct lz_engine *e, bool step, struct lz_halt *h);

int __wrap_lz_session_unbreak(struct lz_session *of, uint64_t addr)
{
	if (interrupts)
		lz_session_interrupt(of);
	interrupts = false;
	return __real_lz_session_unbreak(of, addr);
}

int __wrap_lz_session_restore(struct lz_session *of, const struct lz_pos *pos)
{
	restoring = true;
	int ret = __real_lz_session_restore(of, pos);

	restoring = false;
	return ret;
}

int __wrap_lz_engine_resume(struct lz_engine *e, bool step, struct lz_halt *h)
{
	int ret = __real_lz_engine_resume(e, step, h);

	if (ret < 0 || restoring || resumes < 0 || resumes-- > 0)
		return ret;
	failed = true;
	return lz_fail("a planted error");
}

static void need(int ret, const char *what)
{
	if (ret >= 0)
		return;
	printf("FAILED: %s: %s\n", what, lz_error());
	exit(1);
}

static bool is_at(const struct lz_pos *from)
{
	struct user_regs_struct r;
	struct lz_pos now;

	lz_session_where(s, &now);
	return !memcmp(&now, from, sizeof now) && !lz_session_regs(s, &r) && r.rip == now.ip;
}

static void say(const char *what, bool good)
{
	printf("%s: %s\n", what, good ? "as it was" : "FAILED");
	any_failed |= !good;
}

/* The first arrival at ADDR in the run, and one instruction on. */
static void go_into(uint64_t addr)
{
	struct lz_stop stop;

	need(lz_session_seek_start(s), "seek");
	need(lz_session_break(s, addr), "break");
	need(lz_session_run(s, LZ_FORWARD, &stop), "run");
	need(__real_lz_session_unbreak(s, addr), "unbreak");
	need(lz_session_step(s, LZ_FORWARD, &stop), "step");
}

/* Into the midst of the loop: where CALLEE returns to, in its third round. */
static void go_between(uint64_t callee)
{
	struct user_regs_struct r;
	struct lz_stop stop;
	uint64_t back = 0;

	need(lz_session_seek_start(s), "seek");
	for (int i = 0; i < 3; i++)
		need(lz_session_run(s, LZ_FORWARD, &stop), "run");
	need(lz_session_regs(s, &r), "registers");
	if (r.rip != callee || lz_session_read(s, r.rsp, &back, sizeof back) != sizeof back)
		need(lz_fail("the callee is not come to"), "run");
	need(lz_session_break(s, back), "break");
	need(lz_session_run(s, LZ_FORWARD, &stop), "run");
	need(__real_lz_session_unbreak(s, back), "unbreak");
}

typedef int leaving(struct lz_session *, const struct lz_piece_of_code *, struct lz_stop *);

/* A breakpoint in what the piece calls sends it back; an interrupt on that way is for what comes next. */
static void interrupted(const char *what, leaving *leave, const struct lz_piece_of_code *piece)
{
	struct lz_stop stop;
	struct lz_pos from;
	int ret;

	lz_session_where(s, &from);
	interrupts = true;
	ret = leave(s, piece, &stop);
	say(what, ret == 1 && !interrupts && is_at(&from) && lz_session_take_interrupt(s));
}

/* Fails after so many more resumes, each time. */
static void erroneous(const char *what, leaving *leave, const struct lz_piece_of_code *piece)
{
	struct lz_pos from;
	bool good = true, all = false;
	int times = 0;

	lz_session_where(s, &from);
	for (int after = 0; good && !all; after++) {
		struct lz_stop stop;
		int ret;

		resumes = after;
		failed = false;
		ret = leave(s, piece, &stop);
		all = !failed;
		times += failed;
		resumes = -1;
		good = all || (ret == -1 && is_at(&from) && strstr(lz_error(), "a planted error"));
	}
	printf("%d errors, ", times);
	say(what, good && times);
}

static int run(struct lz_session *of, const struct lz_piece_of_code *piece, struct lz_stop *stop)
{
	(void)piece;
	return lz_session_run(of, LZ_FORWARD, stop);
}

static const char *recording;
static struct lz_piece_of_code piece = {.n_ranges = 1, .lines = true};

/* A session that has learnt nothing of the loop yet, at its beginning or in its midst. */
static void again(bool between, uint64_t callee)
{
	struct lz_session_options o = {.echo_fd = -1};

	if (s)
		lz_session_close(s);
	s = lz_session_open(recording, &o);
	need(s ? 0 : -1, "open");
	lz_session_keep_interrupts(s);
	if (!between)
		go_into(piece.range[0].start);
	need(lz_session_break(s, callee), "break");
	if (between)
		go_between(callee);
}

int main(int argc, char **argv)
{
	uint64_t callee;

	if (argc != 5)
		return 2;
	recording = argv[1];
	piece.range[0].start = strtoull(argv[2], NULL, 0);
	piece.range[0].end = strtoull(argv[3], NULL, 0);
	callee = strtoull(argv[4], NULL, 0);

	again(false, callee);
	interrupted("out of a loop, interrupted", lz_session_leave, &piece);
	again(false, callee);
	erroneous("out of a loop, with an error", lz_session_leave, &piece);
	again(false, callee);
	erroneous("a run, with an error", run, &piece);
	piece.hidden_starts = true;
	again(true, callee);
	interrupted("back out of it, interrupted", lz_session_leave_back, &piece);
	again(true, callee);
	erroneous("back out of it, with an error", lz_session_leave_back, &piece);
	again(true, callee);
	need(__real_lz_session_unbreak(s, callee), "unbreak");
	erroneous("back to its beginning, with an error", lz_session_leave_back, &piece);
	printf("%s\n", any_failed ? "some FAILED" : "all done");
	lz_session_close(s);
	return any_failed;
}
