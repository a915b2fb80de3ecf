/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that were answered without a stop are compared, as at a stop, and are events applied. */
#include "replayer/engine/calls.h"
#include <libdeflate.h>
#include <lizard/error.h>
#include <lizard/syscalls.h>
#include <lizard/written_bytes.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* ---- the bytes that a call takes ---- */

static int taken_differ(struct lz_engine *e, uint64_t nr, int64_t result)
{
	return lz_engine_diverge(
	    e, "%s: the %" PRId64 " bytes that it writes are not the recorded ones",
	    lz_syscall_name(nr), result);
}

/* What is read of the program's memory has its own bytes. */
static bool give_way(void *arg, uint64_t addr, uint64_t len)
{
	return lz_calls_give_way(arg, addr, len) == 0;
}

int lz_engine_compare_taken(struct lz_engine *e)
{
	const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event);
	uint32_t crc = 0;

	if (!ev)
		return -1;
	if (ev->kind != LZ_EV_SYSCALL || !ev->has_taken)
		return 0;
	e->calls.taken +=
	    (uint64_t)(ev->result < LZ_WRITTEN_BYTES_MAX ? ev->result : LZ_WRITTEN_BYTES_MAX);
	if (lz_written_bytes_crc(&e->proc, ev->nr, ev->args, ev->result, give_way, e, &crc) &&
	    crc == ev->taken)
		return 0;
	return taken_differ(e, ev->nr, ev->result);
}

/* As the stub has copied them into the log. */
static int compare_copied(struct lz_engine *e, const struct lz_logged *l)
{
	const struct lz_event *ev;

	e->calls.taken += l->take_len;
	if (!l->take_len ||
	    libdeflate_crc32(0, e->calls.c->log->log + l->take_at, l->take_len) == l->crc)
		return 0;
	ev = lz_reader_event(e->rp->reader, e->event);
	return ev ? taken_differ(e, ev->nr, ev->result) : -1;
}

/* ---- what was done ---- */

/* How many calls of the log are done. */
static int count(struct lz_engine *e, uint32_t *n)
{
	struct lz_calls *c = e->calls.c;
	const uint32_t next = c->log->next;

	*n = c->done;
	while (*n < c->n && c->call[*n].end <= next)
		++*n;
	if (next == (*n ? c->call[*n - 1].end : 0))
		return 0;
	return lz_fail("the replayed program wrote to memory of the debugger: the recording is "
	               "damaged or forged");
}

/* The markers up to call N become c->markers. 1: they are those recorded. */
static int read_markers(struct lz_engine *e, uint32_t n)
{
	struct lz_calls *c = e->calls.c;
	uint8_t *want = e->rp->want;

	const size_t len = (size_t)(c->call[n - 1].marker - e->marker);
	if (!len)
		return 1;
	if (lz_proc_read(&e->proc, e->buffer.base + (e->marker - e->buffer.start), c->markers,
	                 len) < 0)
		return lz_fail_in("the marker buffer");
	if (lz_engine_hashed_here(e))
		return 0;
	int64_t have = lz_engine_recorded(e, e->marker, want, len);
	return have < 0 ? -1 : (size_t)have == len && !memcmp(c->markers, want, len);
}

static int follow_maps(struct lz_engine *e)
{
	const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event);

	for (uint32_t i = 0; ev && i < ev->n_ops; i++)
		if (lz_space_apply(&e->space, &ev->ops[i]) < 0)
			return -1;
	return ev ? 0 : -1;
}

/* GOT: the markers before it; NULL: they are the recorded ones. */
static int take_one(struct lz_engine *e, const struct lz_logged *l, const uint8_t *got)
{
	int ret = 0;

	e->regs.rip = l->ip;
	if (got && l->marker > e->marker)
		ret = lz_engine_compare_markers(e, got, (size_t)(l->marker - e->marker));
	if (ret)
		return ret;
	e->marker = l->marker;
	if ((ret = compare_copied(e, l)))
		return ret;
	if ((l->maps && follow_maps(e) < 0) || lz_turns_take(e, l) < 0)
		return -1;
	e->event++;
	e->time_ns = l->time_ns;
	return 0;
}

int lz_calls_take(struct lz_engine *e)
{
	struct lz_calls *c = e->calls.c;
	const uint64_t ip = e->regs.rip, marker = e->marker;
	uint32_t n;
	int equal, ret = 0;

	if (!c || c->done == c->n)
		return 0;
	if (count(e, &n) < 0)
		return -1;
	if (n == c->done)
		return 0;
	if ((equal = read_markers(e, n)) < 0)
		return -1;
	e->rp->answered += n - c->done;
	for (; !ret && c->done < n; c->done++)
		ret = take_one(e, &c->call[c->done],
		               equal ? NULL : c->markers + (e->marker - marker));
	if (!ret)
		e->regs.rip = ip;
	return lz_turns_settle(e) < 0 ? -1 : ret;
}

