/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System calls without a stop: docs/design/calls.md.
 *
 * A fast thread is resumed with PTRACE_CONT. The kernel's syscall user dispatch lets the calls of
 * the stub through and reports all others by a SIGSYS, which is a stop. Such a call is made again,
 * with the stops of PTRACE_SYSCALL. */
#include "tracer/calls/fast.h"
#include "tracer/calls/calls.h"
#include "tracer/checkpoint/checkpoint.h"
#include "tracer/code/code.h"
#include "tracer/filters/filters.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"
#include "tracer/signals/signals.h"
#include "tracer/turns/shared_memory_lock.h"
#include "tracer/turns/turns.h"

#include <common/process/detour.h>
#include <errno.h>
#include <lizard/error.h>
#include <lizard/xsavec.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Newer than Debian 12's headers. */
#define SET_DISPATCH ((enum __ptrace_request)0x4210)
enum { DISPATCH_OFF = 0, DISPATCH_ON = 1, DISPATCHED = 2 };
enum { ALLOW = 0, BLOCK = 1 };
struct dispatch {
	uint64_t mode, selector, offset, len;
};

/* Calls that could have been fast before the memory for it is made: most programs are short, and a start with
 * one library makes 32. */
enum { WORTH_IT = 40, FIRST_SLOT = 1 };

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

/* The kernel then does not store what is left of a time. */
void lz_fast_personality(struct lz_tracer *t, uint64_t flags)
{
	t->fast.sticky |= (int)flags != LZ_ASK_PERSONALITY && flags & STICKY_TIMEOUTS;
}

static int put_code(struct lz_tracer *t)
{
	const size_t len = (uintptr_t)__stop_lz_stub - (uintptr_t)__start_lz_stub;

	if (len > LZ_STUB_CODE)
		return 1;
	return lz_proc_write(&t->p, t->fast.at, __start_lz_stub, len);
}

/* The program may have none of it: it goes on without. */
static bool is_forbidden(int error)
{
	return error == EACCES || error == EFBIG || error == ENOMEM || error == EMFILE ||
	       error == ENFILE;
}

/* 1: there is no room for it, the program's descriptors cannot be had, or no file may be so large. */
static int make_page(struct lz_tracer *t)
{
	uint64_t at = LZ_STUB_ADDR - 0x10000000;
	struct lz_call_page *page = lz_share(t, sizeof(*page), &at, 0x400000, LZ_STUB_CODE);

	if (!page)
		return is_forbidden(errno) ? 1 : -1;
	t->fast.page = page;
	t->fast.taken = 0;
	page->may_refer = LZ_REFERRED_MOST;
	t->fast.at = at - LZ_STUB_CODE;
	page->counter.last = t->fast.counter.last;
	memcpy(page->alone, t->fast.alone, sizeof(page->alone));
	if (lz_xsavec_by_chance())
		lz_xsavec_components(t->fast.component);
	memcpy(page->component, t->fast.component, sizeof(page->component));
	lz_fast_calls(page);
	lz_fast_filter(t);
	lz_fast_fds_begin(t);
	lz_detours_begin(t);
	t->fast.sites.code = t->fast.at;
	t->fast.sites.code_len = LZ_STUB_CODE;
	return put_code(t);
}

void lz_fast_forget(struct lz_tracer *t)
{
	struct lz_fast kept = {.refused = t->fast.refused,
	                       .leased = t->fast.leased,
	                       .counter_first = t->fast.counter_first,
	                       .counter_early = t->fast.counter_early,
	                       .counter = t->fast.counter};

	lz_fast_tell(t);
	lz_leases_drop(t);
	if (t->fast.page)
		kept.counter.last = t->fast.page->counter.last;
	if (t->fast.page)
		munmap(t->fast.page, sizeof(*t->fast.page));
	lz_sites_free(&t->fast.sites);
	t->fast = kept;
	t->p.elsewhere = NULL;
	for (size_t i = 0; i < t->n_threads; i++) {
		t->thread[i]->fast = t->thread[i]->dispatched = t->thread[i]->counter_open = false;
		t->thread[i]->standby = false;
		t->thread[i]->slot = t->thread[i]->parked = 0;
	}
}

int64_t *lz_fast_rest(const struct lz_tracer *t, uint64_t *at)
{
	*at = page_at(t) + offsetof(struct lz_call_page, rest[t->cur->slot]);
	return t->fast.page->rest[t->cur->slot];
}

