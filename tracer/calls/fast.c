/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System calls without a stop: docs/design/calls.md.
 *
 * A fast thread is resumed with PTRACE_CONT. The kernel's syscall user dispatch lets the calls of
 * the stub through and reports all others by a SIGSYS, which is a stop. Such a call is made again,
 * with the stops of PTRACE_SYSCALL. */
#include "tracer/calls/fast.h"
#include "tracer/calls/calls.h"
#include "tracer/code/code.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/signals/signals.h"
#include "tracer/turns/shared_memory_lock.h"

#include <errno.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* Newer than Debian 12's headers. */
#define SET_DISPATCH ((enum __ptrace_request)0x4210)
enum { DISPATCH_OFF = 0, DISPATCH_ON = 1, DISPATCHED = 2 };
enum { ALLOW = 0, BLOCK = 1 };
struct dispatch {
	uint64_t mode, selector, offset, len;
};

/* Calls that could have been fast before the memory for it is made: most programs are short. */
enum { WORTH_IT = 24, FIRST_SLOT = 1 };

static uint64_t page_at(const struct lz_tracer *t)
{
	return t->fast.at + LZ_STUB_CODE;
}

static bool is_wanted(const struct lz_tracer *t)
{
	/* a checkpoint after each event needs a stop there */
	return t->opt->calls == LZ_CALLS_BUFFER && !t->fast.refused && t->opt->checkpoint_ms != 0;
}

/* Others must be looked at after each call. */
static bool is_allowed(const struct lz_tracer *t)
{
	return !lz_shared_by_others(t) && !t->shared_lock.held &&
	       !(t->sched.chaos.on && t->n_threads > 1);
}

/* ---- the kernel's part ---- */

static int dispatch(struct lz_tracer *t, bool on)
{
	struct dispatch d = {.mode = DISPATCH_ON,
	                     .selector = page_at(t) + offsetof(struct lz_call_page, selector) +
	                                 t->cur->slot,
	                     .offset = t->fast.at,
	                     .len = LZ_STUB_CODE};
	int64_t ret;

	if (!on)
		d = (struct dispatch){.mode = DISPATCH_OFF};
	if (ptrace(SET_DISPATCH, t->p.pid, sizeof(d), &d) == 0)
		return 0;
	if (errno == ESRCH)
		return -1;
	/* before Linux 6.4 */
	if (lz_proc_syscall(&t->p, &ret, SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, d.mode, d.offset,
	                    d.len, d.selector, 0) < 0)
		return -1;
	return ret < 0 ? 1 : 0;
}

int lz_fast_undispatch(struct lz_tracer *t)
{
	bool was = t->cur->dispatched;

	t->cur->dispatched = t->cur->fast = false;
	return was && dispatch(t, false) < 0 ? -1 : 0;
}

static bool has_slot(struct lz_tracer *t)
{
	if (!t->cur->slot && t->fast.n_slots + FIRST_SLOT < LZ_FAST_THREADS)
		t->cur->slot = FIRST_SLOT + t->fast.n_slots++;
	return t->cur->slot;
}

/* 1: it cannot be had. */
static int dispatch_on(struct lz_tracer *t)
{
	t->fast.page->selector[t->cur->slot] = ALLOW;
	int ret = dispatch(t, true);
	t->cur->dispatched = ret == 0;
	return ret;
}

/* ---- its memory ---- */

static int put_code(struct lz_tracer *t)
{
	const size_t len = (uintptr_t)__stop_lz_stub - (uintptr_t)__start_lz_stub;
	int64_t ret;

	if (lz_proc_syscall(&t->p, &ret, SYS_mmap, t->fast.at, LZ_STUB_CODE, PROT_READ | PROT_EXEC,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~0ULL, 0) < 0)
		return -1;
	if (ret < 0 || len > LZ_STUB_CODE)
		return 1;
	if (lz_proc_write(&t->p, t->fast.at, __start_lz_stub, len) < 0 ||
	    lz_proc_syscall(&t->p, &ret, SYS_madvise, t->fast.at,
	                    LZ_STUB_CODE + sizeof(struct lz_call_page), MADV_DONTFORK, 0, 0, 0) < 0)
		return -1;
	return 0;
}

