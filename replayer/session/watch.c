/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watchpoints of a session: kept here, armed in engines. */
#include "replayer/program/operands.h"
#include "replayer/session/session.h"
#include "replayer/strace/strace.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <lizard/mark.h>
#include <stdlib.h>
#include <string.h>

enum { WATCH_MAX = 1 << 20 };

static struct lz_user_watch *find_watch(struct lz_session *s, uint64_t addr, uint64_t len,
                                        char kind)
{
	for (size_t i = 0; i < s->n_watches; i++) {
		struct lz_user_watch *w = &s->watches[i];
		if (w->addr == addr && w->len == len && w->kind == kind)
			return w;
	}
	return NULL;
}

int lz_session_watch(struct lz_session *s, uint64_t addr, uint64_t len, char kind)
{
	struct lz_user_watch *w = find_watch(s, addr, len, kind);

	if (w) {
		w->count++;
		return 0;
	}
	if (!len || len > WATCH_MAX || (strchr("ra", kind) && len > 8) || !strchr("wraslt", kind))
		return lz_fail("a watchpoint of %lu bytes of kind '%c' is not possible",
		               (unsigned long)len, kind);
	if (lz_extend(s->watches, s->n_watches) < 0)
		return -1;
	uint8_t *value = calloc(1, len);
	if (!value)
		return lz_fail("out of memory");
	s->watches[s->n_watches++] = (struct lz_user_watch){
	    .addr = addr, .len = len, .kind = kind, .count = 1, .value = value};
	return 0;
}

int lz_session_unwatch(struct lz_session *s, uint64_t addr, uint64_t len, char kind)
{
	struct lz_user_watch *w = find_watch(s, addr, len, kind);

	if (!w)
		return lz_fail("there is no watchpoint at %#lx", (unsigned long)addr);
	if (--w->count)
		return 0;
	free(w->value);
	*w = s->watches[--s->n_watches];
	return 0;
}

/* Memory to be watched: a watchpoint's, and the same memory where it is mapped at other
 * addresses, through which only stores are of interest. */
struct span {
	uint64_t addr, end;
	bool reads, exact;
};

struct spans {
	struct span *v;
	size_t n, room;
};

static int add_span(struct spans *l, struct span span)
{
	if (lz_reserve(l->v, l->room, l->n + 1) < 0)
		return -1;
	l->v[l->n++] = span;
	return 0;
}

/* Whatever becomes of the value, an instruction that touches it counts. */
static bool by_touch(const struct lz_user_watch *w)
{
	return strchr("slt", w->kind);
}

static int add_alias(void *arg, uint64_t start, uint64_t end)
{
	return add_span(arg, (struct span){start, end, false, true});
}

static int add_watch(struct spans *l, const struct lz_engine *e, const struct lz_user_watch *w)
{
	uint64_t end = w->addr + w->len;

	const bool reads = w->kind != 'w' && w->kind != 's';

	if (add_span(l, (struct span){w->addr, end, reads, by_touch(w)}) < 0)
		return -1;
	return lz_engine_each_alias(e, w->addr, end, add_alias, l);
}

/* The aligned words, of at most 8 bytes, that cover a span: too wide is harmless, since values are
 * compared. */
static size_t words(const struct span *w, struct lz_slot *slots, size_t n, size_t room)
{
	int size = 1;

	while (size < 8 && (w->addr & ~(uint64_t)(size - 1)) + (uint64_t)size < w->end)
		size *= 2;
	uint64_t at = w->addr & ~(uint64_t)(size - 1);
	for (; at < w->end; at += (uint64_t)size, n++)
		if (n < room)
			slots[n] = (struct lz_slot){at, size, w->reads ? 'a' : 'w'};
	return n;
}

/* The same, not wider than the span. */
static size_t exact_words(const struct span *w, struct lz_slot *slots, size_t n, size_t room)
{
	for (uint64_t at = w->addr; at < w->end; n++) {
		uint64_t size = 8;
		while (at % size || size > w->end - at)
			size /= 2;
		if (n < room)
			slots[n] = (struct lz_slot){at, (int)size, w->reads ? 'a' : 'w'};
		at += size;
	}
	return n;
}

/* More than debug registers can hold: the pages are made inaccessible instead. */
static int guard_all(const struct spans *l, struct lz_engine *e)
{
	for (size_t i = 0; i < l->n; i++) {
		uint64_t page = l->v[i].addr & ~(uint64_t)(LZ_PAGE - 1);
		unsigned kind = LZ_GUARD_WRITES | (l->v[i].reads ? LZ_GUARD_READS : 0);
		for (; page < l->v[i].end; page += LZ_PAGE)
			if (lz_engine_add_guard(e, page, kind) < 0)
				return -1;
	}
	return 0;
}

