/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that wait for each other by a futex, without the kernel.
 *
 * The kernel has reported the call, and another thread can run: so this one stands where it is. The
 * shared page says for what it waits. Whoever wakes it, the stub or the tracer, finds it there; its
 * call is over when it has the turn. The kernel could do more: it knows times and signals. So after
 * a while, and as soon as nobody else can run, the call is really made. */
#include "tracer/calls/fast.h"
#include "tracer/log/log.h"
#include "tracer/state/state.h"
#include "tracer/turns/turns.h"

#include <errno.h>
#include <lizard/error.h>
#include <linux/futex.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { LONG_TICKS = 2, BILLION = 1000000000, ERESTARTSYS = 512 };

static struct lz_futex_wait *place_of(const struct lz_tracer *t, const struct lz_thread *th)
{
	return &t->fast.page->parked[th->parked - 1];
}

/* ---- going to wait ---- */

static uint32_t bits_of(const struct user_regs_struct *r)
{
	return ((int)r->rsi & FUTEX_CMD_MASK) == FUTEX_WAIT ? UINT32_MAX : (uint32_t)r->r9;
}

/* A time that has begun would begin anew if the call was made later: it must be an instant. */
static bool is_parkable_call(const struct lz_tracer *t, const struct user_regs_struct *r)
{
	const int op = (int)r->rsi & FUTEX_CMD_MASK;
	int64_t until[2];

	if (r->rax != SYS_futex || !t->fast.page->call[SYS_futex].may ||
	    !(r->rsi & FUTEX_PRIVATE_FLAG) || r->rdi % 4 || !bits_of(r) ||
	    (op != FUTEX_WAIT_BITSET && (op != FUTEX_WAIT || r->r10)))
		return false;
	return !r->r10 ||
	       (lz_proc_read_some(&t->p, r->r10, until, sizeof(until)) == sizeof(until) &&
	        until[0] >= 0 && until[1] >= 0 && until[1] < BILLION);
}

/* The stub has just looked, if the call was made by it. */
static bool is_unchanged(const struct lz_tracer *t, const struct user_regs_struct *r)
{
	uint32_t word;

	if (t->fast.page->word_at == r->rdi)
		return true;
	return lz_proc_read_some(&t->p, r->rdi, &word, sizeof(word)) == sizeof(word) &&
	       word == (uint32_t)r->rdx;
}

static bool is_free(const struct lz_thread *th)
{
	const struct lz_thread_signals *s = &th->sig;

	return !th->call.suspended && !s->armed && !s->interrupted && !s->stop_due && !s->n_held &&
	       !s->n_sent;
}

static uint32_t free_place(const struct lz_call_page *p)
{
	uint32_t i = 0;

	while (i < LZ_PARKED && p->parked[i].at)
		i++;
	return i;
}

void lz_wait_enter(struct lz_tracer *t, const struct user_regs_struct *r)
{
	struct lz_call *c = &t->cur->call;

	*c = (struct lz_call){.inside = true,
	                      .nr = r->rax,
	                      .args = {r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9},
	                      .ip = r->rip,
	                      .row = lz_syscall(r->rax)};
	c->entry = *r;
	c->entry.orig_rax = c->nr;
	c->entry.rax = (uint64_t)-ENOSYS;
}

int lz_wait_park(struct lz_tracer *t, const struct user_regs_struct *r)
{
	struct lz_call_page *p = t->fast.page;
	struct lz_thread *cur = t->cur;
	const uint32_t i = free_place(p);

	if (t->fast.ended || i == LZ_PARKED || !is_free(cur) || !lz_sched_ready(t) ||
	    !is_parkable_call(t, r) || !is_unchanged(t, r))
		return 0;
	lz_wait_enter(t, r);
	if (lz_stream_call(t, &cur->call.entry) < 0)
		return -1;
	cur->parked = i + 1;
	cur->parked_since = t->fast.n_ticks;
	t->fast.n_parked++;
	p->parked[i] =
	    (struct lz_futex_wait){.at = r->rdi, .ticket = ++p->tickets, .bits = bits_of(r)};
	if (p->parked_end <= i)
		p->parked_end = i + 1;
	return 1;
}

/* ---- its end ---- */

bool lz_wait_take(struct lz_tracer *t, struct lz_thread *th)
{
	struct lz_futex_wait *w = place_of(t, th);

	if (__atomic_fetch_or(&w->state, LZ_WOKEN, __ATOMIC_SEQ_CST) & LZ_WOKEN)
		return false;
	w->at = 0;
	th->parked = 0;
	return true;
}

static void show_as_over(struct lz_thread *th)
{
	th->has_pending_status = true;
	th->pending_status = (SIGTRAP | 0x80) << 8 | 0x7f;
}

