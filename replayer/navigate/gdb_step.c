/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of the tests below is that of GDB 13's process_event_stop_test(); where it matters
 * the comment says which of them it is. */
#include "replayer/navigate/step_inside.h"

enum {
	WORTH_RUNNING = 64,   /* rounds of `next` in one line; eight times as many after each run */
	LINE_MAX_BYTES = 4096 /* of a line's code that is run through at full speed */
};

/* Where the inlined call number WHICH around control is. */
static void find_ranges(struct stepping *s, size_t which)
{
	uint64_t bias;
	struct lz_lines *l = s->m->lines(s->m->arg, s->r.rip, &bias);

	s->over.hidden_starts = true;
	s->over.n_ranges = (uint32_t)lz_lines_inline_ranges(l, s->r.rip - bias, which,
	                                                    s->over.range, LZ_RANGES_MAX);
	for (uint32_t i = 0; i < s->over.n_ranges; i++) {
		s->over.range[i].start += bias;
		s->over.range[i].end += bias;
	}
}

/* Of the inlined calls IN[FROM] to IN[TO - 1], of N here, the first one that `step` goes over; TO: none. */
static size_t first_skipped(struct stepping *s, const struct lz_inline *in, size_t n, size_t from,
                            size_t to)
{
	return s->over_calls ? to : step_skipped_inline(s->m, s->r.rip, in, n, from, to);
}

/* "Stepped into inlined function", "stepping through inlined function". GO_ON: neither. */
static int inline_stop(struct stepping *s, const struct lz_inline *in, size_t n, size_t hidden,
                       const struct step_frame *now, bool *keep_going)
{
	const size_t shown = n - hidden;

	*keep_going = false;
	if (hidden && step_same_frame(now, &s->frame)) {
		const struct lz_inline *call = &in[shown];
		bool same_line = call->call_line == s->line && call->call_symtab == s->symtab;

		if (same_line &&
		    (s->over_inlines || first_skipped(s, in, n, shown, shown + 1) == shown)) {
			*keep_going = true;
			return GO_ON;
		}
		return LZ_STEPPED;
	}
	if (now->n && step_inlined_from(now, &s->frame)) {
		size_t over = s->frame.n;

		if (!s->over_inlines)
			over = first_skipped(s, in, n, s->frame.n, shown);
		if (over == shown)
			return LZ_STEPPED;
		if (s->over_inlines || step_skips_all_of(s->m, s->r.rip, over))
			find_ranges(s, over);
		*keep_going = true;
	}
	return GO_ON;
}

static void refresh(struct stepping *s, const struct place_line *p, const struct step_frame *now)
{
	s->over.n_ranges = 0; /* held for calls made in the frame before */
	s->frame = *now;
	s->line = p->sal.line;
	s->symtab = p->sal.symtab;
	s->of = p->of;
}

static int decide(struct stepping *s);

/* The same, and what GDB decides at the caller. */
static int back_to_known(struct stepping *s)
{
	int rc = step_out_of_unknown(s);

	if (rc != GO_ON)
		return rc;
	return s->m->at_goal(s->m->arg) ? LZ_STEP_PASSED : decide(s);
}

/* Out of the range, in a known place: is this a stop? Sets the new range if not. */
static int new_line(struct stepping *s)
{
	struct place_line p = step_line(s->m, s->r.rip);
	struct lz_inline in[STEP_INLINES];
	struct lz_range f;
	struct step_frame now;
	size_t n, hidden;
	bool keep_going;
	int rc;

	if (!p.sal.line) {
		if (s->over_calls || step_function(s->m, s->r.rip, &f))
			return LZ_STEPPED;
		return back_to_known(s);
	}
	n = step_inlines(s->m, s->r.rip, in, &hidden);
	hidden = step_shown_frame(s, in, n, hidden, &now);
	rc = inline_stop(s, in, n, hidden, &now, &keep_going);
	if (rc != GO_ON || keep_going)
		return rc;
	if (s->r.rip == p.sal.pc &&
	    (s->line != p.sal.line || s->symtab != p.sal.symtab || s->of != p.of)) {
		if (p.sal.is_stmt)
			return LZ_STEPPED;
		if (!step_same_frame(&now, &s->frame)) {
			p.sal.line = 0;
			refresh(s, &p, &now);
		}
	} else {
		refresh(s, &p, &now);
	}
	s->start = p.sal.pc;
	s->end = p.sal.end;
	return GO_ON;
}

/* What GDB decides after an instruction. */
static int decide(struct stepping *s)
{
	uint64_t start, end;

	if (s->r.rip >= s->start && s->r.rip < s->end)
		return GO_ON;
	if (!s->call_sp && step_has_called(s))
		s->call_sp = s->r.rsp;
	if (!s->over_calls && step_in_plt(s->m, s->r.rip))
		return GO_ON;
	if (!s->over_calls && s->m->in_loader(s->m->arg, s->r.rip, &start, &end)) {
		int rc = step_through_loader(s, start, end);

		if (rc != GO_ON)
			return rc;
		if (s->r.rsp != s->call_sp)
			s->call_sp = 0; /* it has returned already */
		return decide(s);
	}
	if (step_in_sigreturn(s)) {
		s->m->left_unknown = true;
		return GO_ON;
	}
	if (s->call_sp) {
		int rc = step_into_call(s);

		if (rc != GO_ON || (s->r.rip >= s->start && s->r.rip < s->end))
			return rc;
	}
	return new_line(s);
}

/* Starting where no line is known: the function is the range. Without a name, as in a stripped
 * program, GDB knows none: the caller is where stepping can begin. */