static int choose_slots(struct lz_session *s, struct lz_engine *e)
{
	struct lz_slot slots[2] = {{0}};
	struct spans l = {0};
	size_t n = 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < s->n_watches; i++)
		ret = add_watch(&l, e, &s->watches[i]);
	for (size_t i = 0; !ret && i < l.n; i++)
		n = (l.v[i].exact ? exact_words : words)(&l.v[i], slots, n, 2);
	memset(e->debug.user, 0, sizeof e->debug.user);
	if (!ret && n > 2)
		ret = guard_all(&l, e);
	else if (!ret)
		memcpy(e->debug.user, slots, sizeof slots);
	free(l.v);
	return ret;
}

static uint64_t read_value(struct lz_engine *e, const struct lz_user_watch *w, uint8_t *value)
{
	if (by_touch(w))
		return 0;
	memset(value, 0, w->len);
	return lz_engine_read_allowed(e, w->addr, value, w->len);
}

int lz_watch_arm(struct lz_session *s, struct lz_engine *e)
{
	if (lz_engine_drop_guards(e) < 0 || choose_slots(s, e) < 0)
		return -1;
	for (size_t i = 0; i < s->n_watches; i++) {
		struct lz_user_watch *w = &s->watches[i];
		w->seen = read_value(e, w, w->value);
	}
	return 0;
}

static bool overlaps(const struct lz_slot *slot, const struct lz_user_watch *w)
{
	return slot->kind && slot->addr < w->addr + w->len &&
	       w->addr < slot->addr + (uint64_t)slot->len;
}

static bool touched(const struct lz_engine *e, const struct lz_user_watch *w,
                    const struct lz_halt *h)
{
	if (!h)
		return false;
	if (h->flags & LZ_HALT_PAGE)
		return h->fault - w->addr < w->len;
	for (int i = 0; i < 2; i++)
		if (h->fired >> i & 1 && overlaps(&e->debug.user[i], w))
			return true;
	return false;
}

static bool within(const struct lz_user_watch *w, uint64_t addr, uint64_t len)
{
	return addr < w->addr + w->len && w->addr < addr + len;
}

bool lz_watch_remapped(const struct lz_user_watch *w, const struct lz_event *ev)
{
	for (uint32_t i = 0; i < ev->n_ops; i++) {
		const struct lz_map_op *op = &ev->ops[i];
		if (within(w, op->addr, op->len + LZ_PAGE - 1) ||
		    within(w, op->old_addr, op->old_len))
			return true;
	}
	return ev->flags & LZ_EVF_REBASE;
}

/* Has the event just applied made memory readable, or the contrary? The stack gets longer without
 * any. */
static bool remapped(const struct lz_engine *e, const struct lz_user_watch *w)
{
	const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event - 1);

	return ev && lz_watch_remapped(w, ev);
}

/* Reads W's value anew. */
static bool changed(struct lz_engine *e, struct lz_user_watch *w, bool event)
{
	uint8_t small[64], *now = w->len <= sizeof small ? small : malloc(w->len);

	if (!now)
		return false;
	uint64_t seen = read_value(e, w, now);
	bool differs =
	    memcmp(now, w->value, w->len) != 0 || (event && seen != w->seen && remapped(e, w));
	memcpy(w->value, now, w->len);
	w->seen = seen;
	if (now != small)
		free(now);
	return differs;
}

/* ---- what was touched, be its value the same ---- */

/* By the instruction I at R. */
static bool is_touched(const struct lz_user_watch *w, const struct lz_decoded *i,
                       const struct user_regs_struct *r, bool *read, bool *written)
{
	struct lz_touch v[LZ_TOUCHES];
	const size_t n = lz_insn_touches(i, r, v);
	bool any = false;

	for (size_t k = 0; k < n; k++) {
		if (!lz_overlap(v[k].addr, v[k].len, w->addr, w->len))
			continue;
		*read |= v[k].reads;
		*written |= v[k].writes;
		any = true;
	}
	return any;
}

/* The instruction that has just been done ends at the present address, unless it jumps. Which one
 * it is its length would tell: each is tried, and one that touches the memory for certain decides. */
static bool may_have_read(struct lz_engine *e, const struct lz_user_watch *w)
{
	const struct user_regs_struct *now = lz_engine_regs(e);
	uint8_t code[LZ_INSN_LONGEST];
	bool known = false, read = false, written;

	if (lz_engine_read(e, now->rip - sizeof code, code, sizeof code) < sizeof code)
		return true;
	for (size_t len = 1; len <= sizeof code; len++) {
		struct user_regs_struct r = *now;
		struct lz_decoded i;
		r.rip -= len;
		if (lz_insn_decode(code + sizeof code - len, len, &i) && i.in.length == len &&
		    lz_insn_keeps_addresses(&i))
			known |= is_touched(w, &i, &r, &read, &written);
	}
	return !known || read;
}

