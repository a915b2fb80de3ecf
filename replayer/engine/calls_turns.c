/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that hand the turn to each other while calls are answered without a stop.
 *
 * In re-execution they are one thread of the kernel's, so the stub exchanges what a thread has of the
 * processor. It keeps the registers of whoever goes into a call, and compares those of whoever comes out
 * with the recorded ones; if they differ the call has its stop, where that is a divergence. */
#include "replayer/engine/calls.h"
#include <cpuid.h>
#include <errno.h>
#include <lizard/error.h>
#include <lizard/proc.h>
#include <lizard/syscalls.h>
#include <string.h>
#include <sys/auxv.h>

#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE (1 << 1)
#endif

enum {
	/* Of xsave's standard format, as ptrace(2) gives it. */
	XSAVE_LEGACY = 512,
	XSAVE_HEADER = 64,
	LEGACY_USED = 416,
	MXCSR_AT = 24,
	MXCSR_BEGINS = 0x1f80,
	SSE = 1 << 1,
	PARTS_AT = 464, /* what the kernel has enabled */
	HAD_AT = 512,   /* the parts that are not as they begin */
	XSAVE_LEAF = 0xd,
	FIRST_EXTENDED = 2,
	PKRU = 1 << 9, /* no program can set it in replay */
	FLAG_TF = 0x100
};

static const uint64_t canonical = 1ULL << 47;
/* While no log is made. */
static const uint32_t nobody = UINT32_MAX;

/* ---- the processor's state ---- */

static uint64_t parts_of(const uint8_t *xstate, uint32_t at)
{
	uint64_t parts;

	memcpy(&parts, xstate + at, sizeof(parts));
	return parts;
}

/* False: the stub has no room where one of them is. */
static bool find_parts(struct lz_calls *c, uint64_t parts)
{
	unsigned len, at, rcx, rdx;

	for (unsigned i = FIRST_EXTENDED; i < LZ_PARTS; i++) {
		if (!(parts >> i & 1))
			continue;
		if (!__get_cpuid_count(XSAVE_LEAF, i, &len, &at, &rcx, &rdx) ||
		    at + len > LZ_TURN_XSAVE)
			return false;
		c->part[i] = (struct lz_part){at, len};
	}
	return true;
}

int lz_turns_begin(struct lz_engine *e)
{
	struct lz_calls *c = e->calls.c;
	uint8_t xstate[LZ_XSTATE_MAX];
	uint32_t len = sizeof(xstate);

	c->turns.running = nobody;
	if (lz_proc_xstate(&e->proc, xstate, &len) < 0)
		return -1;
	if (len < XSAVE_LEGACY + XSAVE_HEADER || !(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE))
		return 0;
	const uint64_t parts = parts_of(xstate, PARTS_AT) & LZ_TURN_PARTS;
	c->parts = c->log->parts = find_parts(c, parts) ? parts : 0;
	return 0;
}

/* Into the stub's memory. False: it has more than the stub exchanges. */
static bool put_xstate(const struct lz_calls *c, const struct lz_context *th, uint8_t *to)
{
	uint64_t had;

	if (!th->xstate || th->xstate_len < XSAVE_LEGACY + XSAVE_HEADER)
		return false;
	had = parts_of(th->xstate, HAD_AT);
	if (had & ~(c->parts | PKRU))
		return false;
	had &= c->parts;
	memset(to, 0, LZ_TURN_XSAVE);
	memcpy(to, th->xstate, th->xstate_len < LZ_TURN_XSAVE ? th->xstate_len : LZ_TURN_XSAVE);
	memset(to + XSAVE_LEGACY, 0, XSAVE_HEADER);
	memcpy(to + HAD_AT, &had, sizeof(had));
	return true;
}

static int is_damaged(void)
{
	return lz_fail("the replayed program wrote to memory of the debugger: the recording is "
	               "damaged or forged");
}

/* The kernel has rounding modes only where these registers are not as they begin. */
static uint64_t sse_had(const uint8_t *xsave)
{
	uint32_t mxcsr;

	memcpy(&mxcsr, xsave + MXCSR_AT, sizeof(mxcsr));
	return mxcsr != MXCSR_BEGINS ? SSE : 0;
}

