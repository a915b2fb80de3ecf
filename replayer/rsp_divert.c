/* Diversions: what the debugger changes, and calls of the program's functions, happen in a copy.
 *
 * One `call f("abc")` is several resumes (malloc for the string, then f), so a diversion lives until the
 * user moves in time: until a resume that is not part of a call. A resume is a call's if, at its first
 * resume, the word at the stack pointer is an address with a breakpoint (GDB's return trap) and the
 * stack is deeper than the recorded one; it stays one until the registers are as recorded again. */
#include "replayer/rsp_int.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

int lz_rsp_divert(struct lz_rsp *p)
{
	if (p->div)
		return 0;
	p->div = lz_diversion_new(p->s);
	p->regs_valid = false;
	p->in_call = p->div_written = false;
	return p->div ? 0 : -1;
}

void lz_rsp_undivert(struct lz_rsp *p)
{
	if (p->div)
		lz_diversion_free(p->div);
	p->div = NULL;
	p->in_call = p->div_written = false;
	p->regs_valid = false;
}

static bool break_at(const struct lz_rsp *p, uint64_t addr)
{
	for (size_t i = 0; i < p->n_breaks; i++)
		if (p->breaks[i].kind < 2 && p->breaks[i].addr == addr)
			return true;
	return false;
}

static bool call_begins(struct lz_rsp *p, const struct user_regs_struct *now,
                        const struct user_regs_struct *recorded)
{
	uint64_t ret = 0;

	return now->rsp < recorded->rsp &&
	       lz_diversion_read(p->div, now->rsp, &ret, sizeof ret) == sizeof ret &&
	       break_at(p, ret);
}

/* orig_rax is left out: GDB sets it whenever it sets the program counter. */
static bool same_registers(struct user_regs_struct a, struct user_regs_struct b)
{
	a.orig_rax = b.orig_rax;
	return memcmp(&a, &b, sizeof a) == 0;
}

enum lz_rsp_fate lz_rsp_divert_fate(struct lz_rsp *p)
{
	struct user_regs_struct now, recorded;

	if (!p->div || lz_diversion_regs(p->div, &now) < 0 || lz_session_regs(p->s, &recorded) < 0)
		return LZ_FATE_MOVE;
	if (same_registers(now, recorded)) {
		if (p->div_written && !p->in_call)
			lz_rsp_note(p, "The change of memory was thrown away: "
			               "a recording cannot be changed.");
		return LZ_FATE_MOVE;
	}
	if (p->in_call || call_begins(p, &now, &recorded)) {
		p->in_call = true;
		return LZ_FATE_CALL;
	}
	lz_rsp_note(p, "A recorded run cannot be made to go another way: the changed registers "
	               "were thrown away.");
	return LZ_FATE_REFUSED;
}

int lz_rsp_divert_run(struct lz_rsp *p, bool step)
{
	uint64_t *addrs = calloc(p->n_breaks + 1, sizeof *addrs);
	size_t n = 0;

	if (!addrs)
		return lz_fail("out of memory for breakpoints");
	for (size_t i = 0; i < p->n_breaks; i++)
		if (p->breaks[i].kind < 2)
			addrs[n++] = p->breaks[i].addr;
	p->regs_valid = false;
	memset(&p->stop, 0, sizeof p->stop);
	lz_wire_run_begin(p->wire);
	int rc = lz_diversion_run(p->div, step, addrs, n, &p->stop);

	lz_wire_run_end(p->wire);
	free(addrs);
	if (rc == 0 && p->stop.reason == LZ_STOP_END) {
		lz_rsp_note(p, "The called function ended the program; the call was thrown away.");
		lz_rsp_undivert(p);
		p->stop.reason = LZ_STOP_TARGET;
	}
	return rc;
}
