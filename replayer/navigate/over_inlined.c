/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Over inlined calls: see over.h. */
#include "replayer/navigate/over_inlined.h"
#include "replayer/program/lines.h"
#include "replayer/navigate/nav.h"
#include "replayer/session/session.h"

enum { INLINES_MAX = 16 };

/* Where control is. */
struct place {
	struct lz_lines *lines;
	uint64_t addr, bias; /* link-time address, what is added to that */
	uint64_t function;
	struct lz_inline in[INLINES_MAX];
	size_t n;
};

void lz_over_inlined_begin(struct lz_over_inlined *o, uint32_t depth)
{
	*o = (struct lz_over_inlined){.asked = true, .depth = depth};
}

void lz_over_inlined_end(struct lz_over_inlined *o)
{
	*o = (struct lz_over_inlined){0};
}

static bool find_place(struct lz_nav *nav, uint64_t ip, struct place *p)
{
	struct lz_range function;

	p->lines = nav->machine.lines(nav->machine.arg, ip, &p->bias);
	p->addr = ip - p->bias;
	if (!p->lines || !lz_lines_function(p->lines, p->addr, &function))
		return false;
	p->function = function.start + p->bias;
	p->n = lz_lines_inlines(p->lines, p->addr, p->in, INLINES_MAX);
	return true;
}

static uint64_t entry_of(const struct lz_over_inlined *o, const struct place *p)
{
	return o->depth ? p->in[o->depth - 1].entry + p->bias : 0;
}

static void begin(struct lz_over_inlined *o, struct lz_nav *nav, const struct place *p,
                  uint32_t tid)
{
	o->begun = true;
	o->asked = p->n >= o->depth && (o->cfa = lz_gdb_frame(&nav->machine, NULL));
	if (!o->asked)
		return;
	o->tid = tid;
	o->function = p->function;
	o->entry = entry_of(o, p);
}

static bool calls_inlined(const struct lz_over_inlined *o, struct lz_nav *nav,
                          const struct place *p)
{
	return p->n > o->depth && p->function == o->function && entry_of(o, p) == o->entry &&
	       lz_gdb_frame(&nav->machine, NULL) == o->cfa;
}

bool lz_over_inlined_step(struct lz_over_inlined *o, struct lz_session *s, uint32_t tid,
                          struct lz_piece_of_code *piece)
{
	struct lz_nav *nav = o->asked ? lz_nav_of(s) : NULL;
	struct lz_pos now;
	struct place p;

	if (!nav)
		return false;
	now = s->pos;
	if (now.tid != tid || !find_place(nav, now.ip, &p))
		return false;
	if (!o->begun)
		begin(o, nav, &p, tid);
	if (!o->asked || o->tid != tid || !calls_inlined(o, nav, &p))
		return false;
	*piece = (struct lz_piece_of_code){.hidden_starts = true};
	piece->n_ranges = (uint32_t)lz_lines_inline_ranges(p.lines, p.addr, o->depth, piece->range,
	                                                   LZ_RANGES_MAX);
	for (uint32_t i = 0; i < piece->n_ranges; i++) {
		piece->range[i].start += p.bias;
		piece->range[i].end += p.bias;
	}
	return lz_piece_has(piece, now.ip) && now.ip != p.in[o->depth].entry + p.bias;
}
