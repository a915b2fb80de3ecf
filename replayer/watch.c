/* Breakpoints and watchpoints of a session: kept here, armed in engines. */
#include "replayer/session.h"
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

int lz_session_break(struct lz_session *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n_breaks; i++)
		if (s->breaks[i].addr == addr) {
			s->breaks[i].count++;
			return 0;
		}
	struct lz_user_break *v = realloc(s->breaks, (s->n_breaks + 1) * sizeof *v);
	if (!v)
		return lz_fail("out of memory");
	s->breaks = v;
	v[s->n_breaks++] = (struct lz_user_break){addr, 1};
	return 0;
}

int lz_session_unbreak(struct lz_session *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n_breaks; i++) {
		if (s->breaks[i].addr != addr)
			continue;
		if (!--s->breaks[i].count)
			s->breaks[i] = s->breaks[--s->n_breaks];
		return 0;
	}
	return lz_fail("there is no breakpoint at %#lx", (unsigned long)addr);
}

/* ---- watchpoints ---- */

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
	struct lz_user_watch *v = realloc(s->watches, (s->n_watches + 1) * sizeof *v);
	if (!v)
		return lz_fail("out of memory");
	s->watches = v;
	uint8_t *value = calloc(1, len);
	if (!value)
		return lz_fail("out of memory");
	v[s->n_watches++] = (struct lz_user_watch){addr, len, kind, 1, value};
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

/* The aligned words, of at most 8 bytes, that cover all watchpoints: too wide is harmless, since values are
 * compared. */
static size_t words(struct lz_session *s, struct lz_slot *slots, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_watches; i++) {
		const struct lz_user_watch *w = &s->watches[i];
		uint64_t end = w->addr + w->len;
		int size = 1;
		while (size < 8 && (w->addr & ~(uint64_t)(size - 1)) + (uint64_t)size < end)
			size *= 2;
		uint64_t at = w->addr & ~(uint64_t)(size - 1);
		for (; at < end; at += (uint64_t)size, n++)
			if (n < room)
				slots[n] = (struct lz_slot){at, size, w->kind == 'w' ? 'w' : 'a'};
	}
	return n;
}

static int add_page(struct lz_engine *e, uint64_t page, bool reads)
{
	for (size_t i = 0; i < e->n_guarded; i++)
		if (e->guarded[i].page == page) {
			e->guarded[i].reads |= reads;
			return 0;
		}
	struct lz_guarded *v = realloc(e->guarded, (e->n_guarded + 1) * sizeof *v);
	if (!v)
		return lz_fail("out of memory");
	e->guarded = v;
	v[e->n_guarded++] = (struct lz_guarded){.page = page, .reads = reads};
	return 0;
}

/* More than debug registers can hold: the pages are made inaccessible instead. */
static int guard_all(struct lz_session *s, struct lz_engine *e)
{
	for (size_t i = 0; i < s->n_watches; i++) {
		const struct lz_user_watch *w = &s->watches[i];
		uint64_t page = w->addr & ~(uint64_t)(LZ_PAGE - 1);
		for (; page < w->addr + w->len; page += LZ_PAGE)
			if (add_page(e, page, w->kind != 'w') < 0)
				return -1;
	}
	return 0;
}

int lz_watch_arm(struct lz_session *s, struct lz_engine *e)
{
	struct lz_slot slots[2] = {{0}};
	size_t n = words(s, slots, 2);

	memset(e->user_slot, 0, sizeof e->user_slot);
	if (lz_engine_unguard(e) < 0)
		return -1;
	e->n_guarded = 0;
	if (n > 2) {
		if (guard_all(s, e) < 0)
			return -1;
	} else {
		memcpy(e->user_slot, slots, sizeof slots);
	}
	for (size_t i = 0; i < s->n_watches; i++) {
		struct lz_user_watch *w = &s->watches[i];
		memset(w->value, 0, w->len);
		lz_engine_read(e, w->addr, w->value, w->len);
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
		if (h->fired >> i & 1 && overlaps(&e->user_slot[i], w))
			return true;
	return false;
}

struct lz_user_watch *lz_watch_check(struct lz_session *s, struct lz_engine *e,
                                     const struct lz_halt *h)
{
	struct lz_user_watch *found = NULL;
	uint8_t small[64], *now;

	for (size_t i = 0; i < s->n_watches; i++) {
		struct lz_user_watch *w = &s->watches[i];
		now = w->len <= sizeof small ? small : malloc(w->len);
		if (!now)
			continue;
		memset(now, 0, w->len);
		lz_engine_read(e, w->addr, now, w->len);
		bool changed = memcmp(now, w->value, w->len) != 0;
		memcpy(w->value, now, w->len);
		if (now != small)
			free(now);
		if (w->kind == 'w'   ? changed
		    : w->kind == 'a' ? changed || touched(e, w, h)
		                     : !changed && touched(e, w, h))
			found = w;
	}
	return found;
}