void lz_wait_look(struct lz_tracer *t)
{
	for (size_t i = 0; t->fast.page && i < t->n_threads; i++) {
		struct lz_thread *th = t->thread[i];

		if (th == t->cur || !th->parked || th->ready || th->halted ||
		    th->has_pending_status ||
		    !(__atomic_load_n(&place_of(t, th)->state, __ATOMIC_SEQ_CST) & LZ_WOKEN))
			continue;
		th->ready = true;
		show_as_over(th);
	}
}

/* It stands behind the call's instruction, which may have become a jump meanwhile. Where there is one,
 * lz_call_exit() sets the registers. */
int lz_wait_over(struct lz_tracer *t, struct user_regs_struct *r)
{
	struct lz_thread *cur = t->cur;

	place_of(t, cur)->at = 0;
	cur->parked = 0;
	*r = cur->call.entry;
	r->rax = 0;
	return lz_site_behind(&t->fast.sites, r->rip) ? 0 : lz_proc_set_regs(&t->p, r);
}

int lz_wait_make_again(struct lz_tracer *t)
{
	struct lz_call *c = &t->cur->call;
	struct user_regs_struct r = c->entry;

	r.rax = (uint64_t)-ERESTARTSYS;
	c->inside = false;
	c->suspended = true;
	return lz_proc_set_regs(&t->p, &r) < 0 ? -1 : lz_instant_here(t, &r);
}

/* The same, before the thread goes on. The kernel makes it again only if the thread has stopped for a signal:
 * behind a call that was made for it, with SIGTRAP blocked, it does not. */
static int make_again_now(struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;
	struct user_regs_struct r = c->entry;

	r.rip -= LZ_CALL_INSN;
	r.rax = c->nr;
	r.orig_rax = (uint64_t)-1;
	return lz_wait_make_again(t) < 0 ? -1 : lz_proc_set_regs(&t->p, &r);
}

int lz_wait_really(struct lz_tracer *t)
{
	struct user_regs_struct r;

	if (!t->cur->parked)
		return 1;
	if (lz_wait_take(t, t->cur))
		return make_again_now(t);
	show_as_over(t->cur);
	return lz_wait_over(t, &r) < 0 || lz_proc_set_regs(&t->p, &r) < 0 ? -1 : 1;
}

static int go_on(struct lz_tracer *t, struct lz_thread *th)
{
	struct lz_thread *cur = t->cur;
	int ret = lz_standby_end(t, th);

	if (ret <= 0)
		return ret;
	ret = 0;
	if (!lz_wait_take(t, th))
		return 0;
	lz_become(t, th);
	/* killed: that is met later */
	if (lz_thread_save_xstate(t) == 0 && make_again_now(t) == 0 &&
	    ptrace(PTRACE_SYSCALL, t->p.pid, 0, 0) < 0 && errno != ESRCH)
		ret = lz_fail_errno("cannot resume thread %u", th->tid);
	th->running = true;
	lz_become(t, cur);
	return ret;
}

bool lz_wait_any(const struct lz_tracer *t)
{
	for (size_t i = 0; t->fast.page && i < t->n_threads; i++)
		if (t->thread[i]->parked && !t->thread[i]->ready)
			return true;
	return false;
}

int lz_wait_others_really(struct lz_tracer *t, unsigned ticks)
{
	for (size_t i = 0; t->fast.page && i < t->n_threads; i++) {
		struct lz_thread *th = t->thread[i];

		if (th != t->cur && th->parked && !th->ready &&
		    t->fast.n_ticks - th->parked_since >= ticks && go_on(t, th) < 0)
			return -1;
	}
	return 0;
}

int lz_wait_tick(struct lz_tracer *t)
{
	t->fast.n_ticks++;
	lz_wait_look(t);
	return lz_wait_others_really(t, LONG_TICKS);
}

/* ---- calls that wake, with a stop ---- */

int lz_wait_before_call(struct lz_tracer *t)
{
	enum { FUTEX_WAKE_2 = 454, FUTEX_REQUEUE_2 = 456 };
	const struct lz_call *c = &t->cur->call;

	if (c->nr == FUTEX_WAKE_2 || c->nr == FUTEX_REQUEUE_2)
		return lz_wait_others_really(t, 0);
	if (c->nr != SYS_futex)
		return 0;
	switch ((int)c->args[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET: return 0;
	default: return lz_wait_others_really(t, 0);
	}
}

int64_t lz_wait_wake(struct lz_tracer *t, int64_t result)
{
	const struct lz_call *c = &t->cur->call;

	if (!t->fast.page || c->nr != SYS_futex || result < 0)
		return result;
	result = lz_wake_parked(t->fast.page, c->args, result);
	lz_wait_look(t);
	return result;
}
