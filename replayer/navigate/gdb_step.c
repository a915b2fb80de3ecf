/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of the tests below is that of GDB 13's process_event_stop_test(); where it matters
 * the comment says which of them it is. */
#include <string.h>
#include "replayer/navigate/gdb_step.h"

enum {
	MAX_INLINES = 16,
	WORTH_RUNNING = 64,   /* rounds of `next` in one line; eight times as many after each run */
	LINE_MAX_BYTES = 4096 /* of a line's code that is run through at full speed */
};

/* A line, and whose table says so. */
struct place_line {
	struct lz_sal sal; /* with run-time addresses */
	const struct lz_lines *of;
};

/* GDB's frame id: the real frame, and the inlined calls within it that are not hidden. */
struct frame {
	uint64_t cfa, func;
	uint64_t inlines[MAX_INLINES];
	size_t n;
};

struct stepping {
	struct lz_machine *m;
	bool over_calls, over_inlines; /* `next` does both, `step` neither */
	uint64_t start, end;           /* the range that is stepped through */
	uint32_t line, symtab;
	const struct lz_lines *of;
	struct frame frame;
	/* An inlined call that is gone over: wherever control is in it, GDB steps on. */
	struct lz_piece_of_code over;
	struct user_regs_struct r;
	uint64_t call_sp; /* rsp at the entry of a function being called through stubs, 0 = none */
	uint64_t rounds, run_after;
};

static struct place_line find_line(struct lz_machine *m, uint64_t pc)
{
	struct place_line p = {.sal = {.pc = pc}};
	uint64_t bias;
	struct lz_lines *l = m->lines(m->arg, pc, &bias);

	if (!l)
		return p;
	p.sal = lz_lines_find(l, pc - bias);
	p.sal.pc += bias;
	p.sal.end += bias;
	p.of = l;
	return p;
}

static bool find_function(struct lz_machine *m, uint64_t pc, struct lz_range *out)
{
	uint64_t bias;
	struct lz_lines *l = m->lines(m->arg, pc, &bias);

	if (!l || !lz_lines_function(l, pc - bias, out))
		return false;
	out->start += bias;
	out->end += bias;
	return true;
}

static bool in_plt(struct lz_machine *m, uint64_t pc)
{
	uint64_t bias;
	struct lz_lines *l = m->lines(m->arg, pc, &bias);

	return l && lz_lines_in_plt(l, pc - bias);
}

static bool read_word(void *arg, uint64_t addr, uint64_t *word)
{
	struct lz_machine *m = arg;

	return m->read(m->arg, addr, word, sizeof(*word)) == sizeof(*word);
}

static bool find_cfa(struct stepping *s, uint64_t *cfa)
{
	uint64_t bias;
	struct lz_lines *l = s->m->lines(s->m->arg, s->r.rip, &bias);
	struct user_regs_struct r = s->r;

	return l && lz_lines_cfa(l, s->r.rip - bias, &r, read_word, s->m, cfa);
}

/* ---- inlined calls ---- */

/* The inlined calls around PC; *hidden: how many of the innermost begin right here, or a further
 * piece of theirs, which GDB hides until they are stepped into. */
static size_t find_inlines(struct lz_machine *m, uint64_t pc, struct lz_inline *in, size_t *hidden)
{
	uint64_t bias;
	struct lz_lines *l = m->lines(m->arg, pc, &bias);
	size_t n = l ? lz_lines_inlines(l, pc - bias, in, MAX_INLINES) : 0;

	for (size_t i = 0; i < n; i++) {
		in[i].entry += bias;
		in[i].start += bias;
		in[i].end += bias;
	}
	*hidden = 0;
	while (*hidden < n && (in[n - 1 - *hidden].start == pc || in[n - 1 - *hidden].entry == pc))
		++*hidden;
	return n;
}

uint32_t lz_gdb_inlines(struct lz_machine *m, uint64_t pc)
{
	struct lz_inline in[MAX_INLINES];
	size_t hidden, n = find_inlines(m, pc, in, &hidden);

	return (uint32_t)(n - hidden);
}

