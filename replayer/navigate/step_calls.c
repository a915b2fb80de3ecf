/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Into calls and out of them, as GDB goes: by a run to one address. */
#include <string.h>
#include "replayer/navigate/step_inside.h"

int step_after_run(struct stepping *s, enum lz_move move)
{
	switch (move) {
	case LZ_MOVE_DONE:
		if (s->m->regs(s->m->arg, &s->r))
			return LZ_STEP_FAILED;
		return GO_ON;
	case LZ_MOVE_END: return LZ_STEP_END;
	case LZ_MOVE_GOAL: return LZ_STEP_OVER;
	case LZ_MOVE_SIGNAL: return LZ_STEP_SIGNAL;
	case LZ_MOVE_JUMPED: return LZ_STEPPED;
	default: return LZ_STEP_FAILED;
	}
}

/* Right behind a call instruction's push: to the return address. */
static int run_to_return(struct stepping *s, uint64_t sp)
{
	struct lz_place ret = {.sp = sp + 8};

	s->call_sp = 0;
	if (!step_read_word(s->m, sp, &ret.pc))
		return LZ_STEP_FAILED;
	return step_after_run(s, s->m->run(s->m->arg, &ret, 1));
}

/* The frame that a function at its first instruction will return to. */
static bool caller_cfa(struct stepping *s, uint64_t ret, uint64_t *cfa)
{
	uint64_t bias;
	struct lz_lines *l = s->m->lines(s->m->arg, ret - 1, &bias);
	struct user_regs_struct r = s->r;

	r.rip = ret;
	r.rsp += 8;
	return l && lz_lines_cfa(l, ret - 1 - bias, &r, step_read_word, s->m, cfa);
}

/* Control has left the range: by a call? Then it is deeper, and GDB unwinds to the frame that is
 * stepped through, be the call in the range or in an inlined function of that frame. */
bool step_has_called(struct stepping *s)
{
	uint64_t ret, cfa;

	if ((s->frame.cfa && s->r.rsp >= s->frame.cfa) || !step_read_word(s->m, s->r.rsp, &ret) ||
	    s->r.rip == ret)
		return false;
	/* Still in that frame, whatever return address of old is at the top of its stack. */
	if (s->frame.cfa && step_cfa(s, &cfa) && cfa >= s->frame.cfa)
		return false;
	if (s->frame.cfa && caller_cfa(s, ret, &cfa))
		return cfa == s->frame.cfa;
	return ret > s->start && ret <= s->end;
}

bool step_in_sigreturn(struct stepping *s)
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

int step_through_loader(struct stepping *s, uint64_t start, uint64_t end)
{
	struct lz_place to[2] = {{.sp = s->r.rsp + 24}, {.sp = s->r.rsp + 16}};
	uint64_t reloc;
	int rc;

	/* The stub has pushed the number of the relocation, then the link map. */
	if (s->call_sp == s->r.rsp || !step_read_word(s->m, s->r.rsp + 8, &reloc) ||
	    reloc >= 1 << 24 || !(to[1].pc = resolver_end(s)) ||
	    !step_read_word(s->m, s->r.rsp + 16, &to[0].pc)) {
		if (s->m->at_goal(s->m->arg))
			return LZ_STEP_OVER;
		return step_after_run(s, s->m->step_range(s->m->arg, start, end));
	}
	rc = step_after_run(s, s->m->run(s->m->arg, to, 2));
	if (rc == GO_ON && s->r.rip == to[1].pc)
		rc = step_after_run(s, s->m->step_range(s->m->arg, s->r.rip, s->r.rip + 1));
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
	return step_read_word(m, at, &target) ? target : pc;
}

/* GDB's gnuv3_skip_trampoline(): the function that a thunk leads to; PC if it is none. */
static uint64_t behind_thunk(struct lz_machine *m, uint64_t pc)
{
	uint64_t bias, target;
	struct lz_lines *l = m->lines(m->arg, pc, &bias);

	target = l ? lz_lines_thunk_target(l, pc - bias) : 0;
	return target ? target + bias : pc;
}

/* Is the call to the return address at SP made in an inlined call that is skipped? */
static bool is_made_in_skipped(struct stepping *s, uint64_t sp)
{
	struct lz_inline in[STEP_INLINES];
	uint64_t ret;
	size_t n, hidden;

	if (!s->m->skips || !step_read_word(s->m, sp, &ret))
		return false;
	n = step_inlines(s->m, ret - 1, in, &hidden);
	for (size_t i = 0; i < s->frame.n; i++)
		if (i >= n || in[i].entry != s->frame.inlines[i])
			return false;
	return step_skipped_inline(s->m, ret - 1, in, n, s->frame.n, n) < n;
}

int step_into_call(struct stepping *s)
{
	struct lz_range f;
	uint64_t called = behind_stub(s->m, s->r.rip), entry = behind_thunk(s->m, called);
	uint64_t stop, sp = s->call_sp;
	/* A thunk that has the function's code in it returns without calling it. GDB would go on. */
	struct lz_place to[2] = {{0}, {.sp = sp + 8}};
	int rc;

	if (s->over_calls)
		return run_to_return(s, sp);
	if (!step_function(s->m, entry, &f) || !step_line(s->m, f.start).sal.line ||
	    step_skips_function(s->m, f.start) || is_made_in_skipped(s, sp))
		return run_to_return(s, sp);
	s->call_sp = 0;
	stop = lz_gdb_skip_prologue(s->m, f.start, f.end);
	if (stop == s->r.rip)
		return LZ_STEPPED;
	to[0].pc = stop;
	if (entry != called && !step_read_word(s->m, sp, &to[1].pc))
		return LZ_STEP_FAILED;
	rc = step_after_run(s, s->m->run(s->m->arg, to, entry != called ? 2 : 1));
	return rc == GO_ON && s->r.rip == stop ? LZ_STEPPED : rc;
}

int step_out_of_unknown(struct stepping *s)
{
	struct lz_place to;
	uint64_t cfa;

	s->m->left_unknown = true;
	/* Without unwind rules GDB takes it that nothing has been pushed, which is so at the
	 * start. */
	if (!step_cfa(s, &cfa))
		cfa = s->r.rsp + 8;
	if (!step_read_word(s->m, cfa - 8, &to.pc))
		return LZ_STEPPED;
	to.sp = cfa;
	return step_after_run(s, s->m->run(s->m->arg, &to, 1));
}
