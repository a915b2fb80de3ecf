/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sites of a re-executed process: system call instructions that lead to code which answers calls
 * from a log (replayer/stub), without a stop. They are there only while somebody runs on to a far
 * event (calls.until). */
#include "replayer/engine/calls.h"
#include <common/base/array.h>
#include <common/process/moved.h>
#include <common/process/vdso.h>
#include <lizard/error.h>
#include <lizard/restore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
	/* Calls with a stop before it is worth the time that it takes to begin. */
	LEAST = 32,
	ALL_LEN = LZ_CALL_STUB_CODE + sizeof(struct lz_call_log)
};

/* Nobody looks at the process more closely than by events, breakpoints and watchpoints. */
static bool may(const struct lz_engine *e)
{
	return e->calls.until && !e->want.ip && !e->want.cpu_ns &&
	       e->calls.conflicts < LZ_CONFLICTS_MAX && !e->rp->stop_at_calls;
}

/* ---- injected calls ---- */

/* *RESULT: of a call made by the process. */
static int inject(struct lz_engine *e, int64_t *result, uint64_t nr, uint64_t addr, uint64_t len,
                  uint64_t prot)
{
	const uint64_t flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;

	if (lz_engine_leave_call(e) < 0 || lz_engine_flush(e) < 0)
		return -1;
	return lz_proc_syscall(&e->proc, result, nr, addr, len, prot, nr == SYS_mmap ? flags : 0,
	                       nr == SYS_mmap ? ~0ULL : 0, 0);
}

static int protect(struct lz_engine *e, uint64_t page, uint32_t prot)
{
	int64_t result;

	if (inject(e, &result, SYS_mprotect, page, LZ_PAGE, prot) < 0)
		return -1;
	return result
	           ? lz_fail("cannot protect the page %#lx with system calls", (unsigned long)page)
	           : 0;
}

static int unmap(struct lz_engine *e, uint64_t addr, uint64_t len)
{
	int64_t result;

	return inject(e, &result, SYS_munmap, addr, len, 0);
}

/* ---- the stub ---- */

/* The I-th address to try: in nobody's way, as the recorded program had the stub's range free. */
static uint64_t address(const struct lz_engine *e, uint64_t i)
{
	enum { BELOW = 0x20000000, STEP = 0x800000 };
	const struct lz_stub *stub = e->proc.stub;

	return stub->start > 2ULL * BELOW ? stub->start - BELOW - i * STEP
	                                  : stub->end + (i + 1) * STEP;
}

/* *AT: 0: it cannot be had. */
static int map_stub(struct lz_engine *e, uint64_t *at)
{
	enum { TRIES = 16 };
	int64_t ret = -1;

	*at = 0;
	for (uint64_t i = 0; i < TRIES && ret < 0; i++)
		if (inject(e, &ret, SYS_mmap, address(e, i), ALL_LEN, PROT_READ | PROT_WRITE) < 0)
			return -1;
	if (ret < 0)
		return 0;
	*at = (uint64_t)ret;
	return inject(e, &ret, SYS_mprotect, *at, LZ_CALL_STUB_CODE, PROT_READ | PROT_EXEC);
}

static int begin_at(struct lz_engine *e, uint64_t at)
{
	struct lz_calls *c = calloc(1, sizeof *c);

	if (!c)
		return lz_fail("out of memory");
	e->calls.c = c;
	lz_sites_begin(&c->sites);
	e->proc.elsewhere = &c->sites.elsewhere;
	c->code = c->sites.code = at;
	c->sites.code_len = LZ_CALL_STUB_CODE;
	c->sites.entry[0] = at + ((uintptr_t)lz_call_stub_entry - (uintptr_t)__start_lz_replay);
	c->log = lz_restore_window(&e->proc, at + LZ_CALL_STUB_CODE, sizeof(*c->log));
	if (!c->log)
		return -1;
	c->log->map_insn = e->proc.stub->map_insn;
	return lz_turns_begin(e);
}

static int begin(struct lz_engine *e)
{
	const size_t len = (uintptr_t)__stop_lz_replay - (uintptr_t)__start_lz_replay;
	uint64_t at;

	if (map_stub(e, &at) < 0)
		return -1;
	if (!at || len > LZ_CALL_STUB_CODE) {
		e->calls.conflicts = LZ_CONFLICTS_MAX;
		return 0;
	}
	return lz_proc_write(&e->proc, at, __start_lz_replay, len) < 0 ? -1 : begin_at(e, at);
}