uint64_t lz_gdb_frame(struct lz_machine *m, uint32_t *inlines)
{
	struct stepping s = {.m = m};
	uint64_t cfa;

	if (inlines)
		*inlines = 0;
	if (m->regs(m->arg, &s.r))
		return 0;
	if (inlines)
		*inlines = lz_gdb_inlines(m, s.r.rip);
	return find_cfa(&s, &cfa) ? cfa : 0;
}

bool lz_gdb_hides(struct lz_machine *m)
{
	struct lz_inline in[MAX_INLINES];
	struct user_regs_struct r;
	size_t hidden = 0;

	if (!m->regs(m->arg, &r))
		find_inlines(m, r.rip, in, &hidden);
	return hidden > 0;
}

static void fill_frame(struct stepping *s, const struct lz_inline *in, size_t n, struct frame *f)
{
	uint64_t bias;
	struct lz_lines *l = s->m->lines(s->m->arg, s->r.rip, &bias);

	memset(f, 0, sizeof(*f));
	find_cfa(s, &f->cfa);
	if (l)
		f->func = lz_lines_frame_start(l, s->r.rip - bias) + bias;
	f->n = n;
	for (size_t i = 0; i < n; i++)
		f->inlines[i] = in[i].entry;
}

static bool same_frame(const struct frame *a, const struct frame *b)
{
	return a->cfa == b->cfa && a->func == b->func && a->n == b->n &&
	       !memcmp(a->inlines, b->inlines, a->n * sizeof(*a->inlines));
}

/* A is an inlined call, direct or not, made in B. */
static bool inlined_from(const struct frame *a, const struct frame *b)
{
	return a->cfa == b->cfa && a->func == b->func && a->n > b->n &&
	       !memcmp(a->inlines, b->inlines, b->n * sizeof(*a->inlines));
}

/* ---- prologues ---- */

/* The compiler saves the vector registers of a variadic function behind a test that gets a line
 * entry of its own; GDB goes over it (its amd64_skip_xmm_prologue). */
static uint64_t skip_vector_saves(struct lz_machine *m, uint64_t pc, uint64_t start)
{
	struct place_line first = find_line(m, start), second;
	uint8_t buf[4 + 8 * 7];
	size_t at = 4;

	if (pc == start || !first.sal.line || first.sal.pc != start || pc >= first.sal.end)
		return pc;
	second = find_line(m, first.sal.end);
	if (second.sal.line != first.sal.line)
		return pc;
	if (m->read(m->arg, second.sal.pc - 4, buf, sizeof(buf)) != sizeof(buf))
		return pc;
	if (buf[0] != 0x84 || buf[1] != 0xC0 || buf[2] != 0x74) /* test %al,%al; je */
		return pc;
	for (unsigned reg = 0; reg < 8; reg++) {
		/* movaps %xmmN,disp(%rbp) */
		if (buf[at] != 0x0F || buf[at + 1] != 0x29 ||
		    (buf[at + 2] & 0x3F) != (reg << 3 | 5))
			return pc;
		if ((buf[at + 2] & 0xC0) == 0x40)
			at += 4;
		else if ((buf[at + 2] & 0xC0) == 0x80)
			at += 7;
		else
			return pc;
	}
	return at - 4 == buf[3] ? second.sal.end : pc;
}

/* Behind `push %rbp; mov %rsp,%rbp`, else START. */
static uint64_t skip_frame_setup(struct lz_machine *m, uint64_t start)
{
	static const uint8_t endbr64[] = {0xF3, 0x0F, 0x1E, 0xFA};
	uint8_t buf[8];
	uint64_t pc = start;

	if (m->read(m->arg, pc, buf, 4) == 4 && !memcmp(buf, endbr64, 4))
		pc += 4;
	if (m->read(m->arg, pc, buf, 4) != 4 || buf[0] != 0x55)
		return start;
	if (memcmp(buf + 1, "\x48\x89\xE5", 3) && memcmp(buf + 1, "\x48\x8B\xEC", 3))
		return start;
	return skip_vector_saves(m, pc + 4, start);
}