/* ---- sites ---- */

static uint64_t *unfit(struct lz_tracer *t, uint64_t at)
{
	return &t->fast.unfit[at / 2 % (sizeof(t->fast.unfit) / sizeof(*t->fast.unfit))];
}

/* Is a thread on its way to the instruction at AT, which it is to execute, maybe again? */
static bool is_awaited(const struct lz_tracer *t, uint64_t at)
{
	for (size_t i = 0; i < t->n_threads; i++) {
		const struct lz_thread *th = t->thread[i];

		if (th->running && (th->call.suspended || th->call.stepped) &&
		    th->call.ip == at + LZ_CALL_INSN)
			return true;
	}
	return false;
}

bool lz_fast_site_stays(struct lz_tracer *t, uint64_t at)
{
	return lz_site_at(&t->fast.sites, at) || *unfit(t, at) == at;
}

/* Does the call at AT go by the stub from now on? */
static int change_site(struct lz_tracer *t, uint64_t at)
{
	struct lz_site *x = lz_site_at(&t->fast.sites, at);

	if (x && !x->faults)
		return 1;
	if (*unfit(t, at) == at || is_awaited(t, at))
		return 0;
	if (x && lz_site_end_fault(&t->fast.sites, &t->p, x) < 0)
		return -1;
	int ret = lz_detour_make(t, at);
	if (ret == 0)
		*unfit(t, at) = at;
	return ret;
}

/* ---- what is to come ---- */

/* By the address from which the thread goes on, and by the call that is over, if there is one: in some
 * C libraries many have one site in common. */
static bool is_worth_it(struct lz_tracer *t, uint64_t ip, uint64_t nr)
{
	struct lz_fast *f = &t->fast;
	const uint64_t key = ip / 2 ^ nr * 0x9e3779b97f4a7c15;

	f->guess = &f->foresight[(key ^ key >> 9 ^ key >> 40) % LZ_GUESSES];
	f->n_taken_before = f->n_taken;
	return f->guess->fast >= 0;
}

/* Where the pointer is that the site's code has, when the two candidates differ. */
static int learn_kind(struct lz_tracer *t, uint64_t at, uint64_t r15)
{
	const struct lz_stream *s = &t->s;
	struct lz_site *x = lz_site_at(&t->fast.sites, at);
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
 * and could have made one has had two. What would have waited may do so again: after the second
 * time the next try comes two stops later, and twice as late each further time. */
static void learn(struct lz_tracer *t, bool refused)
{
	enum { MOST_WAITS = 4 };
	struct lz_fast *f = &t->fast;
	const struct lz_call *c = &t->cur->call;
	struct lz_guess *g = f->guess;
	const bool tried = f->could && lz_fast_try(c->nr);

	if (f->n_taken != f->n_taken_before) {
		g->fast = 1;
		g->waits = 0;
	} else if (tried && refused && g->fast > 0) {
		g->fast = 0;
	} else if (tried && refused) {
		g->waits += g->waits < MOST_WAITS;
		g->fast = (int8_t) - (1 << g->waits);
	} else if (tried && g->fast < 0) {
		g->fast++;
	} else if (f->could && f->page->call[c->nr].may &&
	           lz_site_at(&f->sites, c->ip - LZ_CALL_INSN)) {
		g->fast = 1;
	} else if (g->fast > -2) {
		g->fast--;
	}
}

int lz_fast_before_call(struct lz_tracer *t)
{
	struct lz_fast *f = &t->fast;
	const struct lz_call *c = &t->cur->call;
	const bool refused = t->cur->refused_at;

	t->cur->refused_at = 0;
	/* who opens the file then waits for the program */
	if (c->nr == SYS_fcntl && c->args[1] == F_SETLEASE)
		f->leased = true;
	lz_positions_before(t);
	if (lz_leases_before(t) < 0)
		return -1;
	lz_fast_fds_part(t);
	if (c->nr == SYS_personality)
		lz_fast_personality(t, c->args[0]);
	if (!f->page)
		return 0;
	if (lz_wait_before_call(t) < 0)
		return -1;
	if (c->nr < LZ_FAST_CALLS)
		f->stops_of[c->nr]++;
	f->could = lz_fast_could(t);
	lz_fast_fds_before(t);
	lz_fast_give_code(t);
	if (learn_kind(t, c->ip - LZ_CALL_INSN, c->entry.r15) < 0)
		return -1;
	if (f->guess)
		learn(t, refused);
	return 0;
}

/* 1: it cannot be had. */
static int make_log(struct lz_tracer *t)
{
	const int ret = make_page(t);

	if (ret == 1) {
		t->fast.refused = true;
		lz_debug("system calls are made with stops: their log cannot be had");
	}
	return ret;
}

/* The first time. 1: not now. */
static int begin(struct lz_tracer *t, bool may)
{
	t->fast.wanted += may;
	if (t->fast.wanted < WORTH_IT)
		return 1;
	return make_log(t);
}

/* The current thread makes calls without a stop. */
static int go_fast(struct lz_tracer *t)
{
	int ret;

	if (!is_allowed(t) || !has_slot(t))
		return 0;
	if (!t->cur->dispatched && (ret = dispatch_on(t))) {
		t->fast.refused = true;
		lz_debug("system calls are made with stops: %s", strerror(errno));
		return ret < 0 ? -1 : 0;
	}
	t->cur->fast = true;
	return 0;
}

/* A small program mostly ends before it has made the calls that the log's memory is worth. */
static bool is_large(const struct lz_tracer *t)
{
	enum { LARGE = 200 << 10 };
	char link[32];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)t->p.pid);
	return stat(link, &st) == 0 && st.st_size >= LARGE;
}

