/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which event is changed, and what is well known to have been a way out. */
#include "tests/forge/forge.h"

#include <common/cfg/records.h>
#include <tests/fuzz/pieces.h>

/* Does the decoder take it? */
static bool well_formed(const struct lz_event *ev)
{
	static struct lz_event_room room;
	struct lz_event got;
	struct lz_buf b = {0};

	lz_event_put(&b, ev);
	bool well = lz_event_get(b.p + 4, (uint32_t)b.len - 4, &got, &room) == 0;
	lz_buf_free(&b);
	return well;
}

/* What the next event is made to be; kind 0: it stays. */
static struct lz_event due;

/* False: an earlier change has made it unreadable. */
static bool change_by_chance(struct lz_event *ev, const uint8_t *bytes, uint32_t len)
{
	static struct lz_event_room room;

	do {
		if (lz_event_get(bytes, len, ev, &room) < 0)
			return false;
		forget_notes();
		event_change(ev, &due);
	} while (pick(16) && !(well_formed(ev) && (!due.kind || well_formed(&due))));
	return true;
}

typedef bool change_fn(struct lz_event *ev, const uint8_t *bytes, uint32_t len);

static bool change_nth(struct piece *p, uint32_t which, change_fn *fn)
{
	struct lz_buf raw = piece_raw(p), out = {0};
	struct lz_cur c = {.p = raw.p, .end = raw.p + raw.len};
	struct lz_event ev;
	bool well = true;

	for (uint32_t i = 0; well && c.p < c.end; i++) {
		const uint8_t *begin = c.p;
		uint32_t len;
		const uint8_t *bytes = lz_event_skip(&c, &len);
		if (!bytes || (i == which && !fn(&ev, bytes, len)))
			well = false;
		else if (i == which)
			lz_event_put(&out, &ev);
		else if (i == which + 1 && due.kind)
			lz_event_put(&out, &due);
		else
			lz_put(&out, begin, (size_t)(c.p - begin));
	}
	lz_buf_free(&raw);
	if (!well)
		return false;
	note("event %llu", (unsigned long long)p->f.key0 + which);
	piece_set(p, &out);
	return true;
}

static uint32_t frame_pick(const struct pieces *all)
{
	uint32_t n = 0, which = all->n;

	for (uint32_t i = 0; i < all->n; i++)
		if (all->v[i].f.type == LZ_FRAME_EVENTS && !pick(++n))
			which = i;
	return which;
}

/* An early one more often than others: more comes behind it. */
bool forge_event(void)
{
	const char *name = part_pick("events");
	struct pieces all = name ? take_apart(name) : (struct pieces){0};
	uint32_t i = frame_pick(&all);
	uint32_t n = i < all.n ? all.v[i].f.count : 0, one = pick(n), other = pick(n);
	bool done = n && change_nth(&all.v[i], one < other ? one : other, change_by_chance);

	if (done)
		put_together(&all, name);
	pieces_free(&all);
	return done;
}

/* ---- well-known ways out ---- */

static const struct payload *code;

static bool write_code(struct lz_event *ev, const uint8_t *bytes, uint32_t len)
{
	static struct lz_event_room room;

	if (lz_event_get(bytes, len, ev, &room) < 0)
		return false;
	struct lz_write *w = event_add_write(ev, code->code, (uint64_t)(code->end - code->code));
	w->addr = world.stub;
	note("%s written to the stub", code->name);
	return true;
}

static bool move_stub(struct lz_event *ev, const uint8_t *bytes, uint32_t len)
{
	static struct lz_event_room room;
	static struct lz_map_op op = {.op = LZ_REMAP,
	                              .addr = 0x10000000,
	                              .len = LZ_PAGE,
	                              .old_len = LZ_PAGE,
	                              .file = LZ_NO_FILE};

	if (lz_event_get(bytes, len, ev, &room) < 0)
		return false;
	op.old_addr = world.stub;
	ev->ops = &op;
	ev->n_ops = 1;
	note("the stub is moved away");
	return true;
}

/* Does it have system calls made that need no name? One is put where the code would be. */
static bool needs_calls(const uint8_t *bytes, uint32_t len)
{
	static struct lz_event_room room;
	struct lz_event ev;

	return lz_event_get(bytes, len, &ev, &room) == 0 && ev.n_ops &&
	       (ev.ops[0].op != LZ_MAP || ev.ops[0].file == LZ_NO_FILE);
}

/* The event of P before the first one that needs calls; count: there is none. */
static uint32_t find_early(const struct piece *p)
{
	struct lz_buf raw = piece_raw(p);
	struct lz_cur c = {.p = raw.p, .end = raw.p + raw.len};
	uint32_t found = p->f.count, len;

	for (uint32_t i = 0; i < p->f.count && found == p->f.count; i++) {
		const uint8_t *bytes = lz_event_skip(&c, &len);
		if (i && bytes && needs_calls(bytes, len))
			found = i - 1;
	}
	lz_buf_free(&raw);
	return found;
}

static bool change_early(change_fn *fn)
{
	struct pieces all = take_apart("events");
	bool done = false;

	for (uint32_t i = 0; i < all.n && !done; i++) {
		struct piece *p = &all.v[i];
		uint32_t which = p->f.type == LZ_FRAME_EVENTS ? find_early(p) : p->f.count;
		done = which < p->f.count && change_nth(p, which, fn);
	}
	if (done)
		put_together(&all, "events");
	pieces_free(&all);
	return done;
}

bool event_writes(const struct payload *p)
{
	code = p;
	return change_early(write_code);
}

bool event_moves_stub(void)
{
	return change_early(move_stub);
}
