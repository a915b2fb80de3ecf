/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <common/base/array.h>
#include <common/cfg/records.h>
#include <lizard/error.h>
#include <lizard/format.h>

void lz_regs_put(struct lz_buf *b, const struct user_regs_struct *r)
{
	lz_put(b, r, sizeof(*r));
}

void lz_regs_get(struct lz_cur *c, struct user_regs_struct *r)
{
	const uint8_t *p = lz_get(c, sizeof(*r));

	if (p)
		memcpy(r, p, sizeof(*r));
}

enum { CALL = 7, CALL_WITH_RESULT };
/* The first N of them: all together, as most events are system calls. */
static void put_call(struct lz_buf *b, const struct lz_event *ev, size_t n)
{
	const uint64_t *a = ev->args;
	const uint64_t v[] = {ev->nr, a[0], a[1], a[2], a[3], a[4], a[5], (uint64_t)ev->result};

	lz_put_vars(b, v, n);
}

static void put_body(struct lz_buf *b, const struct lz_event *ev)
{
	switch (ev->kind) {
	case LZ_EV_SYSCALL:
		put_call(b, ev, CALL_WITH_RESULT);
		if (ev->flags & LZ_EVF_THREAD_BORN)
			lz_put_var(b, ev->next);
		break;
	case LZ_EV_SIGNAL:
		lz_put_var(b, ev->signo);
		lz_put(b, ev->siginfo, sizeof(ev->siginfo));
		break;
	case LZ_EV_INSN: lz_put_var(b, ev->insn); break;
	case LZ_EV_EXIT: lz_put_var(b, ev->status); break;
	case LZ_EV_SWITCH:
		lz_put_var(b, ev->next);
		if (ev->flags & LZ_EVF_IN_CALL)
			put_call(b, ev, CALL);
		break;
	case LZ_EV_SHARED: break;
	}
}

static bool has_kept(const struct lz_event *ev)
{
	for (uint32_t i = 0; i < ev->n_writes; i++)
		if (ev->writes[i].n_kept)
			return true;
	return false;
}

static void put_writes(struct lz_buf *b, const struct lz_event *ev, bool kept)
{
	lz_put_var(b, ev->n_writes);
	for (uint32_t i = 0; i < ev->n_writes; i++) {
		const struct lz_write *w = &ev->writes[i];

		lz_put_vars(b, (const uint64_t[]){w->addr, w->len}, 2);
		if (kept)
			lz_put_var(b, w->n_kept);
		for (uint32_t k = 0; k < w->n_kept; k++)
			lz_put_vars(
			    b, (const uint64_t[]){w->kept[k].chunk, w->kept[k].at, w->kept[k].len},
			    3);
		if (!w->n_kept)
			lz_put(b, w->bytes, w->len);
	}
}

static void put_ops(struct lz_buf *b, const struct lz_event *ev)
{
	lz_put_var(b, ev->n_ops);
	for (uint32_t i = 0; i < ev->n_ops; i++) {
		const struct lz_map_op *o = &ev->ops[i];

		lz_put_u8(b, o->op);
		lz_put_var(b, o->addr);
		lz_put_var(b, o->len);
		lz_put_var(b, o->prot);
		lz_put_var(b, o->flags);
		lz_put_var(b, o->file);
		lz_put_var(b, o->offset);
		lz_put_var(b, o->old_addr);
		lz_put_var(b, o->old_len);
	}
}

static void put_pages(struct lz_buf *b, const struct lz_event *ev)
{
	uint64_t page = 0;

	lz_put_u64(b, ev->vectors);
	lz_put_var(b, ev->n_pages);
	for (uint32_t i = 0; i < ev->n_pages; i++) {
		lz_put_var(b, ev->pages[i].addr / LZ_PAGE - page);
		lz_put_u64(b, ev->pages[i].sum);
		page = ev->pages[i].addr / LZ_PAGE;
	}
}