int lz_fast_image(struct lz_tracer *t)
{
	struct lz_sites *s = &t->fast.sites;

	if (t->opt->calls != LZ_CALLS_BUFFER)
		return 0;
	const int begun = is_wanted(t) && t->linked && is_large(t) ? make_log(t) : 1;
	if (begun < 0)
		return -1;
	lz_detours_begin(t);
	lz_sites_make_many(s);
	if (lz_cpuid_sites(t) < 0 || (!begun && lz_linker_sites(t) < 0) ||
	    lz_sites_made(s, &t->p) < 0)
		return -1;
	return begun ? 0 : go_fast(t);
}

int lz_fast_after_call(struct lz_tracer *t, struct user_regs_struct *r)
{
	const struct lz_call *c = &t->cur->call;
	bool may;
	int ret;

	t->cur->fast = false;
	lz_positions_after(t, (int64_t)r->rax);
	if (!is_wanted(t) || !t->w || t->exec_pending || c->int80 || (int64_t)r->rax == -EINTR)
		return 0;
	if (!t->fast.page && (ret = begin(t, lz_fast_could(t))))
		return ret < 0 ? -1 : 0;
	lz_fast_fds_after(t, (int64_t)r->rax);
	may = t->fast.could || lz_fast_could(t);
	/* lz_call_exit() has put it into the detour */
	const bool there = lz_site_behind(&t->fast.sites, r->rip);
	ret = may ? change_site(t, c->ip - LZ_CALL_INSN) : 0;
	if (ret < 0 || (ret && !there && lz_proc_set_regs(&t->p, r) < 0))
		return -1;
	return is_worth_it(t, c->ip, c->nr) ? go_fast(t) : 0;
}

void lz_fast_at_handler(struct lz_tracer *t, uint64_t ip)
{
	if (t->cur->fast && !is_worth_it(t, ip, 0))
		t->cur->fast = false;
}

int lz_fast_after_insn(struct lz_tracer *t, uint64_t at, bool counter, struct user_regs_struct *r)
{
	const bool was = t->cur->fast;
	int ret;

	t->cur->fast = false;
	if (!is_wanted(t) || !t->w)
		return 0;
	if (!lz_segments_readable() ||
	    (counter && (lz_counter_forbidden(t) || !lz_counter_scale(t))))
		return was ? go_fast(t) : 0;
	if (!t->fast.page && (ret = begin(t, counter)))
		return ret < 0 ? -1 : 0;
	ret = change_site(t, at);
	if (ret < 0 || learn_kind(t, at, r->r15) < 0 || (ret && lz_proc_set_regs(&t->p, r) < 0))
		return -1;
	return ret ? go_fast(t) : 0;
}

/* ---- stops ---- */

/* Nobody else could run meanwhile, and nothing has to be looked at: that others attach a segment of
 * System V shared memory is told by nobody. */
static bool may_wait(struct lz_tracer *t)
{
	return !t->fast.no_waits && !t->fast.sticky && !lz_sched_ready(t) && !lz_wait_any(t) &&
	       !(t->shared && t->shared->segments);
}

