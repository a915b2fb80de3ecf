/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A call with stops that the stub has begun: it is made with what is left of its time, or of what is to
 * be written, and the program finds its own arguments again. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/state/process.h"
#include "tracer/state/state.h"
#include "tracer/turns/shared_memory_lock.h"

#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

enum { MS = 1000, MILLION = 1000000, BILLION = 1000000000 };

/* Rounded up. */
static uint64_t rest_in_ms(const struct lz_thread *th)
{
	enum { MOST_SECONDS = INT32_MAX / MS };
	const int64_t seconds = th->wait_left[0], ns = th->wait_left[1];

	return seconds > MOST_SECONDS ? INT32_MAX
	                              : (uint64_t)(seconds * MS + (ns + MILLION - 1) / MILLION);
}

/* In the program's memory, with so many units in a second; rounded up. */
static uint64_t rest_at(const struct lz_tracer *t, int64_t fraction)
{
	const int64_t ns = t->cur->wait_left[1], unit = BILLION / fraction;
	const int64_t part = (ns + unit - 1) / unit;
	uint64_t at;
	int64_t *const rest = lz_fast_rest(t, &at);

	rest[0] = t->cur->wait_left[0] + part / fraction;
	rest[1] = part % fraction;
	return at;
}

/* A socket whose other end has gone raises SIGPIPE only if nothing of a write was sent. */
static void quietly(const struct lz_tracer *t, const struct lz_call *c, struct user_regs_struct *r)
{
	if (c->nr == SYS_write && lz_fd_is_socket(t, (int)c->args[0])) {
		r->orig_rax = SYS_sendto;
		r->r10 = r->r8 = r->r9 = 0;
	}
	if (r->orig_rax == SYS_sendto)
		r->r10 |= MSG_NOSIGNAL;
}

/* PART is what the page says: it is untrusted. */
static bool begin_behind(const struct lz_tracer *t, uint64_t part, struct user_regs_struct *r)
{
	struct lz_call *c = &t->cur->call;

	if (!part || (c->nr != SYS_write && c->nr != SYS_sendto) || part >= c->args[2])
		return false;
	r->rsi += part;
	r->rdx -= part;
	c->part = part;
	quietly(t, c, r);
	return true;
}

int lz_call_shorten(struct lz_tracer *t, struct user_regs_struct *r)
{
	struct lz_thread *cur = t->cur;
	const uint64_t part = cur->part;
	const bool cut = cur->wait_cut;

	cur->wait_cut = false;
	cur->part = 0;
	if (cur->call.forced)
		return 0;
	cur->call.shortened = begin_behind(t, part, r);
	if (cur->call.shortened)
		return lz_proc_set_regs(&t->p, r);
	if (!cut)
		return 0;
	switch (cur->call.nr) {
	case SYS_poll: r->rdx = rest_in_ms(cur); break;
	case SYS_epoll_wait:
	case SYS_epoll_pwait: r->r10 = rest_in_ms(cur); break;
	case SYS_epoll_pwait2: r->r10 = rest_at(t, BILLION); break;
	case SYS_select: r->r8 = rest_at(t, MILLION); break;
	case SYS_pselect6: r->r8 = rest_at(t, BILLION); break;
	case SYS_ppoll: r->rdx = rest_at(t, BILLION); break;
	case SYS_nanosleep: r->rdi = rest_at(t, BILLION); break;
	case SYS_clock_nanosleep:
		if (cur->call.args[1] & TIMER_ABSTIME)
			return 0;
		r->rdx = rest_at(t, BILLION);
		break;
	default: return 0;
	}
	cur->call.shortened = true;
	return lz_proc_set_regs(&t->p, r);
}

/* A wait for a futex that processes share, for less than a slice. */
static bool is_short_wait(const struct lz_tracer *t, const struct lz_call *c, int64_t slice)
{
	int64_t time[2];

	return c->nr == SYS_futex && (int)c->args[1] == FUTEX_WAIT && c->args[3] &&
	       lz_proc_read_some(&t->p, c->args[3], time, sizeof(time)) == sizeof(time) &&
	       time[0] == 0 && time[1] > 0 && time[1] < slice;
}

int lz_call_wait_longer(struct lz_tracer *t, struct user_regs_struct *r)
{
	const int64_t slice = (int64_t)t->sched.slice;
	const int64_t time[2] = {slice / BILLION, slice % BILLION};
	struct lz_call *c = &t->cur->call;

	if (c->forced || !lz_shared_lock_wanted(t) || !is_short_wait(t, c, slice))
		return 0;
	r->r10 = lz_scratch(t, &t->p);
	if (lz_proc_write(&t->p, r->r10, time, sizeof(time)) < 0)
		return -1;
	c->shortened = true;
	return lz_proc_set_regs(&t->p, r);
}

/* Where the call tells what is left of its time; 0: it does not. */
static uint64_t told_at(const struct lz_call *c)
{
	switch (c->nr) {
	case SYS_select:
	case SYS_pselect6: return c->args[4];
	case SYS_ppoll: return c->args[2];
	default: return 0;
	}
}

int lz_call_lengthen(struct lz_tracer *t, struct user_regs_struct *r)
{
	struct lz_call *c = &t->cur->call;
	const uint64_t at = told_at(c);
	uint64_t unused;

	if (!c->shortened)
		return 0;
	c->shortened = false;
	/* another thread may have unmapped it, as it may natively */
	if (at)
		lz_proc_write(&t->p, at, lz_fast_rest(t, &unused), 2 * sizeof(int64_t));
	/* a part is what a call gives that fails behind it, or that a signal ends there */
	if (c->part && r->orig_rax == SYS_sendto)
		r->orig_rax = c->nr;
	if (c->part)
		r->rax = c->part + ((int64_t)r->rax > 0 ? r->rax : 0);
	c->part = 0;
	r->rdi = c->entry.rdi;
	r->rsi = c->entry.rsi;
	r->rdx = c->entry.rdx;
	r->r10 = c->entry.r10;
	r->r8 = c->entry.r8;
	r->r9 = c->entry.r9;
	return lz_proc_set_regs(&t->p, r);
}
