/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Has the program run since the last instant that a position names well?
 *
 * Equal registers do not tell: a loop may keep all that changes in memory. The kernel's orig_rax
 * does. It holds the system call's number until the program enters the kernel anew by anything
 * but a system call, which sets it to -1 (arch/x86/entry, "no syscall to restart"). So behind a
 * system call it is there by itself, and at other instants we put a number into it. */
#include "tracer/log/log.h"

enum { NOTHING_RAN = 0x4c5a };

/* The kernel's own errors, seen by tracers only: ERESTARTSYS to ERESTART_RESTARTBLOCK. */
bool lz_restarts(int64_t result)
{
	return result <= -512 && result >= -516 &&
	       result != -515; /* ENOIOCTLCMD never leaves the kernel */
}

/* With such a value in rax the kernel would take the number for a call to restart. */
void lz_instant_stamp(struct user_regs_struct *r)
{
	if (r->orig_rax == (uint64_t)-1 && !lz_restarts((int64_t)r->rax))
		r->orig_rax = NOTHING_RAN;
}

int lz_instant_here(struct lz_tracer *t, struct user_regs_struct *r)
{
	uint64_t before = r->orig_rax;

	lz_instant_stamp(r);
	t->cur->at = *r;
	t->cur->at_valid = true;
	t->cur->at_counted = t->cur->at_midway = t->cur->at_pages = false;
	t->cur->at_handler = t->cur->at_full = false;
	return r->orig_rax == before ? 0 : lz_proc_set_regs(&t->p, r);
}

int lz_instant_counted(struct lz_tracer *t, struct user_regs_struct *r, uint64_t state)
{
	if (lz_instant_here(t, r) < 0)
		return -1;
	t->cur->at_counted = true;
	t->cur->at_state = state;
	return 0;
}

int lz_instant_unmarked(struct lz_tracer *t, struct user_regs_struct *r, uint64_t state,
                        uint64_t vectors)
{
	if (lz_instant_counted(t, r, state) < 0)
		return -1;
	t->cur->at_pages = true;
	t->cur->at_vectors = vectors;
	return 0;
}

void lz_build_instant(struct lz_tracer *t, struct lz_thread *th)
{
	struct lz_event *ev = &t->b.ev;

	ev->has_state = th->at_counted;
	ev->state = th->at_counted ? th->at_state : 0;
	if (th->at_counted && th->at_pages) {
		ev->has_pages = true;
		ev->vectors = th->at_vectors;
		ev->pages = t->named.a;
		ev->n_pages = t->named.n;
	}
	th->at_counted = th->at_pages = false;
}

/* The registers, because the kernel itself may have set a system call up to be made again. */
bool lz_at_instant(const struct lz_tracer *t, const struct user_regs_struct *r)
{
	const struct user_regs_struct *a = &t->cur->at;

	return t->cur->at_valid && r->orig_rax != (uint64_t)-1 && a->rip == r->rip &&
	       a->rsp == r->rsp && a->rax == r->rax && a->rbx == r->rbx && a->rcx == r->rcx &&
	       a->rdx == r->rdx && a->rsi == r->rsi && a->rdi == r->rdi && a->rbp == r->rbp &&
	       a->r8 == r->r8 && a->r9 == r->r9 && a->r10 == r->r10 && a->r11 == r->r11 &&
	       a->r12 == r->r12 && a->r13 == r->r13 && a->r14 == r->r14 && a->r15 == r->r15 &&
	       a->eflags == r->eflags && a->fs_base == r->fs_base && a->gs_base == r->gs_base;
}