/* Calls that would give other threads a turn. */
static void allow_alone(struct lz_tracer *t)
{
	static const uint16_t nr[] = {SYS_sched_yield, SYS_fsync, SYS_fdatasync};

	for (size_t i = 0; i < sizeof(nr) / sizeof(*nr); i++)
		t->fast.page->call[nr[i]].may =
		    t->n_threads == 1 && lz_thread_may_call(t->cur, nr[i]);
}

int lz_fast_resume(struct lz_tracer *t, int request)
{
	struct lz_call_page *page = t->fast.page;
	struct lz_thread *cur = t->cur;

	if (page && lz_clock_resume(t) < 0)
		return -1;
	if (page)
		lz_hand_resume(t);
	if (cur->call.stepped && request == PTRACE_SYSCALL)
		return PTRACE_SINGLESTEP;
	if (!page || !cur->fast || request != PTRACE_SYSCALL || cur->call.inside ||
	    cur->call.suspended)
		return request;
	page->ring = t->s.mem ? t->s.base : 0;
	page->guard = LZ_BUFFER_GUARD;
	page->pos_addr = t->s.pos_addr;
	lz_fast_maps_resume(t);
	page->cpu = t->borrowed.told_cpu;
	page->node = t->borrowed.told_node;
	page->counter.tsc = t->fast.counter.tsc;
	page->counter.ns = t->fast.counter.ns;
	page->counter.scale = t->fast.counter.scale;
	memcpy(page->code, t->fast.sites.code_of, sizeof(page->code));
	allow_alone(t);
	lz_fast_fds_resume(t);
	page->selector[cur->slot] = BLOCK;
	page->go = !cur->sig.armed && !cur->sig.stop_due && is_allowed(t) && !lz_outside_news(t) &&
	           !lz_lease_wanted;
	page->may_wait = may_wait(t);
	page->may_hand = lz_hand_may(t);
	page->sticky = t->fast.sticky;
	page->one_thread = t->n_threads == 1;
	page->full = 0;
	page->word_at = 0;
	return PTRACE_CONT;
}

void lz_fast_tick(struct lz_tracer *t)
{
	struct lz_call_page *page = t->fast.page;

	if (page && t->w && (lz_outside_news(t) || page->has_small || lz_checkpoint_due(t)))
		page->go = 0;
}

int lz_fast_stopped(struct lz_tracer *t)
{
	struct lz_call_page *page = t->fast.page;

	if (!page)
		return 0;
	const bool went = page->go;
	page->selector[t->cur->slot] = ALLOW;
	page->go = 0;
	if (!lz_hand_on_the_way(t))
		lz_clock_stopped(t);
	if (lz_fast_drain(t) < 0 || lz_small_settle(t) < 0)
		return -1;
	if (page->part)
		t->cur->part = page->part;
	page->part = page->has_small = 0;
	lz_fast_maps_stopped(t, went);
	page->may_refer = LZ_REFERRED_MOST;
	lz_wait_look(t);
	/* else the call under way has its place behind what is there */
	if (!page->busy) {
		page->head = page->notes = page->n_calls = t->fast.taken = 0;
		lz_fast_keep_rest(t);
	}
	return 0;
}

bool lz_fast_is_report(const siginfo_t *info)
{
	return info->si_signo == SIGSYS && info->si_code == DISPATCHED;
}

/* Would the stub make the call of the thread with registers R? */
static bool stub_makes(struct lz_tracer *t, const struct user_regs_struct *r)
{
	struct lz_call *c = &t->cur->call, was = *c;

	if (r->rax >= LZ_FAST_CALLS || !t->fast.page->call[r->rax].may)
		return false;
	*c = (struct lz_call){.nr = r->rax, .args = {r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9}};
	const bool could = lz_fast_could(t);
	*c = was;
	return could;
}

/* At the first call by an instruction, which becomes a jump at once: the thread stands at that, and makes its
 * call by it without the two stops. 1; 0: it does not. */
static int take_jump(struct lz_tracer *t, const struct user_regs_struct *r)
{
	struct lz_thread *cur = t->cur;
	struct lz_proc plain = t->p;

	if (t->fast.ended || t->exec_pending || cur->call.suspended || !lz_signal_none_due(cur) ||
	    !is_allowed(t) || lz_fast_site_stays(t, r->rip) || !stub_makes(t, r))
		return 0;
	const int ret = change_site(t, r->rip);
	if (ret <= 0)
		return ret;
	/* the jump itself, not what is in its place */
	plain.elsewhere = NULL;
	cur->fast = true;
	return lz_proc_set_regs(&plain, r) < 0 ? -1 : 1;
}