void lz_engine_calls_drop(struct lz_engine *e)
{
	if (!e->calls.c)
		return;
	e->proc.elsewhere = NULL;
	lz_space_free(&e->calls.c->ahead);
	if (e->calls.c->log)
		munmap(e->calls.c->log, sizeof(*e->calls.c->log));
	lz_sites_free(&e->calls.c->sites);
	free(e->calls.c->pages);
	free(e->calls.c);
	e->calls.c = NULL;
}

int lz_engine_calls_off(struct lz_engine *e)
{
	struct lz_calls *c = e->calls.c;
	int ret = 0;

	e->calls.site = 0;
	if (!c)
		return 0;
	/* what is executed in a detour goes on at the program's own instruction */
	lz_sites_lend(&c->sites, &e->proc);
	e->regs_dirty = true;
	for (size_t i = 0; !ret && i < c->n_pages; i++)
		ret = protect(e, c->pages[i].addr, c->pages[i].prot);
	for (size_t i = 0; !ret && i < c->sites.n_pools; i++)
		ret = unmap(e, c->sites.pool[i], LZ_POOL_LEN);
	if (!ret)
		ret = unmap(e, c->code, ALL_LEN);
	lz_debug("event %lu: calls have stops, after %zu sites", (unsigned long)e->event,
	         c->sites.n);
	lz_engine_calls_drop(e);
	return ret;
}

/* ---- sites ---- */

static struct lz_site_page *page_of(const struct lz_calls *c, uint64_t addr)
{
	for (size_t i = 0; i < c->n_pages; i++)
		if (addr - c->pages[i].addr < LZ_PAGE)
			return &c->pages[i];
	return NULL;
}

static int hide_page(struct lz_engine *e, uint64_t addr, uint32_t prot)
{
	struct lz_calls *c = e->calls.c;
	const uint64_t page = addr & ~(uint64_t)(LZ_PAGE - 1);

	if (page_of(c, addr))
		return 0;
	if (lz_reserve(c->pages, c->pages_room, c->n_pages + 1) < 0)
		return lz_fail("out of memory");
	if (protect(e, page, PROT_EXEC) < 0)
		return -1;
	c->pages[c->n_pages++] = (struct lz_site_page){page, prot};
	return 0;
}

static bool is_read(const struct lz_engine *e, uint64_t at)
{
	for (unsigned i = 0; i < e->calls.conflicts; i++)
		if (at - e->calls.read[i] < LZ_PAGE)
			return true;
	return false;
}

/* The debugger has its own use for that page. */
static bool is_debugged(const struct lz_engine *e, uint64_t at)
{
	const uint64_t page = at & ~(uint64_t)(LZ_PAGE - 1);

	for (size_t i = 0; i < e->breaks.n; i++)
		if (e->breaks.v[i].addr - page < LZ_PAGE)
			return true;
	return lz_engine_guard_of(e, at);
}

/* The last byte that a site at AT may change. */
static uint64_t last_changed(const struct lz_vma *v, uint64_t at)
{
	return v->end - at < LZ_SITE_REACH ? v->end - 1 : at + LZ_SITE_REACH - 1;
}

/* Code that stays as it is, a file's or the vDSO's, and that nobody reads. */
static const struct lz_vma *fixed_code(const struct lz_engine *e, uint64_t at)
{
	const struct lz_vma *v = lz_space_find(&e->space, at);

	return v && v->prot & PROT_EXEC && !(v->prot & PROT_WRITE) && !(v->flags & MAP_SHARED) &&
	               !lz_flags_object(v->flags) && v->end - at >= LZ_MOVED_FROM &&
	               !is_read(e, at) && !is_read(e, last_changed(v, at)) &&
	               (v->file != LZ_NO_FILE || lz_vdso_was(&e->proc, v))
	           ? v
	           : NULL;
}

static uint64_t *unfit_slot(struct lz_engine *e, uint64_t at)
{
	return &e->calls.unfit[at % (sizeof e->calls.unfit / sizeof *e->calls.unfit)];
}

static int make_site(struct lz_engine *e, uint64_t at)
{
	const struct lz_vma *v = fixed_code(e, at);
	const uint64_t last = v ? last_changed(v, at) : at;
	struct lz_calls *c = e->calls.c;

	if (is_debugged(e, at) || is_debugged(e, last))
		return 0;

	/* pages are protected one by one: before there is a jump in them */
	const size_t pools = c->sites.n_pools;
	if (v && (hide_page(e, at, v->prot) < 0 || hide_page(e, last, v->prot) < 0 ||
	          lz_engine_leave_call(e) < 0 || lz_engine_flush(e) < 0))
		return -1;
	int ret = v ? lz_site_make(&c->sites, &e->proc, at, v->end) : 0;
	if (!ret)
		*unfit_slot(e, at) = at;
	/* a call in the log may map something where the new one is, or go on in what it covers */
	if (c->sites.n_pools != pools || ret > 0)
		c->n = c->done = 0;
	e->regs_dirty = true;
	return ret < 0 ? -1 : 0;
}