uint64_t lz_gdb_skip_prologue(struct lz_machine *m, uint64_t start, uint64_t end)
{
	uint64_t pc = skip_frame_setup(m, start);
	struct place_line p = find_line(m, pc);

	/* In the middle of a line: on to its end, if that is still in the function. */
	if (p.sal.line && p.sal.pc != pc && p.sal.end < end)
		pc = p.sal.end;
	return pc;
}

/* ---- moving ---- */

enum { GO_ON = -1 }; /* beside enum lz_step_result */

/* What a run that was to come back means for the step. */
static int after_run(struct stepping *s, enum lz_move move)
{
	switch (move) {
	case LZ_MOVE_DONE:
		if (s->m->regs(s->m->arg, &s->r))
			return LZ_STEP_FAILED;
		return GO_ON;
	case LZ_MOVE_END: return LZ_STEP_END;
	case LZ_MOVE_GOAL: return LZ_STEP_OVER;
	case LZ_MOVE_SIGNAL: return LZ_STEP_SIGNAL;
	default: return LZ_STEP_FAILED;
	}
}

/* Right behind a call instruction's push: to the return address. */
static int run_to_return(struct stepping *s, uint64_t sp)
{
	struct lz_place ret = {.sp = sp + 8};

	s->call_sp = 0;
	if (!read_word(s->m, sp, &ret.pc))
		return LZ_STEP_FAILED;
	return after_run(s, s->m->run(s->m->arg, &ret, 1));
}

/* The frame that a function at its first instruction will return to. */
static bool caller_cfa(struct stepping *s, uint64_t ret, uint64_t *cfa)
{
	uint64_t bias;
	struct lz_lines *l = s->m->lines(s->m->arg, ret - 1, &bias);
	struct user_regs_struct r = s->r;

	r.rip = ret;
	r.rsp += 8;
	return l && lz_lines_cfa(l, ret - 1 - bias, &r, read_word, s->m, cfa);
}

/* Control has left the range: by a call? Then it is deeper, and GDB unwinds to the frame that is
 * stepped through, be the call in the range or in an inlined function of that frame. */
static bool called(struct stepping *s)
{
	uint64_t ret, cfa;

	if ((s->frame.cfa && s->r.rsp >= s->frame.cfa) || !read_word(s->m, s->r.rsp, &ret) ||
	    s->r.rip == ret)
		return false;
	/* Still in that frame, whatever return address of old is at the top of its stack. */
	if (s->frame.cfa && find_cfa(s, &cfa) && cfa >= s->frame.cfa)
		return false;
	if (s->frame.cfa && caller_cfa(s, ret, &cfa))
		return cfa == s->frame.cfa;
	return ret > s->start && ret <= s->end;
}

static bool in_sigreturn(struct stepping *s)
{
	static const uint8_t code[] = {0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0, 0x0F, 0x05};
	uint8_t buf[sizeof(code)];
	struct lz_machine *m = s->m;

	if (m->read(m->arg, s->r.rip, buf, sizeof(buf)) == sizeof(buf) &&
	    !memcmp(buf, code, sizeof(code)))
		return true;
	return m->read(m->arg, s->r.rip - 7, buf, sizeof(buf)) == sizeof(buf) &&
	       !memcmp(buf, code, sizeof(code));
}

/* The resolver's last instruction, `jmp *%r11`, looked for from its entry on; 0 if not there. */
static uint64_t resolver_end(struct stepping *s)
{
	uint8_t code[512];
	size_t n = s->m->read(s->m->arg, s->r.rip, code, sizeof(code));

	for (size_t i = 0; i + 3 <= n; i++)
		if (!memcmp(code + i, "\x41\xFF\xE3", 3))
			return s->r.rip + i;
	return 0;
}

/* In the run-time loader (START..END), of which GDB shows nothing: from its resolver straight to
 * the function itself, else on until control is outside. */
