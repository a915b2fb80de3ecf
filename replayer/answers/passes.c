/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/passes.h"

#include "replayer/answers/code_ways.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>

enum { AVOIDS = 1, PASSES = 2 };

/* What can come next, and whether on ways that pass the instruction, or that do not. */
struct next {
	uint32_t marker, how;
};

/* All that can come behind one marker. */
struct row {
	uint32_t from;
	struct next *v;
	size_t n, room;
	bool comes, again, lost;
};

struct lz_passes {
	const struct lz_fn_code *code;
	uint32_t at;
	struct lz_code_ways ways;
	struct row *row;
	size_t n_rows, room;
	struct row *last; /* the one that was asked for */
	uint64_t *callee;
	size_t n_callees, callees_room;
};

struct lz_passes *lz_passes_new(const struct lz_fn_code *code, uint64_t pc)
{
	struct lz_passes *p = calloc(1, sizeof(*p));

	if (!p || lz_code_ways_init(&p->ways, code) < 0) {
		free(p);
		lz_fail("out of memory for the code of %s", code->f->name);
		return NULL;
	}
	p->code = code;
	p->at = lz_fn_code_at(code, pc);
	if (p->at != LZ_NO_INSN)
		return p;
	lz_passes_free(p);
	lz_fail("%s: no instruction begins at 0x%llx", code->f->name, (unsigned long long)pc);
	return NULL;
}

void lz_passes_free(struct lz_passes *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_rows; i++)
		free(p->row[i].v);
	free(p->row);
	free(p->callee);
	lz_code_ways_free(&p->ways);
	free(p);
}

/* ---- a row ---- */

static int add_next(struct row *r, uint32_t marker, uint32_t how)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].marker == marker) {
			r->v[i].how |= how;
			return 0;
		}
	if (lz_reserve(r->v, r->room, r->n + 1) < 0)
		return -1;
	r->v[r->n++] = (struct next){marker, how};
	return 0;
}

static int take(struct row *r, const struct lz_code_ways *w, uint32_t how)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < w->n_ends; i++)
		rc = add_next(r, w->end[i].marker, how);
	r->lost |= w->lost;
	return rc;
}

static int fill(struct lz_passes *p, struct row *r)
{
	struct lz_code_ways *w = &p->ways;

	if (lz_code_ways_from(w, r->from, p->at) < 0 || take(r, w, AVOIDS) < 0)
		return -1;
	r->comes = w->met;
	if (!r->comes)
		return 0;
	if (lz_code_ways_on(w) < 0 || take(r, w, PASSES) < 0)
		return -1;
	r->again = w->met;
	return 0;
}

static struct row *row_of(struct lz_passes *p, uint32_t from)
{
	if (p->last && p->last->from == from)
		return p->last;
	const size_t at = lz_lower_bound(i, p->n_rows, p->row[i].from < from);
	if (at < p->n_rows && p->row[at].from == from)
		return p->last = &p->row[at];
	struct row r = {.from = from};

	if (fill(p, &r) < 0 || lz_reserve(p->row, p->room, p->n_rows + 1) < 0) {
		free(r.v);
		return NULL;
	}
	for (size_t i = p->n_rows++; i > at; i--)
		p->row[i] = p->row[i - 1];
	p->row[at] = r;
	return p->last = &p->row[at];
}

/* ---- answers ---- */

static enum lz_told judge(const struct row *r, uint32_t how)
{
	if (r->lost || r->again)
		return r->comes || r->lost ? LZ_TOLD_NOT : LZ_TOLD_NO;
	return how == AVOIDS ? LZ_TOLD_NO : how == PASSES ? LZ_TOLD_YES : LZ_TOLD_NOT;
}

int lz_passes_between(struct lz_passes *p, uint32_t from, uint32_t to)
{
	const struct row *r = row_of(p, from);

	for (size_t i = 0; r && i < r->n; i++)
		if (r->v[i].marker == to)
			return judge(r, r->v[i].how);
	return r ? LZ_TOLD_NOT : -1;
}

bool lz_passes_never(struct lz_passes *p, uint32_t from)
{
	const struct row *r = row_of(p, from);

	return r && !r->comes && !r->lost;
}

enum { UNREACHED = -2, NO_CALL = -3 };

/* Behind FROM, up to instruction END. */
static int up_to(struct lz_passes *p, uint32_t from, uint32_t end)
{
	struct lz_code_ways *w = &p->ways;

	if (lz_code_ways_from(w, from, p->at) < 0)
		return -1;
	const bool avoids = lz_code_ways_seen(w, end) && end != p->at, lost = w->lost;
	if (!w->met)
		return lost ? LZ_TOLD_NOT : avoids ? LZ_TOLD_NO : UNREACHED;
	if (lz_code_ways_on(w) < 0)
		return -1;
	const bool passes = end == p->at || lz_code_ways_seen(w, end);
	if (lost || w->lost || w->met || (passes && avoids))
		return LZ_TOLD_NOT;
	return passes ? LZ_TOLD_YES : avoids ? LZ_TOLD_NO : UNREACHED;
}