void lz_turns_merge(const struct lz_calls *c, uint8_t *to, uint32_t len, const uint8_t *from)
{
	const uint64_t had = (parts_of(from, HAD_AT) & c->parts) | sse_had(from) |
	                     (parts_of(to, HAD_AT) & ~c->parts);

	memcpy(to, from, LEGACY_USED);
	for (unsigned i = FIRST_EXTENDED; i < LZ_PARTS; i++)
		if (c->part[i].at + c->part[i].len <= len)
			memcpy(to + c->part[i].at, from + c->part[i].at, c->part[i].len);
	memcpy(to + HAD_AT, &had, sizeof(had));
}

/* What the kernel makes of it: a part that is as it begins has its first bytes there. */
static int take_xstate(struct lz_engine *e, const uint8_t *from, struct lz_context *th)
{
	const struct lz_calls *c = e->calls.c;
	uint8_t all[LZ_XSTATE_MAX];
	uint32_t len = sizeof(all);

	if (lz_proc_xstate(&e->proc, all, &len) < 0)
		return -1;
	lz_turns_merge(c, all, len, from);
	/* bits that no processor has are refused */
	if (lz_proc_set_xstate(&e->proc, all, len) < 0)
		return is_damaged();
	return lz_proc_xstate(&e->proc, all, &len) < 0 ? -1 : lz_context_keep_xstate(th, all, len);
}

/* ---- general registers ---- */

static void put_regs(struct lz_turn_regs *to, const struct user_regs_struct *r)
{
	*to = (struct lz_turn_regs){.saved = {.rax = r->rax,
	                                      .rdi = r->rdi,
	                                      .rsi = r->rsi,
	                                      .rdx = r->rdx,
	                                      .r10 = r->r10,
	                                      .r8 = r->r8,
	                                      .r9 = r->r9,
	                                      .eflags = r->eflags & ~(uint64_t)LZ_FLAG_RF},
	                            .rbx = r->rbx,
	                            .rbp = r->rbp,
	                            .r12 = r->r12,
	                            .r13 = r->r13,
	                            .r14 = r->r14,
	                            .r15 = r->r15,
	                            .rsp = r->rsp,
	                            .fs_base = r->fs_base,
	                            .gs_base = r->gs_base};
}

/* Of a thread that is in its call behind IP, as at a stop there; the segments are as they were. */
static void take_regs(const struct lz_turn_regs *t, uint64_t ip, struct user_regs_struct *r)
{
	r->rax = (uint64_t)-ENOSYS, r->rdi = t->saved.rdi, r->rsi = t->saved.rsi;
	r->rdx = t->saved.rdx, r->r10 = t->saved.r10, r->r8 = t->saved.r8, r->r9 = t->saved.r9;
	r->eflags = r->r11 = t->saved.eflags;
	r->rbx = t->rbx, r->rbp = t->rbp, r->r12 = t->r12, r->r13 = t->r13, r->r14 = t->r14;
	r->r15 = t->r15, r->rsp = t->rsp;
	r->fs_base = t->fs_base, r->gs_base = t->gs_base;
	r->rcx = r->rip = ip;
	r->orig_rax = (uint64_t)-1;
}

static bool has_bases(const struct user_regs_struct *r)
{
	return r->fs_base < canonical && r->gs_base < canonical;
}

/* A system call leaves these so; the stub does it for no others. */
static bool is_behind_call(const struct user_regs_struct *r)
{
	return r->rcx == r->rip && has_bases(r) && !(r->eflags & FLAG_TF) &&
	       (r->r11 & ~(uint64_t)LZ_FLAG_RF) == (r->eflags & ~(uint64_t)LZ_FLAG_RF);
}

static bool same_segments(const struct user_regs_struct *a, const struct user_regs_struct *b)
{
	return a->cs == b->cs && a->ss == b->ss && a->ds == b->ds && a->es == b->es &&
	       a->fs == b->fs && a->gs == b->gs;
}

/* ---- while the log is made ---- */

static uint32_t index_of(const struct lz_engine *e, uint32_t tid)
{
	uint32_t i = 0;

	while (i < e->threads.n && e->threads.v[i].tid != tid)
		i++;
	return i < e->threads.n && i < LZ_TURN_THREADS ? i : LZ_TURN_THREADS;
}

