/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bad pointer of the program's, met by the stub before it has made the call: that is made with a
 * stop. */
#include "tracer/calls/fast.h"
#include "tracer/signals/signals.h"

#include <string.h>

static bool is_ours(const struct lz_tracer *t, const siginfo_t *info,
                    const struct user_regs_struct *r)
{
	const struct lz_fast *f = &t->fast;

	return f->page && (info->si_signo == SIGSEGV || info->si_signo == SIGBUS) &&
	       lz_signal_synchronous(info->si_signo, info) && r->rip - f->at < LZ_STUB_CODE &&
	       f->page->busy;
}

int lz_fast_fault(struct lz_tracer *t, const siginfo_t *info, struct user_regs_struct *r)
{
	struct lz_call_page *page = t->fast.page;
	struct lz_stub_saved s;

	if (!is_ours(t, info, r))
		return 0;
	memcpy(&s, page->stack + LZ_STUB_STACK - sizeof(s), sizeof(s));
	r->r15 = s.r15, r->r14 = s.r14, r->r13 = s.r13, r->r12 = s.r12;
	r->rbp = s.rbp, r->rbx = s.rbx, r->rax = s.rax, r->rdi = s.rdi;
	r->rsi = s.rsi, r->rdx = s.rdx, r->r10 = s.r10, r->r8 = s.r8, r->r9 = s.r9;
	r->eflags = r->r11 = s.eflags;
	r->rcx = page->site;
	r->rsp = page->rsp;
	r->rip = lz_sites_shown(&t->fast.sites, page->back - LZ_CALL_INSN);
	r->orig_rax = (uint64_t)-1;
	page->busy = 0;
	t->cur->fast = false;
	t->cur->refused_at = r->rip;
	t->fast.n_refused++;
	return lz_proc_set_regs(&t->p, r) < 0 || lz_signal_undo_force(t, info->si_signo) < 0 ? -1
	                                                                                     : 1;
}