static int start_without_line(struct stepping *s)
{
	struct lz_range f;

	if (!step_function(s->m, s->r.rip, &f))
		return back_to_known(s);
	s->m->left_unknown = true;
	s->start = f.start;
	s->end = f.end;
	return GO_ON;
}

static int begin(struct stepping *s)
{
	struct lz_inline in[STEP_INLINES];
	struct place_line p;
	size_t n, hidden;

	if (s->m->regs(s->m->arg, &s->r))
		return LZ_STEP_FAILED;
	p = step_line(s->m, s->r.rip);
	n = step_inlines(s->m, s->r.rip, in, &hidden);
	/* `step` at a hidden inlined call goes down into it without moving: all the way, here, but for
	 * what is skipped. */
	if (!s->over_inlines)
		hidden = n - first_skipped(s, in, n, n - hidden, n);
	step_fill_frame(s, in, n - hidden, &s->frame);
	s->m->began = s->frame.cfa;
	if (!p.sal.line)
		return start_without_line(s);
	refresh(s, &p, &s->frame);
	s->start = p.sal.pc;
	s->end = p.sal.end;
	if (hidden) {
		s->line = in[n - hidden].call_line;
		s->symtab = in[n - hidden].call_symtab;
		/* what is skipped is not hidden any more */
		if ((s->over_inlines || hidden > 1) && in[n - 1].end < s->end)
			s->end = in[n - 1].end;
	}
	return GO_ON;
}

/* ---- loops that call, in one line ---- */

/* Does `next` go on wherever control comes into this row? In the frame itself, not in an inlined
 * call or at one. */
static bool goes_on_in(struct stepping *s, const struct place_line *p)
{
	struct lz_inline in[STEP_INLINES];
	size_t hidden;

	if (!p->sal.line || p->sal.line != s->line || p->sal.symtab != s->symtab ||
	    p->of != s->of || p->sal.end - p->sal.pc > LINE_MAX_BYTES)
		return false;
	for (uint64_t pc = p->sal.pc; pc < p->sal.end; pc++)
		if (step_inlines(s->m, pc, in, &hidden) != s->frame.n || hidden)
			return false;
	return true;
}

/* The rows of the present line around the one that is stepped through. */
static bool find_rows(struct stepping *s, uint64_t *start, uint64_t *end)
{
	struct place_line p = step_line(s->m, s->r.rip);
	struct lz_range f;

	if (!goes_on_in(s, &p) || !step_function(s->m, s->r.rip, &f))
		return false;
	*start = p.sal.pc;
	*end = p.sal.end;
	while (*end < f.end && *end - *start < LINE_MAX_BYTES) {
		p = step_line(s->m, *end);
		if (p.sal.pc != *end || !goes_on_in(s, &p))
			break;
		*end = p.sal.end;
	}
	while (*start > f.start && *end - *start < LINE_MAX_BYTES) {
		p = step_line(s->m, *start - 1);
		/* joined rows go on into the next ones */
		bool touches = lz_gdb_joins_rows() ? p.sal.end >= *start && p.sal.end <= *end
		                                   : p.sal.end == *start;

		if (!touches || !goes_on_in(s, &p))
			break;
		*start = p.sal.pc;
	}
	return *start >= f.start && *end <= f.end;
}

static int step_over_range(struct stepping *s)
{
	if (lz_piece_has(&s->over, s->r.rip))
		return step_after_run(s, s->m->run_out(s->m->arg, &s->over));
	if (s->over_calls && ++s->rounds == s->run_after) {
		struct lz_piece_of_code rows = {.n_ranges = 1, .lines = true};

		s->run_after *= 8;
		if (find_rows(s, &rows.range[0].start, &rows.range[0].end))
			return step_after_run(s, s->m->run_out(s->m->arg, &rows));
	}
	return step_after_run(s, s->m->step_range(s->m->arg, s->start, s->end));
}

enum lz_step_result lz_gdb_step(struct lz_machine *m, enum lz_step_over over)
{
	struct stepping s = {.m = m,
	                     .over_calls = over != LZ_OVER_NOTHING,
	                     .over_inlines = over == LZ_OVER_ALL,
	                     .run_after = WORTH_RUNNING};
	int rc = begin(&s);

	while (rc == GO_ON) {
		rc = step_over_range(&s);
		if (rc == GO_ON)
			rc = decide(&s);
		if (rc == GO_ON && m->at_goal(m->arg))
			rc = LZ_STEP_PASSED;
	}
	m->began = 0;
	return rc;
}

enum lz_step_result lz_gdb_step_into(struct lz_machine *m)
{
	struct stepping s = {.m = m};
	int rc = m->regs(m->arg, &s.r) ? LZ_STEP_FAILED : GO_ON;

	if (rc == GO_ON)
		rc = step_after_run(&s, m->step_range(m->arg, s.r.rip, s.r.rip + 1));
	if (rc == GO_ON && m->at_goal(m->arg))
		rc = LZ_STEP_PASSED;
	s.call_sp = s.r.rsp;
	if (rc == GO_ON)
		rc = step_into_call(&s);
	return rc == GO_ON ? LZ_STEP_END : rc;
}

enum lz_step_result lz_gdb_leave(struct lz_machine *m, uint32_t inlines)
{
	struct stepping s = {.m = m};
	int rc = m->regs(m->arg, &s.r) ? LZ_STEP_FAILED : GO_ON;

	while (rc == GO_ON && lz_gdb_inlines(m, s.r.rip) > inlines) {
		find_ranges(&s, inlines);
		rc = step_after_run(&s, m->run_out(m->arg, &s.over));
		if (rc == GO_ON && m->at_goal(m->arg))
			rc = LZ_STEP_PASSED;
	}
	return rc == GO_ON ? LZ_STEPPED : rc;
}
