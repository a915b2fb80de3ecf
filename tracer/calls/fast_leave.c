/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread leaves the stub, in which nothing has been done yet: it stands where it was about to make
 * its call, which is made with a stop. It has met a bad pointer of the program's, or its wait has
 * been ended. Or the call has been made, and a signal has come: then it stands behind the call. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/log/log.h"
#include "tracer/signals/signals.h"
#include "tracer/turns/turns.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

static bool is_ours(const struct lz_tracer *t, const siginfo_t *info,
                    const struct user_regs_struct *r)
{
	const struct lz_fast *f = &t->fast;

	return f->page && (info->si_signo == SIGSEGV || info->si_signo == SIGBUS) &&
	       lz_signal_synchronous(info->si_signo, info) && r->rip - f->at < LZ_STUB_CODE &&
	       f->page->busy;
}

/* What the kernel has left of the time. */
void lz_fast_keep_rest(struct lz_tracer *t)
{
	enum { BILLION = 1000000000 };

	if (!t->fast.page->waited)
		return;
	t->fast.page->waited = 0;
	const int64_t seconds = t->fast.page->left[0], ns = t->fast.page->left[1];

	t->cur->wait_cut = seconds >= 0 && ns >= 0 && ns < BILLION;
	t->cur->wait_left[0] = seconds;
	t->cur->wait_left[1] = ns;
}

static struct lz_stub_saved saved(const struct lz_call_page *page)
{
	struct lz_stub_saved s;

	memcpy(&s, page->stack + LZ_STUB_STACK - sizeof(s), sizeof(s));
	return s;
}

/* To where the call was about to be made: nothing has been done yet. It is made with a stop. */
static int leave(struct lz_tracer *t, struct user_regs_struct *r)
{
	struct lz_call_page *page = t->fast.page;
	const struct lz_stub_saved s = saved(page);

	r->r15 = s.r15, r->r14 = s.r14, r->r13 = s.r13, r->r12 = s.r12;
	r->rbp = s.rbp, r->rbx = s.rbx, r->rax = s.rax, r->rdi = s.rdi;
	r->rsi = s.rsi, r->rdx = s.rdx, r->r10 = s.r10, r->r8 = s.r8, r->r9 = s.r9;
	r->eflags = r->r11 = s.eflags;
	r->rcx = page->site;
	r->rsp = page->rsp;
	r->rip = lz_sites_shown(&t->fast.sites, page->back - LZ_CALL_INSN);
	r->orig_rax = (uint64_t)-1;
	lz_fast_keep_rest(t);
	if (page->waits == LZ_WAITS_HAND)
		lz_hand_undo(t);
	page->busy = page->made = page->waits = page->refers = 0;
	t->cur->fast = false;
	t->cur->refused_at = r->rip;
	return lz_proc_set_regs(&t->p, r);
}

/* From where a call is about to be made to behind it. */
static int go_behind(struct lz_tracer *t, struct user_regs_struct *r, int64_t result)
{
	r->rip += LZ_CALL_INSN;
	r->rcx = r->rip;
	r->rax = (uint64_t)result;
	return lz_proc_set_regs(&t->p, r);
}

int lz_fast_fault(struct lz_tracer *t, const siginfo_t *info, struct user_regs_struct *r)
{
	if (!is_ours(t, info, r))
		return 0;
	const bool made = t->fast.page->made;
	const int64_t result = t->fast.page->result;
	t->fast.n_refused++;
	if (leave(t, r) < 0 || lz_signal_undo_force(t, info->si_signo) < 0)
		return -1;
	/* else lz_fast_made() has seen it: nobody records it any more */
	return made && go_behind(t, r, result) < 0 ? -1 : 1;
}

/* ---- waits ---- */

static bool is_waiting(const struct lz_tracer *t)
{
	const struct lz_call_page *page = t->fast.page;

	return page && t->cur->dispatched && page->busy &&
	       __atomic_load_n(&page->waits, __ATOMIC_SEQ_CST);
}