static int through_loader(struct stepping *s, uint64_t start, uint64_t end)
{
	struct lz_place to[2] = {{.sp = s->r.rsp + 24}, {.sp = s->r.rsp + 16}};
	uint64_t reloc;
	int rc;

	/* The stub has pushed the number of the relocation, then the link map. */
	if (s->call_sp == s->r.rsp || !read_word(s->m, s->r.rsp + 8, &reloc) || reloc >= 1 << 24 ||
	    !(to[1].pc = resolver_end(s)) || !read_word(s->m, s->r.rsp + 16, &to[0].pc)) {
		if (s->m->at_goal(s->m->arg))
			return LZ_STEP_OVER;
		return after_run(s, s->m->step_range(s->m->arg, start, end));
	}
	rc = after_run(s, s->m->run(s->m->arg, to, 2));
	if (rc == GO_ON && s->r.rip == to[1].pc)
		rc = after_run(s, s->m->step_range(s->m->arg, s->r.rip, s->r.rip + 1));
	return rc;
}

/* GDB's find_solib_trampoline_target(): the function that a stub of .plt.got jumps to; PC if it
 * is none. */
static uint64_t behind_stub(struct lz_machine *m, uint64_t pc)
{
	static const uint8_t endbr64[] = {0xF3, 0x0F, 0x1E, 0xFA};
	uint64_t bias, at = pc, target;
	struct lz_lines *l = m->lines(m->arg, pc, &bias);
	uint8_t code[16];
	const uint8_t *p = code;
	int32_t disp;

	if (!l || !lz_lines_in_other_plt(l, pc - bias) ||
	    m->read(m->arg, pc, code, sizeof(code)) < 12)
		return pc;
	if (!memcmp(p, endbr64, sizeof(endbr64)))
		p += sizeof(endbr64);
	p += *p == 0xF2;                  /* bnd */
	if (p[0] != 0xFF || p[1] != 0x25) /* jmp *disp(%rip) */
		return pc;
	memcpy(&disp, p + 2, sizeof(disp));
	at += (uint64_t)(p - code) + 6 + (uint64_t)(int64_t)disp;
	return read_word(m, at, &target) ? target : pc;
}

/* "Stepped into subroutine". */
static int into_call(struct stepping *s)
{
	struct lz_range f;
	uint64_t stop, sp = s->call_sp;
	struct lz_place to = {0};
	int rc;

	if (s->over_calls)
		return run_to_return(s, sp);
	if (!find_function(s->m, behind_stub(s->m, s->r.rip), &f) ||
	    !find_line(s->m, f.start).sal.line)
		return run_to_return(s, sp);
	s->call_sp = 0;
	stop = lz_gdb_skip_prologue(s->m, f.start, f.end);
	if (stop == s->r.rip)
		return LZ_STEPPED;
	to.pc = stop;
	rc = after_run(s, s->m->run(s->m->arg, &to, 1));
	return rc == GO_ON ? LZ_STEPPED : rc;
}

/* "Stepped into undebuggable function": to its caller. */
static int out_of_unknown(struct stepping *s)
{
	struct lz_place to;
	uint64_t cfa;

	s->m->left_unknown = true;
	/* Without unwind rules GDB takes it that nothing has been pushed, which is so at the
	 * start. */
	if (!find_cfa(s, &cfa))
		cfa = s->r.rsp + 8;
	if (!read_word(s->m, cfa - 8, &to.pc))
		return LZ_STEPPED;
	to.sp = cfa;
	return after_run(s, s->m->run(s->m->arg, &to, 1));
}

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