/* ---- out of the stub ---- */

static int run(struct lz_engine *e, int *status)
{
	return lz_calls_resume(e, false) < 0 || lz_engine_wait(e, status) < 0 ||
	               lz_calls_stopped(e, status) < 0
	           ? -1
	           : 0;
}

static bool in_stub(const struct lz_engine *e)
{
	return e->regs.rip - e->calls.c->code < LZ_CALL_STUB_CODE;
}

/* In the stub, on the way to it, or at the instruction by which it changes mappings. */
static bool on_the_way(const struct lz_engine *e)
{
	const uint64_t map_insn = e->proc.stub->map_insn;
	uint64_t at;

	return in_stub(e) || e->regs.rip == map_insn || e->regs.rip == map_insn + LZ_CALL_INSN ||
	       lz_sites_inside(&e->calls.c->sites, e->regs.rip, &at);
}

static bool is_fault(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE;
}

/* 1: not by what is executed there, so that it can come at any instruction. 0: by that; -1. */
static int from_outside(const struct lz_engine *e, int status)
{
	const int sig = WSTOPSIG(status);
	siginfo_t info;

	if (sig == (SIGTRAP | 0x80))
		return 0;
	if (ptrace(PTRACE_GETSIGINFO, e->proc.pid, 0, &info) < 0)
		return lz_fail_errno("cannot ask why the replay process stopped");
	return sig == SIGTRAP ? info.si_code != SI_KERNEL : !is_fault(sig) || info.si_code <= 0;
}

/* The registers as they were before the call or, at the stub's exit, as they are behind it. */
static void restore(struct lz_engine *e, bool exit)
{
	const struct lz_calls *c = e->calls.c;
	const struct lz_call_log *log = c->log;
	const struct lz_stub_saved *s = &log->saved;
	struct user_regs_struct *r = &e->regs;

	r->rax = s->rax, r->rdi = s->rdi, r->rsi = s->rsi, r->rdx = s->rdx;
	r->r10 = s->r10, r->r8 = s->r8, r->r9 = s->r9;
	r->eflags = r->r11 = s->eflags;
	r->rcx = log->site;
	r->rsp = log->rsp;
	r->rip = lz_sites_shown(&c->sites, exit ? log->target : log->back - LZ_CALL_INSN);
	e->regs_dirty = true;
}

/* On to the stub's exit; or to a fault, which the call with a stop is to meet. 0: something else has
 * come, which the stub does not do. */
static int run_out(struct lz_engine *e, int *status)
{
	const struct lz_calls *c = e->calls.c;
	const uint64_t exit =
	    c->code + ((uintptr_t)lz_call_stub_exit - (uintptr_t)__start_lz_replay);

	while (e->rp->stuck != e->rp->run) {
		const bool fault = in_stub(e) && is_fault(WSTOPSIG(*status));
		const int outside = from_outside(e, *status);

		if (outside < 0)
			return -1;
		if ((fault && !outside) || e->regs.rip == exit) {
			restore(e, !fault);
			return 1;
		}
		if (!outside)
			return 0;
		if (lz_engine_stop_at(e, exit) < 0 || run(e, status) < 0)
			return -1;
	}
	return lz_fail("the replayed program does not come back from code of the debugger: the "
	               "recording is damaged or forged");
}

static int leave(struct lz_engine *e, int *status)
{
	const int was = *status;
	uint64_t fired;
	int ret = run_out(e, status);

	if (ret <= 0)
		return ret;
	if (lz_proc_take_debug(&e->proc, &fired) < 0)
		return -1;
	*status = was;
	/* a call that is not answered: on to its stop */
	return lz_site_at(&e->calls.c->sites, e->regs.rip) ? run(e, status) : 0;
}

int lz_calls_leave(struct lz_engine *e, int *status)
{
	/* an answer takes a few milliseconds at most */
	enum { PATIENCE_MS = 1000 };
	struct lz_replay *rp = e->rp;
	const uint64_t patience_ms = rp->patience_ms;
	const bool stuck = rp->stuck && rp->stuck == rp->run;

	if (!e->calls.c || !on_the_way(e))
		return 0;
	/* a run of its own for the watchdog, as the program may be what is executed */
	rp->patience_ms = PATIENCE_MS;
	rp->run++;
	rp->running = e->proc.pid;
	const int ret = leave(e, status);
	rp->running = 0;
	if (stuck) {
		rp->stuck = rp->run;
		rp->patience_ms = patience_ms;
	}
	return ret;
}