static uint8_t present(const struct lz_event *ev)
{
	return (uint8_t)((ev->has_regs ? LZ_EVP_REGS : 0) | (ev->xstate ? LZ_EVP_XSTATE : 0) |
	                 (ev->n_writes ? LZ_EVP_WRITES : 0) | (ev->n_ops ? LZ_EVP_OPS : 0) |
	                 (ev->has_taken ? LZ_EVP_TAKEN : 0) | (ev->has_state ? LZ_EVP_STATE : 0) |
	                 (ev->has_pages ? LZ_EVP_PAGES : 0) | (has_kept(ev) ? LZ_EVP_KEPT : 0));
}

void lz_event_put(struct lz_buf *b, const struct lz_event *ev)
{
	const uint64_t first[] = {ev->flags, ev->tid,     ev->number, ev->marker,
	                          ev->ip,    ev->time_ns, ev->map_id};
	const uint8_t parts = present(ev);
	size_t start = b->len;
	uint32_t len;

	lz_put_u32(b, 0); /* filled in below */
	lz_put_u8(b, ev->kind);
	lz_put_u8(b, parts);
	lz_put_vars(b, first, sizeof(first) / sizeof(*first));
	put_body(b, ev);
	if (ev->has_regs)
		lz_regs_put(b, &ev->regs);
	if (ev->xstate) {
		lz_put_var(b, ev->xstate_len);
		lz_put(b, ev->xstate, ev->xstate_len);
	}
	if (ev->n_writes)
		put_writes(b, ev, parts & LZ_EVP_KEPT);
	if (ev->n_ops)
		put_ops(b, ev);
	if (ev->has_taken)
		lz_put_u32(b, ev->taken);
	if (ev->has_state)
		lz_put_u64(b, ev->state);
	if (ev->has_pages)
		put_pages(b, ev);
	if (b->failed)
		return;
	len = (uint32_t)(b->len - start - 4);
	memcpy(b->p + start, &len, 4);
}

const uint8_t *lz_event_skip(struct lz_cur *c, uint32_t *len)
{
	*len = lz_get_u32(c);
	return lz_get(c, *len);
}

static void get_call(struct lz_cur *c, struct lz_event *ev)
{
	ev->nr = lz_get_var(c);
	for (int i = 0; i < 6; i++)
		ev->args[i] = lz_get_var(c);
}

static int get_body(struct lz_cur *c, struct lz_event *ev)
{
	const uint8_t *p;

	switch (ev->kind) {
	case LZ_EV_SYSCALL:
		get_call(c, ev);
		ev->result = (int64_t)lz_get_var(c);
		if (ev->flags & LZ_EVF_THREAD_BORN)
			ev->next = (uint32_t)lz_get_max(c, LZ_MAX_TID);
		break;
	case LZ_EV_SIGNAL:
		ev->signo = (uint32_t)lz_get_max(c, 64);
		p = lz_get(c, sizeof(ev->siginfo));
		if (p)
			memcpy(ev->siginfo, p, sizeof(ev->siginfo));
		break;
	case LZ_EV_INSN: ev->insn = (uint32_t)lz_get_max(c, UINT32_MAX); break;
	case LZ_EV_EXIT: ev->status = (uint32_t)lz_get_max(c, UINT32_MAX); break;
	case LZ_EV_SWITCH:
		ev->next = (uint32_t)lz_get_max(c, LZ_MAX_TID);
		if (ev->flags & LZ_EVF_IN_CALL)
			get_call(c, ev);
		break;
	case LZ_EV_SHARED: break;
	default: return lz_fail("unknown kind %u of event", ev->kind);
	}
	return 0;
}

/* A number of entries, of which each takes MIN bytes of input at least. */
static uint32_t get_count(struct lz_cur *c, size_t min)
{
	return (uint32_t)lz_get_max(c, lz_cur_left(c) / min);
}

/* N more of them, *ALL so far: their bytes are together as many as the write's. */
static void get_kept(struct lz_cur *c, struct lz_write *w, uint32_t n, uint32_t *all,
                     struct lz_event_room *room)
{
	uint64_t sum = 0;

	if (n > LZ_KEPT_MOST || lz_reserve(room->kept, room->cap_kept, (uint64_t)*all + n) < 0) {
		c->bad = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct lz_kept *k = &room->kept[*all + i];

		k->chunk = lz_get_var(c);
		k->at = (uint32_t)lz_get_max(c, LZ_CHUNK_MAX);
		k->len = (uint32_t)lz_get_max(c, LZ_CHUNK_MAX - k->at);
		c->bad |= !k->len;
		sum += k->len;
	}
	w->n_kept = n;
	*all += n;
	c->bad |= sum != w->len;
}