int lz_fast_refused(struct lz_tracer *t, const siginfo_t *info, struct user_regs_struct *r)
{
	if (!lz_fast_is_report(info) || !t->cur->dispatched)
		return 0;
	t->cur->fast = false;
	int parked = lz_wait_park(t, r);
	/* else it would be refused each time */
	if (parked > 0 && learn_kind(t, r->rip - LZ_CALL_INSN, r->r15) < 0)
		return -1;
	if (parked)
		return parked < 0 || lz_signal_undo_force(t, SIGSYS) < 0 ? -1 : 1;
	r->rip -= LZ_CALL_INSN;
	r->orig_rax = (uint64_t)-1;
	/* first, as it may make a call, behind which the thread would not stand at the jump */
	if (lz_signal_undo_force(t, SIGSYS) < 0)
		return -1;
	const int again = lz_fast_make_again(t, r);
	const int taken = again ? again : take_jump(t, r);
	const int begun = taken ? taken : lz_step_begin(t, r);
	if (begun)
		return begun;
	t->fast.n_refused++;
	t->cur->refused_at = r->rip;
	return lz_proc_set_regs(&t->p, r) < 0 ? -1 : 1;
}

static struct lz_site *trapped_site(const struct lz_tracer *t, uint64_t at)
{
	struct lz_site *x = lz_site_of(&t->fast.sites, at);

	return x ? x : lz_site_padding(&t->fast.sites, at);
}

static int leave_trap(struct lz_tracer *t, struct lz_site *x)
{
	const uint64_t site = x->at;

	t->fast.n_traps++;
	bool *used = lz_site_used(t, site + x->len);
	/* of a cpuid the log does not tell */
	const int gone = lz_site_trapped(&t->fast.sites, &t->p, x, *used || x->cpuid);

	*used = false;
	if (gone > 0)
		*unfit(t, site) = site;
	return gone;
}

static int take_trap(struct lz_tracer *t, struct user_regs_struct *r)
{
	enum { INT3_LEN = 1 };
	uint64_t trap = t->fast.at + ((uintptr_t)lz_stub_trap - (uintptr_t)__start_lz_stub);

	if (!t->p.elsewhere)
		return 0;
	if (!t->fast.page || r->rip != trap) {
		struct lz_site *x = trapped_site(t, r->rip - INT3_LEN);

		if (!x || x->given_back)
			return 0;
		r->rip -= INT3_LEN;
		if (leave_trap(t, x) < 0 || lz_proc_set_regs(&t->p, r) < 0)
			return -1;
	}
	return lz_signal_undo_force(t, SIGTRAP) < 0 ? -1 : 1;
}

int lz_fast_trap(struct lz_tracer *t, const siginfo_t *info, struct user_regs_struct *r)
{
	return info->si_signo == SIGTRAP && info->si_code == SI_KERNEL ? take_trap(t, r) : 0;
}

int lz_fast_trap_behind(struct lz_tracer *t, struct user_regs_struct *r)
{
	/* in a detour the program's address is shown, which may be right behind a trap's */
	const long at = ptrace(PTRACE_PEEKUSER, t->p.pid, offsetof(struct user, regs.rip), 0);

	return (uint64_t)at == r->rip ? take_trap(t, r) : 0;
}

bool lz_fast_inside(const struct lz_tracer *t, const struct user_regs_struct *r)
{
	const struct lz_sites *s = &t->fast.sites;
	uint64_t at;

	/* at a site: behind the stub rcx and r11 are not the program's any more */
	return t->p.elsewhere && (lz_sites_inside(s, r->rip, &at) || lz_site_at(s, r->rip) ||
	                          lz_cpuid_inside(t, r->rip) || r->rip == t->cur->refused_at);
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
	t->fast.ended = true;
	lz_leases_drop(t);
	if (!t->fast.page)
		return;
	t->fast.page->go = 0;
	memset(t->fast.page->selector, ALLOW, sizeof(t->fast.page->selector));
	for (size_t i = 0; i < t->n_threads; i++)
		t->thread[i]->fast = false;
}