/* The instruction that met a guarded page. */
static bool met_guard(struct lz_engine *e, const struct lz_user_watch *w)
{
	const struct user_regs_struct *r = &e->guarded_regs;
	uint8_t code[LZ_INSN_LONGEST];
	bool read = false, written = false;
	struct lz_decoded i;
	size_t n = lz_engine_read(e, r->rip, code, sizeof code);

	if (!lz_insn_decode(code, n, &i))
		return false;
	is_touched(w, &i, r, &read, &written);
	return w->kind == 's' ? written : w->kind == 'l' ? read : read || written;
}

static bool gave(const struct lz_user_watch *w, const struct lz_event *ev)
{
	for (uint32_t i = 0; i < ev->n_writes && !lz_event_writes_own(ev); i++)
		if (within(w, ev->writes[i].addr, ev->writes[i].len))
			return true;
	for (uint32_t i = 0; i < ev->n_ops; i++)
		if (ev->ops[i].op != LZ_PROTECT && within(w, ev->ops[i].addr, ev->ops[i].len))
			return true;
	return ev->flags & LZ_EVF_REBASE;
}

static int takes_range(void *arg, uint64_t addr, uint64_t len)
{
	return within(arg, addr, len);
}

/* What a call takes, as far as the decoder of calls knows. */
struct taking {
	const struct lz_user_watch *w;
	struct lz_arrival *memory;
	bool met;
};

static size_t read_given(void *arg, uint64_t addr, void *buf, size_t len)
{
	const struct taking *t = arg;

	return lz_arrival_read(t->memory, addr, buf, len);
}

static void took(void *arg, uint64_t addr, uint64_t len)
{
	struct taking *t = arg;

	t->met |= within(t->w, addr, len);
}

static bool takes(const struct lz_user_watch *w, const struct lz_event *ev,
                  struct lz_arrival *memory)
{
	struct taking t = {w, memory, false};
	const struct lz_strace_options o = {
	    .string = LZ_PAGE, .read = read_given, .arg = &t, .took = took};
	struct lz_strace_text text;
	uint32_t fd;

	if (lz_written_to(ev, &fd) &&
	    lz_written_ranges(ev, memory, takes_range, (void *)(uintptr_t)w) > 0)
		return true;
	if (ev->kind != LZ_EV_SYSCALL || lz_is_mark(ev->nr, ev->args))
		return false;
	if (lz_strace_event(&o, ev, &text) == 0)
		lz_strace_free(&text);
	return t.met;
}

bool lz_watch_event(const struct lz_user_watch *w, const struct lz_event *ev,
                    struct lz_arrival *memory)
{
	if (w->kind != 'l' && gave(w, ev))
		return true;
	return w->kind != 's' && takes(w, ev, memory);
}

bool lz_watch_looks(const struct lz_session *s)
{
	for (size_t i = 0; i < s->n_watches; i++)
		if (strchr("lt", s->watches[i].kind))
			return true;
	return false;
}

/* An instruction, not an event, that ends where control is now. */
static bool by_code(const struct lz_engine *e, const struct lz_user_watch *w,
                    const struct lz_halt *h)
{
	return !w->code.end || (h && e->regs.rip - w->code.start <= w->code.end - w->code.start);
}

/* As lz_watch_check(). */
static bool met(struct lz_engine *e, const struct lz_user_watch *w, const struct lz_halt *h)
{
	if (!h) {
		const struct lz_event *ev = lz_reader_event(e->rp->reader, e->event - 1);
		return ev && lz_watch_event(w, ev, (struct lz_arrival *)e);
	}
	if (h->flags & LZ_HALT_PAGE)
		return met_guard(e, w);
	return touched(e, w, h) && (w->kind != 'l' || may_have_read(e, w));
}

struct lz_user_watch *lz_watch_check(struct lz_session *s, struct lz_engine *e,
                                     const struct lz_halt *h)
{
	struct lz_user_watch *found = NULL;

	/* An event may have mapped the memory once more. */
	if (!h && e->proc.stub->shares && (e->debug.user[0].kind || e->guarded.n) &&
	    choose_slots(s, e) < 0)
		lz_warn("%s", lz_error());

	for (size_t i = 0; i < s->n_watches; i++) {
		struct lz_user_watch *w = &s->watches[i];
		if (by_touch(w)) {
			found = by_code(e, w, h) && met(e, w, h) ? w : found;
			continue;
		}
		bool differs = changed(e, w, !h);
		if (w->kind == 'w'   ? differs
		    : w->kind == 'a' ? differs || touched(e, w, h)
		                     : !differs && touched(e, w, h))
			found = w;
	}
	return found;
}
