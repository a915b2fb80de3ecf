/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watchpoints of a session: kept here, armed in engines. */
#include "replayer/session/session.h"
#include <common/base/array.h>
#include <lizard/error.h>
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
	if (!len || len > WATCH_MAX || (kind != 'w' && len > 8) || !strchr("wra", kind))
		return lz_fail("a watchpoint of %lu bytes of kind '%c' is not possible",
		               (unsigned long)len, kind);
	if (lz_extend(s->watches, s->n_watches) < 0)
		return -1;
	uint8_t *value = calloc(1, len);
	if (!value)
		return lz_fail("out of memory");
	s->watches[s->n_watches++] = (struct lz_user_watch){addr, len, kind, 1, value, 0};
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
	bool reads;
};

struct spans {
	struct span *v;
	size_t n, room;
};

static int add_span(struct spans *l, uint64_t addr, uint64_t end, bool reads)
{
	if (lz_reserve(l->v, l->room, l->n + 1) < 0)
		return -1;
	l->v[l->n++] = (struct span){addr, end, reads};
	return 0;
}

static int add_alias(void *arg, uint64_t start, uint64_t end)
{
	return add_span(arg, start, end, false);
}

static int add_watch(struct spans *l, const struct lz_engine *e, const struct lz_user_watch *w)
{
	uint64_t end = w->addr + w->len;

	if (add_span(l, w->addr, end, w->kind != 'w') < 0)
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
		n = words(&l.v[i], slots, n, 2);
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
		bool differs = changed(e, w, !h);
		if (w->kind == 'w'   ? differs
		    : w->kind == 'a' ? differs || touched(e, w, h)
		                     : !differs && touched(e, w, h))
			found = w;
	}
	return found;
}