/* 1: there is no room for it. */
static int make_page(struct lz_tracer *t)
{
	uint64_t at = LZ_STUB_ADDR - 0x10000000;
	struct lz_call_page *page = lz_share(t, sizeof(*page), &at, 0x400000);

	if (!page)
		return -1;
	t->fast.page = page;
	t->fast.taken = 0;
	t->fast.at = at - LZ_STUB_CODE;
	lz_fast_calls(page);
	lz_sites_begin(&t->fast.sites);
	t->fast.sites.code = t->fast.at;
	t->fast.sites.code_len = LZ_STUB_CODE;
	t->p.elsewhere = &t->fast.sites.elsewhere;
	return put_code(t);
}

void lz_fast_forget(struct lz_tracer *t)
{
	bool refused = t->fast.refused;

	if (t->fast.page)
		lz_debug("%" PRIu64 " system calls were made without a stop, at %zu places",
		         t->fast.n_taken, t->fast.sites.n);
	if (t->fast.page)
		munmap(t->fast.page, sizeof(*t->fast.page));
	lz_sites_free(&t->fast.sites);
	t->fast = (struct lz_fast){.refused = refused};
	t->p.elsewhere = NULL;
	for (size_t i = 0; i < t->n_threads; i++) {
		t->thread[i]->fast = t->thread[i]->dispatched = false;
		t->thread[i]->slot = 0;
	}
}

/* ---- sites ---- */

static uint64_t *unfit(struct lz_tracer *t, uint64_t at)
{
	return &t->fast.unfit[at / 2 % (sizeof(t->fast.unfit) / sizeof(*t->fast.unfit))];
}

/* Does the call at AT go by the stub from now on? */
static int change_site(struct lz_tracer *t, uint64_t at)
{
	if (lz_site_at(&t->fast.sites, at))
		return 1;
	if (*unfit(t, at) == at)
		return 0;
	int ret = lz_detour_make(t, at);
	if (ret == 0)
		*unfit(t, at) = at;
	return ret;
}

/* ---- what is to come ---- */

static int8_t *foresight(struct lz_tracer *t, uint64_t ip)
{
	return &t->fast.foresight[(ip ^ ip >> 9) / 2 % sizeof(t->fast.foresight)];
}

/* Where the pointer is that the site's code has, when the two candidates differ. */
static int learn_kind(struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;
	const struct lz_stream *s = &t->s;
	struct lz_site *x = lz_site_at(&t->fast.sites, c->ip - LZ_CALL_INSN);
	const uint64_t r15 = c->entry.r15;
	uint64_t pos;

	if (!x || x->kind != LZ_SITE_ANY || !s->mem ||
	    lz_proc_read_some(&t->p, s->pos_addr, &pos, sizeof(pos)) != sizeof(pos) || pos == r15)
		return 0;
	uint64_t end = s->base + (lz_stream_offset(t) - s->start);
	if (pos == end)
		return lz_detour_kind(t, x, LZ_SITE_PLAIN);
	return r15 == end ? lz_detour_kind(t, x, LZ_SITE_MARKERS) : 0;
}

/* A fast thread that has made no fast call has had a stop more than need be, one that is not fast
 * and could have made one has had two. */
int lz_fast_before_call(struct lz_tracer *t)
{
	struct lz_fast *f = &t->fast;
	const struct lz_call *c = &t->cur->call;

	if (!f->page)
		return 0;
	lz_fast_fds_before(t);
	lz_fast_give_code(t);
	if (learn_kind(t) < 0)
		return -1;
	if (!f->last_ip)
		return 0;
	int8_t *guess = foresight(t, f->last_ip);
	bool good = f->n_taken != f->n_taken_before ||
	            (!c->forced && c->nr < LZ_FAST_CALLS && f->page->call[c->nr].may &&
	             lz_site_at(&f->sites, c->ip - 2));
	if (good)
		*guess = 1;
	else if (*guess > -2)
		--*guess;
	return 0;
}

static bool is_worth_it(struct lz_tracer *t, uint64_t ip)
{
	t->fast.last_ip = ip;
	t->fast.n_taken_before = t->fast.n_taken;
	return *foresight(t, ip) >= 0;
}

/* The first time. 1: not now. */
static int begin(struct lz_tracer *t, bool may)
{
	t->fast.wanted += may;
	if (t->fast.wanted < WORTH_IT)
		return 1;
	int ret = make_page(t);
	if (ret == 1) {
		t->fast.refused = true;
		lz_debug("system calls are made with stops: there is no room for their log");
	}
	return ret;
}