void lz_turns_fill(struct lz_engine *e)
{
	struct lz_turns_ahead *t = &e->calls.c->turns;

	*t = (struct lz_turns_ahead){.running = e->threads.running};
	for (uint32_t i = 0; i < e->threads.n && i < LZ_TURN_THREADS; i++) {
		t->in_call[i] = e->threads.v[i].in_call;
		t->call[i] = e->threads.v[i].call;
		t->ip[i] = e->threads.v[i].regs.rip;
	}
}

void lz_turns_filled(struct lz_engine *e)
{
	e->calls.c->turns.running = nobody;
}

uint32_t lz_turns_tid(const struct lz_engine *e)
{
	const struct lz_turns_ahead *t = e->calls.c ? &e->calls.c->turns : NULL;

	return t && t->running < e->threads.n ? e->threads.v[t->running].tid : lz_engine_tid(e);
}

/* The one that runs, while no log is made. */
static uint32_t running(const struct lz_engine *e)
{
	const uint32_t r = e->calls.c->turns.running;

	return r < e->threads.n ? r : e->threads.running;
}

static bool is_in_call(const struct lz_engine *e, uint32_t i, uint64_t nr)
{
	const struct lz_turns_ahead *t = &e->calls.c->turns;
	const bool filling = t->running != nobody;
	const bool in = filling ? t->in_call[i] : e->threads.v[i].in_call;
	const uint64_t call = filling ? t->call[i] : e->threads.v[i].call;

	return in && (call == LZ_NO_CALL || call == nr);
}

/* The end of the next thread's call, which is the event behind the switch. */
static bool is_end(struct lz_engine *e, const struct lz_event *ev, uint32_t next)
{
	return lz_calls_is_plain(ev) && ev->tid == e->threads.v[next].tid && !ev->n_writes &&
	       !ev->n_ops && !ev->has_taken && is_in_call(e, next, ev->nr) &&
	       !(e->calls.looks && e->calls.looks(e->calls.arg, ev));
}

static bool has_args(const struct lz_event *end, const struct user_regs_struct *r)
{
	const uint64_t got[6] = {r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9};
	const struct lz_syscall *row = lz_syscall(end->nr);
	bool same = true;

	for (int i = 0; i < (row && row->n_args < 6 ? row->n_args : 6); i++)
		same &= got[i] == end->args[i];
	return same;
}

/* Does the next thread go on where the markers end? Elsewhere it would write over what has not been
 * compared yet; a full buffer is taken at a stop. */
static bool goes_on_there(const struct lz_engine *e, const struct lz_event *ev)
{
	const uint64_t at = lz_engine_pos_addr(e, &ev->regs);
	const uint64_t end = e->buffer.base + (ev->marker - e->buffer.start);
	uint64_t pos = 0;

	if (!e->buffer.base || !at)
		return true;
	for (uint32_t i = 0; i < ev->n_writes; i++) {
		const struct lz_write *w = &ev->writes[i];
		if (w->addr == at && w->len == sizeof(pos))
			memcpy(&pos, w->bytes, sizeof(pos));
		else if (w->addr - at < sizeof(pos) || at - w->addr < w->len)
			return false;
	}
	return pos == end;
}

static bool is_turn(struct lz_engine *e, const struct lz_event *ev)
{
	return ev->kind == LZ_EV_SWITCH && ev->flags == LZ_EVF_IN_CALL && ev->has_regs &&
	       !ev->xstate_len && !ev->n_ops && ev->nr <= UINT16_MAX &&
	       ev->tid == lz_turns_tid(e) && is_behind_call(&ev->regs) &&
	       same_segments(&ev->regs, &e->regs) && goes_on_there(e, ev) &&
	       !(e->calls.looks && e->calls.looks(e->calls.arg, ev)) && lz_calls_can_do(e, ev);
}

static bool put_context(struct lz_engine *e, uint32_t i)
{
	const struct lz_context *th = &e->threads.v[i];
	struct lz_turn_context *to = &e->calls.c->log->context[i];

	if (!is_behind_call(&th->regs) || !same_segments(&th->regs, &e->regs) ||
	    !put_xstate(e->calls.c, th, to->xsave))
		return false;
	put_regs(&to->regs, &th->regs);
	return true;
}

/* What the stub has to have of thread I before the turn is its, and it goes on at IP: that it does not
 * compare. */
