/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rep instruction can be interrupted half way. No position names such an instant: a whole rep is
 * one arrival. */
#include "tracer/signals/signals.h"

#include <errno.h>
#include <lizard/error.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* The length of a repeated string instruction (Intel SDM volume 2, "REP"), 0 for any other. */
static unsigned rep_length(const uint8_t *insn, size_t n)
{
	bool rep = false;

	for (unsigned i = 0; i < n; i++) {
		switch (insn[i]) {
		case 0xf2:
		case 0xf3: rep = true; continue;
		case 0x66:
		case 0x67:
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0x40 ... 0x4f: continue;
		case 0xa4 ... 0xa7:
		case 0xaa ... 0xaf: return rep ? i + 1 : 0;
		}
		return 0;
	}
	return 0;
}

/* Up to the breakpoint. Signals that come meanwhile are held with the others. */
static int run_to(struct lz_tracer *t, uint64_t addr, struct user_regs_struct *r)
{
	int status;

	for (;;) {
		if (ptrace(PTRACE_CONT, t->p.pid, 0, 0) < 0 && errno != ESRCH)
			return lz_fail_errno("cannot resume the program");
		if (lz_proc_wait(t->p.pid, &status) < 0)
			return -1;
		if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP &&
		    WSTOPSIG(status) == SIGTRAP)
			continue;
		if (WIFSTOPPED(status) && status >> 16 == 0) {
			if (lz_proc_regs(&t->p, r) < 0)
				return -1;
			if (WSTOPSIG(status) == SIGTRAP && r->rip == addr)
				return 0;
			if (lz_signal_hold_stop(t, WSTOPSIG(status)) == 0)
				continue;
		}
		t->cur->pending_status = status;
		t->cur->has_pending_status = true;
		return 0;
	}
}

bool lz_at_rep(const struct lz_tracer *t, uint64_t addr)
{
	uint8_t insn[15] = {0};

	return rep_length(insn, lz_proc_read_some(&t->p, addr, insn, sizeof(insn)));
}

int lz_leave_rep(struct lz_tracer *t, struct user_regs_struct *r)
{
	uint8_t insn[15];
	size_t n = lz_proc_read_some(&t->p, r->rip, insn, sizeof(insn));
	unsigned len = rep_length(insn, n);

	if (!len)
		return 0;
	uint64_t behind = r->rip + len;
	if (lz_proc_set_debug(&t->p, 0, behind, 1, 'x') < 0)
		return -1;
	int ret = run_to(t, behind, r);
	if (t->cur->has_pending_status && !WIFSTOPPED(t->cur->pending_status))
		return ret;
	if (lz_proc_set_debug(&t->p, 0, 0, 1, 0) < 0)
		return -1;
	return ret < 0 || t->cur->has_pending_status ? ret : lz_signal_undo_force(t, SIGTRAP);
}