/* "Stepped into inlined function", "stepping through inlined function". GO_ON: neither. */
static int inline_stop(struct stepping *s, const struct lz_inline *in, size_t n, size_t hidden,
                       const struct frame *now, bool *keep_going)
{
	*keep_going = false;
	if (hidden && same_frame(now, &s->frame)) {
		const struct lz_inline *call = &in[n - hidden];
		bool same_line = call->call_line == s->line && call->call_symtab == s->symtab;

		if (s->over_inlines && same_line) {
			*keep_going = true;
			return GO_ON;
		}
		return LZ_STEPPED;
	}
	if (now->n && inlined_from(now, &s->frame)) {
		if (!s->over_inlines)
			return LZ_STEPPED;
		find_ranges(s, s->frame.n);
		*keep_going = true;
	}
	return GO_ON;
}

static void refresh(struct stepping *s, const struct place_line *p, const struct frame *now)
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
	int rc = out_of_unknown(s);

	if (rc != GO_ON)
		return rc;
	return s->m->at_goal(s->m->arg) ? LZ_STEP_PASSED : decide(s);
}

/* How many of the N calls around control are not around where the call begins that is stepped
 * through. */
static size_t not_entered(struct stepping *s, const struct lz_inline *in, size_t n)
{
	struct lz_inline before[MAX_INLINES];
	size_t hidden, same = 0;
	size_t m = find_inlines(s->m, s->frame.inlines[s->frame.n - 1], before, &hidden);

	while (same < n && same < m && in[same].id == before[same].id)
		same++;
	return n - same;
}

/* The frame that GDB shows: without the calls that begin here, unless they have been entered.
 * Returns how many are hidden. */
static size_t shown_frame(struct stepping *s, const struct lz_inline *in, size_t n, size_t hidden,
                          struct frame *now)
{
	size_t entered;

	fill_frame(s, in, n - hidden, now);
	if (!lz_gdb_keeps_entered() || !hidden || !s->frame.n || now->cfa != s->frame.cfa)
		return hidden;
	entered = not_entered(s, in, n);
	if (entered >= hidden)
		return hidden;
	fill_frame(s, in, n - entered, now);
	return entered;
}