static bool can_answer(struct lz_engine *e)
{
	const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event);
	struct lz_logged_turn turn;
	struct lz_logged end;

	if (!ev)
		return false;
	if (ev->kind == LZ_EV_SWITCH && e->calls.c)
		return lz_turns_can(e, e->event, &end, &turn) > 0;
	return lz_calls_can_answer(e, ev);
}

void lz_calls_met(struct lz_engine *e)
{
	const uint64_t at = e->regs.rip - LZ_CALL_INSN;

	if (!may(e) || !can_answer(e))
		return;
	e->calls.stops++;
	if (*unfit_slot(e, at) != at && (!e->calls.c || !lz_site_at(&e->calls.c->sites, at)))
		e->calls.site = at;
}

int lz_calls_ready(struct lz_engine *e, bool step)
{
	struct lz_engine_calls *s = &e->calls;

	if (step || !may(e))
		return lz_engine_calls_off(e);
	if (s->stops < LEAST || (!s->c && s->until < e->event + LEAST))
		return 0;
	if (s->site && !s->c && begin(e) < 0)
		return -1;
	if (s->site && s->c && make_site(e, s->site) < 0)
		return -1;
	s->site = 0;
	return s->c && s->c->sites.n ? lz_calls_fill(e) : 0;
}

/* ---- in the program's way ---- */

static bool overlaps(uint64_t a, uint64_t a_len, uint64_t b, uint64_t b_len)
{
	return a < b + b_len && b < a + a_len;
}

bool lz_calls_touch(const struct lz_engine *e, uint64_t addr, uint64_t len)
{
	const struct lz_calls *c = e->calls.c;
	bool any = c && overlaps(addr, len, c->code, ALL_LEN);

	for (size_t i = 0; c && !any && i < c->sites.n_pools; i++)
		any = overlaps(addr, len, c->sites.pool[i], LZ_POOL_LEN);
	for (size_t i = 0; c && !any && i < c->n_pages; i++)
		any = overlaps(addr, len, c->pages[i].addr, LZ_PAGE);
	return any;
}

int lz_calls_give_way(struct lz_engine *e, uint64_t addr, uint64_t len)
{
	if (!lz_calls_touch(e, addr, len))
		return 0;
	e->calls.conflicts++;
	return lz_engine_calls_off(e);
}

int lz_calls_make_way(struct lz_engine *e, const struct lz_event *ev)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < ev->n_ops; i++) {
		const struct lz_map_op *op = &ev->ops[i];
		/* the kernel rounds to whole pages */
		ret = lz_calls_give_way(e, op->addr, op->len + LZ_PAGE - 1);
		if (!ret)
			ret = lz_calls_give_way(e, op->old_addr, op->old_len + LZ_PAGE - 1);
	}
	for (uint32_t i = 0; !ret && i < ev->n_writes; i++)
		ret = lz_calls_give_way(e, ev->writes[i].addr, ev->writes[i].len);
	return ret;
}

int lz_calls_at_int3(struct lz_engine *e)
{
	struct lz_sites *s = e->calls.c ? &e->calls.c->sites : NULL;
	const uint64_t at = e->regs.rip - 1;
	struct lz_site *x = s ? lz_site_of(s, at) : NULL;

	if (s && !x)
		x = lz_site_padding(s, at);
	if (!x)
		return 0;
	const uint64_t site = x->at;
	/* which calls are made is known later */
	const int gone = lz_site_trapped(s, &e->proc, x, true);
	if (gone > 0)
		*unfit_slot(e, site) = site;
	e->regs.rip = at;
	e->regs_dirty = true;
	return gone < 0 ? -1 : 1;
}

int lz_calls_unhide(struct lz_engine *e, uint64_t addr)
{
	struct lz_calls *c = e->calls.c;
	struct lz_site_page *p = c ? page_of(c, addr) : NULL;

	if (!p)
		return 0;
	e->calls.read[e->calls.conflicts++] = p->addr;
	return lz_engine_calls_off(e) < 0 ? -1 : 1;
}

uint64_t lz_calls_place_of(const struct lz_engine *e, uint64_t ip)
{
	/* of a thread that is not in a call */
	struct user_regs_struct r = {.rip = ip, .orig_rax = (uint64_t)-1};

	/* the jump itself is where the program's instruction was */
	if (!e->calls.c || lz_site_at(&e->calls.c->sites, ip))
		return ip;
	e->calls.c->sites.elsewhere.hide(&e->calls.c->sites.elsewhere, &r);
	return r.rip;
}