static bool make_known(struct lz_engine *e, uint32_t i, uint64_t ip)
{
	struct lz_calls *c = e->calls.c;

	if (c->turns.running == nobody)
		return true;
	if (c->turns.ip[i] != ip)
		return false;
	if (c->turns.known[i])
		return true;
	c->turns.known[i] = put_context(e, i);
	return c->turns.known[i];
}

int lz_turns_can(struct lz_engine *e, uint64_t i, struct lz_logged *end, struct lz_logged_turn *t)
{
	const struct lz_event *ev = lz_reader_event(e->rp->reader, i);

	if (!ev || !e->calls.c->parts || i + 1 >= lz_reader_n_events(e->rp->reader))
		return ev ? 0 : -1;
	const uint32_t next = index_of(e, ev->next), now = running(e);
	if (!is_turn(e, ev) || next == LZ_TURN_THREADS || now >= LZ_TURN_THREADS || next == now)
		return 0;
	const uint64_t marker = ev->marker;
	const struct user_regs_struct regs = ev->regs;
	const struct lz_event *last = lz_reader_event(e->rp->reader, i + 1);
	if (!last)
		return -1;
	if (!is_end(e, last, next) || last->marker != marker || last->ip != regs.rip ||
	    !has_args(last, &regs) || !make_known(e, next, regs.rip))
		return 0;
	*end = (struct lz_logged){.ip = last->ip,
	                          .marker = marker,
	                          .time_ns = last->time_ns,
	                          .comes = true,
	                          .to = next,
	                          .nr = last->nr};
	*t = (struct lz_logged_turn){
	    .from = now, .to = next, .ip = regs.rip, .go_on = lz_calls_place_of(e, regs.rip)};
	put_regs(&t->regs, &regs);
	t->regs.saved.rax = (uint64_t)last->result;
	return 1;
}

void lz_turns_logged(struct lz_engine *e, const struct lz_logged_turn *t, uint64_t nr, uint64_t ip)
{
	struct lz_turns_ahead *s = &e->calls.c->turns;

	s->known[t->from] = true;
	s->in_call[t->from] = true;
	s->call[t->from] = nr;
	s->ip[t->from] = ip;
	s->in_call[t->to] = false;
	s->running = t->to;
}

bool lz_turns_follow(struct lz_engine *e, uint32_t n)
{
	const struct lz_calls *c = e->calls.c;

	for (uint32_t i = c->done; i < n; i++) {
		const struct lz_logged *l = &c->call[i];

		if (l->leaves && l->from != e->threads.running && !put_context(e, l->from))
			return false;
	}
	return true;
}

/* ---- what was done ---- */

int lz_turns_take(struct lz_engine *e, const struct lz_logged *l)
{
	struct lz_contexts *c = &e->threads;
	struct lz_context *from = lz_contexts_running(c);

	if (!l->leaves && !l->comes)
		return 0;
	if (l->comes) {
		from->in_call = false;
		from->call = LZ_NO_CALL;
		return 0;
	}
	from->in_call = true;
	from->call = l->nr;
	from->regs.rip = l->ip;
	e->calls.c->stale[c->running] = true;
	c->running = l->to;
	lz_contexts_running(c)->fresh = false;
	return 0;
}

static int settle(struct lz_engine *e, uint32_t i)
{
	const struct lz_turn_context *from = &e->calls.c->log->context[i];
	struct lz_context *th = &e->threads.v[i];
	struct user_regs_struct regs = e->regs;

	take_regs(&from->regs, th->regs.rip, &regs);
	if (!has_bases(&regs))
		return is_damaged();
	th->regs = regs;
	return take_xstate(e, from->xsave, th);
}

int lz_turns_settle(struct lz_engine *e)
{
	struct lz_calls *c = e->calls.c;
	uint8_t now[LZ_XSTATE_MAX];
	uint32_t len = sizeof(now);
	bool any = false;

	for (uint32_t i = 0; i < e->threads.n && i < LZ_TURN_THREADS; i++) {
		if (!c->stale[i])
			continue;
		c->stale[i] = false;
		if (i == e->threads.running)
			continue;
		if (!any && lz_proc_xstate(&e->proc, now, &len) < 0)
			return -1;
		any = true;
		if (settle(e, i) < 0)
			return -1;
	}
	return any ? lz_proc_set_xstate(&e->proc, now, len) : 0;
}