/* Out of the range, in a known place: is this a stop? Sets the new range if not. */
static int new_line(struct stepping *s)
{
	struct place_line p = find_line(s->m, s->r.rip);
	struct lz_inline in[MAX_INLINES];
	struct lz_range f;
	struct frame now;
	size_t n, hidden;
	bool keep_going;
	int rc;

	if (!p.sal.line) {
		if (s->over_calls || find_function(s->m, s->r.rip, &f))
			return LZ_STEPPED;
		return back_to_known(s);
	}
	n = find_inlines(s->m, s->r.rip, in, &hidden);
	hidden = shown_frame(s, in, n, hidden, &now);
	rc = inline_stop(s, in, n, hidden, &now, &keep_going);
	if (rc != GO_ON || keep_going)
		return rc;
	if (s->r.rip == p.sal.pc &&
	    (s->line != p.sal.line || s->symtab != p.sal.symtab || s->of != p.of)) {
		if (p.sal.is_stmt)
			return LZ_STEPPED;
		if (!same_frame(&now, &s->frame)) {
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
	if (!s->call_sp && called(s))
		s->call_sp = s->r.rsp;
	if (!s->over_calls && in_plt(s->m, s->r.rip))
		return GO_ON;
	if (!s->over_calls && s->m->in_loader(s->m->arg, s->r.rip, &start, &end)) {
		int rc = through_loader(s, start, end);

		if (rc != GO_ON)
			return rc;
		if (s->r.rsp != s->call_sp)
			s->call_sp = 0; /* it has returned already */
		return decide(s);
	}
	if (in_sigreturn(s)) {
		s->m->left_unknown = true;
		return GO_ON;
	}
	if (s->call_sp) {
		int rc = into_call(s);

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

	if (!find_function(s->m, s->r.rip, &f))
		return back_to_known(s);
	s->m->left_unknown = true;
	s->start = f.start;
	s->end = f.end;
	return GO_ON;
}

static int begin(struct stepping *s)
{
	struct lz_inline in[MAX_INLINES];
	struct place_line p;
	size_t n, hidden;

	if (s->m->regs(s->m->arg, &s->r))
		return LZ_STEP_FAILED;
	p = find_line(s->m, s->r.rip);
	n = find_inlines(s->m, s->r.rip, in, &hidden);
	/* `step` at a hidden inlined call goes down into it without moving: all the way, here. */
	if (!s->over_inlines)
		hidden = 0;
	fill_frame(s, in, n - hidden, &s->frame);
	if (!p.sal.line)
		return start_without_line(s);
	refresh(s, &p, &s->frame);
	s->start = p.sal.pc;
	s->end = p.sal.end;
	if (hidden) {
		s->line = in[n - hidden].call_line;
		s->symtab = in[n - hidden].call_symtab;
		if (in[n - 1].end < s->end)
			s->end = in[n - 1].end;
	}
	return GO_ON;
}

/* ---- loops that call, in one line ---- */

/* Does `next` go on wherever control comes into this row? In the frame itself, not in an inlined
 * call or at one. */
static bool goes_on_in(struct stepping *s, const struct place_line *p)
{
	struct lz_inline in[MAX_INLINES];
	size_t hidden;

	if (!p->sal.line || p->sal.line != s->line || p->sal.symtab != s->symtab ||
	    p->of != s->of || p->sal.end - p->sal.pc > LINE_MAX_BYTES)
		return false;
	for (uint64_t pc = p->sal.pc; pc < p->sal.end; pc++)
		if (find_inlines(s->m, pc, in, &hidden) != s->frame.n || hidden)
			return false;
	return true;
}

/* The rows of the present line around the one that is stepped through. */
static bool find_rows(struct stepping *s, uint64_t *start, uint64_t *end)
{
	struct place_line p = find_line(s->m, s->r.rip);
	struct lz_range f;

	if (!goes_on_in(s, &p) || !find_function(s->m, s->r.rip, &f))
		return false;
	*start = p.sal.pc;
	*end = p.sal.end;
	while (*end < f.end && *end - *start < LINE_MAX_BYTES) {
		p = find_line(s->m, *end);
		if (p.sal.pc != *end || !goes_on_in(s, &p))
			break;
		*end = p.sal.end;
	}
	while (*start > f.start && *end - *start < LINE_MAX_BYTES) {
		p = find_line(s->m, *start - 1);
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
		return after_run(s, s->m->run_out(s->m->arg, &s->over));
	if (s->over_calls && ++s->rounds == s->run_after) {
		struct lz_piece_of_code rows = {.n_ranges = 1, .lines = true};

		s->run_after *= 8;
		if (find_rows(s, &rows.range[0].start, &rows.range[0].end))
			return after_run(s, s->m->run_out(s->m->arg, &rows));
	}
	return after_run(s, s->m->step_range(s->m->arg, s->start, s->end));
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
	return rc;
}

enum lz_step_result lz_gdb_step_into(struct lz_machine *m)
{
	struct stepping s = {.m = m};
	int rc = m->regs(m->arg, &s.r) ? LZ_STEP_FAILED : GO_ON;

	if (rc == GO_ON)
		rc = after_run(&s, m->step_range(m->arg, s.r.rip, s.r.rip + 1));
	if (rc == GO_ON && m->at_goal(m->arg))
		rc = LZ_STEP_PASSED;
	s.call_sp = s.r.rsp;
	if (rc == GO_ON)
		rc = into_call(&s);
	return rc == GO_ON ? LZ_STEP_END : rc;
}

enum lz_step_result lz_gdb_leave(struct lz_machine *m, uint32_t inlines)
{
	struct stepping s = {.m = m};
	int rc = m->regs(m->arg, &s.r) ? LZ_STEP_FAILED : GO_ON;

	while (rc == GO_ON && lz_gdb_inlines(m, s.r.rip) > inlines) {
		find_ranges(&s, inlines);
		rc = after_run(&s, m->run_out(m->arg, &s.over));
		if (rc == GO_ON && m->at_goal(m->arg))
			rc = LZ_STEP_PASSED;
	}
	return rc == GO_ON ? LZ_STEPPED : rc;
}