static void get_write(struct lz_cur *c, struct lz_write *w, bool kept, uint32_t *all,
                      struct lz_event_room *room)
{
	*w = (struct lz_write){.addr = lz_get_var(c)};
	w->len = lz_get_max(c, kept ? LZ_MAX_EVENTS_RAW : lz_cur_left(c));

	const uint32_t n = kept ? get_count(c, 3) : 0;
	if (n)
		get_kept(c, w, n, all, room);
	else
		w->bytes = lz_get(c, w->len);
	c->bad |= w->addr + w->len < w->addr;
}

/* The array may have moved while it grew. */
static void set_kept(struct lz_event *ev, const struct lz_event_room *room)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < ev->n_writes; i++) {
		ev->writes[i].kept = ev->writes[i].n_kept ? room->kept + at : NULL;
		at += ev->writes[i].n_kept;
	}
}

static void get_writes(struct lz_cur *c, struct lz_event *ev, bool kept, struct lz_event_room *room)
{
	uint32_t n = get_count(c, 2), all = 0;

	if (lz_reserve(room->writes, room->cap_writes, n) < 0) {
		c->bad = true;
		return;
	}
	ev->writes = room->writes;
	ev->n_writes = n;
	for (uint32_t i = 0; i < n; i++)
		get_write(c, &ev->writes[i], kept, &all, room);
	set_kept(ev, room);
}

/* ---- kept bytes ---- */

static const uint8_t *find_kept(const struct lz_kept *k, struct lz_event_room *room)
{
	uint32_t len;
	const uint8_t *bytes = room->chunk(room->chunk_arg, k->chunk, &len);

	if (bytes && (k->at > len || k->len > len - k->at)) {
		lz_fail("chunk %llu has %u bytes, not those at %u", (unsigned long long)k->chunk,
		        len, k->at);
		return NULL;
	}
	return bytes ? bytes + k->at : NULL;
}

static int gather(struct lz_write *w, struct lz_event_room *room, size_t *used)
{
	w->bytes = room->gathered + *used;
	for (uint32_t i = 0; i < w->n_kept; i++) {
		const uint8_t *bytes = find_kept(&w->kept[i], room);

		if (!bytes)
			return -1;
		memcpy(room->gathered + *used, bytes, w->kept[i].len);
		*used += w->kept[i].len;
	}
	return 0;
}

/* Those of one place need not be copied: their chunk stays. */
static int resolve_kept(struct lz_event *ev, struct lz_event_room *room)
{
	uint64_t all = 0, pieces = 0;
	size_t used = 0;

	for (uint32_t i = 0; i < ev->n_writes; i++) {
		pieces += ev->writes[i].n_kept;
		all += ev->writes[i].n_kept ? ev->writes[i].len : 0;
	}
	if (all > LZ_MAX_EVENTS_RAW)
		return lz_fail("an event has more than %u bytes", LZ_MAX_EVENTS_RAW);
	if (pieces > 1 && lz_reserve(room->gathered, room->cap_gathered, all) < 0)
		return lz_fail("no memory for an event of %llu bytes", (unsigned long long)all);
	for (uint32_t i = 0; i < ev->n_writes; i++) {
		struct lz_write *w = &ev->writes[i];

		if (pieces > 1 && w->n_kept && gather(w, room, &used) < 0)
			return -1;
		if (pieces == 1 && w->n_kept && !(w->bytes = find_kept(w->kept, room)))
			return -1;
	}
	return 0;
}