/* The call that it waits in has a result. */
static bool is_made(const struct lz_tracer *t, const struct user_regs_struct *r)
{
	const uint64_t behind = (uintptr_t)lz_stub_waited - (uintptr_t)__start_lz_stub;

	return t->fast.page->waits == LZ_WAITS_INSIDE && r->rip - t->fast.at == behind &&
	       (r->orig_rax == (uint64_t)-1 || !lz_restarts((int64_t)r->rax));
}

int lz_fast_leave_wait(struct lz_tracer *t)
{
	struct user_regs_struct r;

	if (!is_waiting(t) || lz_proc_regs(&t->p, &r) < 0 || r.rip - t->fast.at >= LZ_STUB_CODE ||
	    is_made(t, &r))
		return 0;
	t->fast.n_cut++;
	return leave(t, &r) < 0 ? -1 : 1;
}

/* The stub has met memory that is there no more, behind the call. */
static bool is_late_fault(const struct lz_tracer *t, const struct user_regs_struct *r)
{
	siginfo_t info;

	return t->fast.page->made && ptrace(PTRACE_GETSIGINFO, t->p.pid, 0, &info) == 0 &&
	       is_ours(t, &info, r);
}

/* It stands at its call's exit. */
static int show_exit(struct lz_tracer *t, struct user_regs_struct *r, int64_t result, int *status)
{
	struct user_regs_struct e = *r;

	t->cur->refused_at = 0;
	e.rip += LZ_CALL_INSN;
	e.orig_rax = r->rax;
	e.rax = (uint64_t)-ENOSYS;
	/* where it writes is no longer to be seen in memory */
	if (lz_call_entry(t, &e) < 0 || lz_fast_note_pieces(t) < 0)
		return -1;
	e.rip -= LZ_CALL_INSN;
	*status = (SIGTRAP | 0x80) << 8 | 0x7f;
	return go_behind(t, &e, result);
}

/* The page and the registers are the program's: it may say so of a call that the stub does not make, such as
 * one that ends it, or of one that is to be made again. */
static int check_made(const struct lz_tracer *t, bool fault, int64_t result)
{
	enum { MAX_ERRNO = 4095 };
	const uint64_t nr = saved(t->fast.page).rax;

	if (fault ? !lz_fast_may(nr) : !lz_try_waits_inside(lz_fast_try(nr)))
		return lz_fast_broken("a call's number");
	return result > INT32_MAX || result < -MAX_ERRNO || lz_restarts(result)
	           ? lz_fast_broken("a result")
	           : 0;
}

int lz_fast_made(struct lz_tracer *t, int *status)
{
	const int signo = WSTOPSIG(*status);
	struct user_regs_struct r;

	if (!WIFSTOPPED(*status) || *status >> 16 || !t->fast.page || !t->cur->dispatched ||
	    !t->fast.page->busy || lz_proc_regs(&t->p, &r) < 0)
		return 0;
	const bool fault = is_late_fault(t, &r);
	if (!fault && !(is_waiting(t) && is_made(t, &r)))
		return 0;
	const int64_t result = fault ? t->fast.page->result : (int64_t)r.rax;
	if (check_made(t, fault, result) < 0 || leave(t, &r) < 0 ||
	    (fault && lz_signal_undo_force(t, signo) < 0) || show_exit(t, &r, result, status) < 0)
		return -1;
	return fault ? 0 : lz_signal_put_back(t, signo);
}

void lz_fast_end_wait(struct lz_tracer *t)
{
	struct lz_thread_signals *s = &t->cur->sig;

	if (!t->fast.page || !t->cur->running || s->interrupted || !lz_sched_ready(t))
		return;
	__atomic_store_n(&t->fast.page->may_wait, 0, __ATOMIC_SEQ_CST);
	if (!lz_hand_may(t))
		__atomic_store_n(&t->fast.page->may_hand, 0, __ATOMIC_SEQ_CST);
	if (is_waiting(t) && ptrace(PTRACE_INTERRUPT, t->p.pid, 0, 0) == 0)
		s->interrupted = true;
}