/* Of the calls that may not have returned: those of CALLEE by its address, else those that do not
 * say whom they call. */
static bool is_candidate(const struct lz_passes *p, const struct lz_fn_insn *in, uint64_t callee,
                         bool direct)
{
	if (!in->call)
		return false;
	if (direct)
		return in->callee == callee;
	return !in->callee || !lz_cfg_func_at(p->code->cfg, in->callee);
}

/* -1: there is none. */
static int unwound_from(struct lz_passes *p, uint32_t from, uint64_t callee, bool direct, bool ends)
{
	int all = -1;

	for (uint32_t i = 0; i < p->code->n; i++) {
		const struct lz_fn_insn *in = &p->code->v[i];

		if (!is_candidate(p, in, callee, direct) || (in->ends && !ends))
			continue;
		const int told = up_to(p, from, i);
		if (told == UNREACHED)
			continue;
		if (told < 0)
			return told;
		if (all >= 0 && all != told)
			return LZ_TOLD_NOT;
		all = told;
	}
	return all < 0 ? NO_CALL : all;
}

int lz_passes_unwound(struct lz_passes *p, uint32_t from, uint64_t callee)
{
	const int direct = callee ? unwound_from(p, from, callee, true, true) : NO_CALL;

	if (direct < 0 && direct != NO_CALL)
		return -1;
	/* what does not return has hardly called it back */
	const int other = unwound_from(p, from, 0, false, direct == NO_CALL);

	if (other < 0 && other != NO_CALL)
		return -1;
	if (direct == NO_CALL)
		return other == NO_CALL ? LZ_TOLD_NOT : other;
	return other == NO_CALL || other == direct ? direct : LZ_TOLD_NOT;
}

enum lz_told lz_passes_first(struct lz_passes *p)
{
	struct lz_code_ways *w = &p->ways;
	uint32_t how = 0;

	if (lz_code_ways_first(w, p->at) < 0 || w->lost)
		return LZ_TOLD_NOT;
	how |= w->n_ends ? AVOIDS : 0;
	if (!w->met)
		return LZ_TOLD_NO;
	if (lz_code_ways_on(w) < 0 || w->lost || w->met)
		return LZ_TOLD_NOT;
	how |= w->n_ends ? PASSES : 0;
	return how == PASSES ? LZ_TOLD_YES : LZ_TOLD_NOT;
}

int lz_passes_up_to(struct lz_passes *p, uint32_t from, uint64_t pc, bool behind)
{
	uint32_t end = lz_fn_code_at(p->code, pc);

	/* of a call that does not return, nothing may follow */
	if (behind)
		end = lz_lower_bound(i, p->code->n, p->code->v[i].pc < pc) - 1;
	if (end >= p->code->n)
		return LZ_TOLD_NOT;
	const int told = up_to(p, from, end);
	return told == UNREACHED ? LZ_TOLD_NOT : told;
}

/* ---- where ---- */

static int add_callees(struct lz_passes *p, const struct lz_code_ways *w)
{
	for (size_t i = 0; i < w->n_route; i++) {
		const struct lz_fn_insn *in = &p->code->v[w->route[i]];

		if (!in->call)
			continue;
		if (lz_reserve(p->callee, p->callees_room, p->n_callees + 1) < 0)
			return -1;
		p->callee[p->n_callees++] = in->callee;
	}
	return 0;
}

int lz_passes_where(struct lz_passes *p, uint32_t from, uint32_t to, struct lz_pass_place *out)
{
	struct lz_code_ways *w = &p->ways;
	bool before, after, told;

	*out = (struct lz_pass_place){.gap = LZ_GAP_UNKNOWN};
	p->n_callees = 0;
	if (lz_code_ways_from(w, from, p->at) < 0)
		return -1;
	const bool behind_exit = w->met_behind;
	if (w->met_inside && behind_exit)
		return 0;
	if (behind_exit) {
		out->gap = LZ_GAP_AFTER_LAST;
		return 0;
	}
	if (lz_code_ways_route(w, LZ_NO_MARKER, &before, &told) < 0 || add_callees(p, w) < 0)
		return -1;
	out->before = p->n_callees;
	bool all_told = told;
	if (lz_code_ways_on(w) < 0 || lz_code_ways_route(w, to, &after, &told) < 0 ||
	    add_callees(p, w) < 0)
		return -1;
	all_told &= told;
	out->gap = !before    ? LZ_GAP_FIRST
	           : !after   ? LZ_GAP_LAST
	           : all_told ? LZ_GAP_BETWEEN
	                      : LZ_GAP_UNKNOWN;
	out->callee = p->callee;
	out->n = p->n_callees;
	return 0;
}