static void get_ops(struct lz_cur *c, struct lz_event *ev, struct lz_event_room *room)
{
	uint32_t n = get_count(c, 9);

	if (lz_reserve(room->ops, room->cap_ops, n) < 0) {
		c->bad = true;
		return;
	}
	ev->ops = room->ops;
	ev->n_ops = n;
	for (uint32_t i = 0; i < n; i++) {
		struct lz_map_op *o = &ev->ops[i];

		o->op = lz_get_u8(c);
		o->addr = lz_get_var(c);
		o->len = lz_get_var(c);
		o->prot = (uint32_t)lz_get_max(c, UINT32_MAX);
		o->flags = (uint32_t)lz_get_max(c, UINT32_MAX);
		o->file = (uint32_t)lz_get_max(c, UINT32_MAX);
		o->offset = lz_get_var(c);
		o->old_addr = lz_get_var(c);
		o->old_len = lz_get_var(c);
		if (o->op < LZ_MAP || o->op > LZ_ZERO || o->addr + o->len < o->addr ||
		    o->old_addr + o->old_len < o->old_addr)
			c->bad = true;
	}
}

/* By address, each once. */
static void get_pages(struct lz_cur *c, struct lz_event *ev, struct lz_event_room *room)
{
	ev->vectors = lz_get_u64(c);

	const uint32_t n = get_count(c, 9);
	uint64_t page = 0;
	if (lz_reserve(room->pages, room->cap_pages, n) < 0) {
		c->bad = true;
		return;
	}
	ev->pages = room->pages;
	ev->n_pages = n;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t step = lz_get_max(c, UINT64_MAX / LZ_PAGE - page);

		c->bad |= !step && i;
		page += step;
		room->pages[i] = (struct lz_page_sum){page * LZ_PAGE, lz_get_u64(c)};
	}
}

static void get_xstate(struct lz_cur *c, struct lz_event *ev)
{
	ev->xstate_len = (uint32_t)lz_get_max(c, LZ_MAX_XSTATE);
	ev->xstate = lz_get(c, ev->xstate_len);
}

int lz_event_get(const uint8_t *bytes, uint32_t len, struct lz_event *ev,
                 struct lz_event_room *room)
{
	struct lz_cur c = {.p = bytes, .end = bytes + len};
	uint8_t parts;

	lz_zero(ev, sizeof(*ev));
	ev->kind = lz_get_u8(&c);
	parts = lz_get_u8(&c);
	ev->flags = (uint32_t)lz_get_max(&c, UINT32_MAX);
	ev->tid = (uint32_t)lz_get_max(&c, LZ_MAX_TID);
	ev->number = lz_get_var(&c);
	ev->marker = lz_get_var(&c);
	ev->ip = lz_get_var(&c);
	ev->time_ns = lz_get_var(&c);
	ev->map_id = lz_get_var(&c);
	if (parts & ~LZ_EVP_ALL)
		return lz_fail("unknown part 0x%x in an event", parts);
	if (get_body(&c, ev) < 0)
		return -1;
	ev->has_regs = parts & LZ_EVP_REGS;
	if (ev->has_regs)
		lz_regs_get(&c, &ev->regs);
	if (parts & LZ_EVP_XSTATE)
		get_xstate(&c, ev);
	if (parts & LZ_EVP_WRITES)
		get_writes(&c, ev, parts & LZ_EVP_KEPT, room);
	if (parts & LZ_EVP_OPS)
		get_ops(&c, ev, room);
	ev->has_taken = parts & LZ_EVP_TAKEN;
	if (ev->has_taken)
		ev->taken = lz_get_u32(&c);
	ev->has_state = parts & LZ_EVP_STATE;
	if (ev->has_state)
		ev->state = lz_get_u64(&c);
	ev->has_pages = parts & LZ_EVP_PAGES;
	if (ev->has_pages)
		get_pages(&c, ev, room);
	if (ev->has_pages && !ev->has_state)
		return lz_fail("an event has pages of an arrival without its state");
	if (c.bad || c.p != c.end)
		return lz_fail("an event's bytes make no sense");
	return parts & LZ_EVP_KEPT && room->chunk ? resolve_kept(ev, room) : 0;
}

void lz_event_room_free(struct lz_event_room *room)
{
	free(room->writes);
	free(room->ops);
	free(room->pages);
	free(room->kept);
	free(room->gathered);
	memset(room, 0, sizeof(*room));
}

const char *lz_insn_name(uint32_t insn)
{
	static const char *const name[] = {"?",      "rdtsc",  "rdtscp", "cpuid",
	                                   "rdrand", "rdseed", "xsavec"};

	return name[insn < sizeof(name) / sizeof(*name) ? insn : 0];
}