int lz_fast_after_call(struct lz_tracer *t, struct user_regs_struct *r)
{
	const struct lz_call *c = &t->cur->call;
	bool may = !c->forced && lz_fast_may(c->nr);
	int ret;

	t->cur->fast = false;
	if (!is_wanted(t) || !t->w || t->exec_pending || c->int80 || (int64_t)r->rax == -EINTR)
		return 0;
	if (!t->fast.page && (ret = begin(t, may)))
		return ret < 0 ? -1 : 0;
	lz_fast_fds_after(t, (int64_t)r->rax);
	ret = may ? change_site(t, c->ip - LZ_CALL_INSN) : 0;
	if (ret < 0 || (ret && lz_proc_set_regs(&t->p, r) < 0))
		return -1;
	if (!is_worth_it(t, c->ip) || !is_allowed(t) || !has_slot(t))
		return 0;
	if (!t->cur->dispatched && (ret = dispatch_on(t))) {
		t->fast.refused = true;
		lz_debug("system calls are made with stops: %s", strerror(errno));
		return ret < 0 ? -1 : 0;
	}
	t->cur->fast = true;
	return 0;
}

/* ---- stops ---- */

int lz_fast_resume(struct lz_tracer *t, int request)
{
	struct lz_call_page *page = t->fast.page;
	struct lz_thread *cur = t->cur;

	if (!page || !cur->fast || request != PTRACE_SYSCALL || cur->call.inside ||
	    cur->call.suspended)
		return request;
	page->ring = t->s.mem ? t->s.base : 0;
	page->guard = LZ_BUFFER_GUARD;
	page->pos_addr = t->s.pos_addr;
	memcpy(page->code, t->fast.sites.code_of, sizeof(page->code));
	page->call[SYS_sched_yield].may = t->n_threads == 1;
	page->selector[cur->slot] = BLOCK;
	page->go = !cur->sig.armed && !cur->sig.stop_due && is_allowed(t);
	return PTRACE_CONT;
}

int lz_fast_stopped(struct lz_tracer *t)
{
	struct lz_call_page *page = t->fast.page;

	if (!page)
		return 0;
	page->selector[t->cur->slot] = ALLOW;
	page->go = 0;
	if (lz_fast_drain(t) < 0)
		return -1;
	/* else the call under way has its place behind what is there */
	if (!page->busy)
		page->head = t->fast.taken = 0;
	return 0;
}

int lz_fast_refused(struct lz_tracer *t, const siginfo_t *info, struct user_regs_struct *r)
{
	if (info->si_signo != SIGSYS || info->si_code != DISPATCHED || !t->cur->dispatched)
		return 0;
	t->cur->fast = false;
	r->rip -= LZ_CALL_INSN;
	r->orig_rax = (uint64_t)-1;
	if (lz_proc_set_regs(&t->p, r) < 0 || lz_signal_undo_force(t, SIGSYS) < 0)
		return -1;
	return 1;
}

int lz_fast_trap(struct lz_tracer *t, const siginfo_t *info, struct user_regs_struct *r)
{
	enum { INT3_LEN = 1 };
	uint64_t trap = t->fast.at + ((uintptr_t)lz_stub_trap - (uintptr_t)__start_lz_stub);

	if (!t->fast.page || info->si_signo != SIGTRAP || info->si_code != SI_KERNEL)
		return 0;
	if (r->rip != trap) {
		const struct lz_site *x = lz_site_of(&t->fast.sites, r->rip - INT3_LEN);

		if (!x || x->given_back)
			return 0;
		r->rip -= INT3_LEN;
		if (lz_proc_set_regs(&t->p, r) < 0)
			return -1;
	}
	return lz_signal_undo_force(t, SIGTRAP) < 0 ? -1 : 1;
}

bool lz_fast_inside(const struct lz_tracer *t, const struct user_regs_struct *r)
{
	const struct lz_sites *s = &t->fast.sites;
	uint64_t at;

	/* at a site: behind the stub rcx and r11 are not the program's any more */
	return t->fast.page && (lz_sites_inside(s, r->rip, &at) || lz_site_at(s, r->rip));
}

uint64_t lz_fast_shown(const struct lz_tracer *t, const struct user_regs_struct *r)
{
	uint64_t at;

	if (!t->fast.page || !lz_sites_inside(&t->fast.sites, r->rip, &at))
		return r->rip;
	return at ? at : t->fast.page->site;
}

void lz_fast_end(struct lz_tracer *t)
{
	if (!t->fast.page)
		return;
	t->fast.page->go = 0;
	memset(t->fast.page->selector, ALLOW, sizeof(t->fast.page->selector));
	for (size_t i = 0; i < t->n_threads; i++)
		t->thread[i]->fast = false;
}
