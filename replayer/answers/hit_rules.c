/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/hit_rules.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>

/* Places of one function share its code. */
static struct lz_fn_code *code_of(struct lz_asked *a, struct lz_hit_rules *r,
                                  const struct lz_fn *fn)
{
	for (size_t i = 0; i < r->n_codes; i++)
		if (r->code[i]->f == fn->f)
			return r->code[i];
	struct lz_fn_code *c = lz_fn_code_read(a->modules, fn->mod, fn->f);
	if (c)
		r->code[r->n_codes++] = c;
	return c;
}

static int make_one(struct lz_asked *a, const struct lz_place *place, struct lz_hit_rules *r,
                    struct lz_place_rules *one)
{
	one->fn = lz_stream_fn(a->stream, place->fn);
	one->cfg = lz_module_cfg(a->modules, one->fn->mod);
	const struct lz_fn_code *c = code_of(a, r, one->fn);

	if (!c || !(one->passes = lz_passes_new(c, place->addr - one->fn->mod->bias)))
		return -1;
	one->first = lz_passes_first(one->passes);
	return 0;
}

int lz_hit_rules_make(struct lz_asked *a, const struct lz_places *p, struct lz_hit_rules *r)
{
	const size_t n_fns = lz_stream_n_fns(a->stream);

	*r = (struct lz_hit_rules){.n = p->n,
	                           .v = calloc(p->n + 1, sizeof(*r->v)),
	                           .code = calloc(p->n + 1, sizeof(struct lz_fn_code *)),
	                           .first = calloc(n_fns + 1, sizeof(*r->first)),
	                           .next = calloc(p->n + 1, sizeof(*r->next))};
	if (!r->v || !r->code || !r->first || !r->next)
		return lz_fail("out of memory for %zu places", p->n);
	for (size_t i = p->n; i-- > 0;) {
		if (make_one(a, &p->v[i], r, &r->v[i]) < 0)
			return -1;
		r->next[i] = r->first[p->v[i].fn];
		r->first[p->v[i].fn] = (uint32_t)i + 1;
	}
	return 0;
}

void lz_hit_rules_free(struct lz_hit_rules *r)
{
	for (size_t i = 0; r->v && i < r->n; i++) {
		for (size_t k = 0; k < r->v[i].n; k++)
			free(r->v[i].v[k].callee);
		free(r->v[i].v);
		lz_tally_free(&r->v[i].index);
		lz_tally_free(&r->v[i].unwound);
		lz_passes_free(r->v[i].passes);
	}
	for (size_t i = 0; r->code && i < r->n_codes; i++)
		lz_fn_code_free(r->code[i]);
	free(r->v);
	free(r->code);
	free(r->first);
	free(r->next);
	*r = (struct lz_hit_rules){0};
}

/* Calls of functions that may write no markers do not count: those that do are matched by their
 * entries. */
static int take_callees(const struct lz_place_rules *r, const struct lz_pass_place *w,
                        struct lz_rule *rule)
{
	const struct lz_cfg *cfg = r->cfg;

	rule->callee = calloc(w->n + 1, sizeof(*rule->callee));
	if (!rule->callee)
		return lz_fail("out of memory for the calls of a function");
	for (size_t i = 0; i < w->n; i++) {
		if (!w->callee[i] || !cfg || !lz_cfg_func_at(cfg, w->callee[i]))
			continue;
		rule->callee[rule->n++] = (uint32_t)(w->callee[i] + r->fn->mod->bias);
		rule->before += i < w->before;
	}
	return 0;
}

static int make_rule(struct lz_place_rules *r, uint32_t from, uint32_t to, struct lz_rule *rule)
{
	struct lz_pass_place w;
	const int told = lz_passes_between(r->passes, from, to);

	*rule = (struct lz_rule){.told = told};
	if (told != LZ_TOLD_YES)
		return told < 0 ? -1 : 0;
	if (lz_passes_where(r->passes, from, to, &w) < 0)
		return -1;
	rule->gap = w.gap;
	return w.gap == LZ_GAP_BETWEEN ? take_callees(r, &w, rule) : 0;
}

/* 1 + its index; 0: lz_error(). */
static size_t find_rule(struct lz_place_rules *r, uint32_t from, uint32_t to)
{
	struct lz_tally_row *row = lz_tally_row(&r->index, (uint64_t)from << 32 | to);
	struct lz_rule rule;

	if (!row || row->n)
		return row ? (size_t)row->n : 0;
	if (make_rule(r, from, to, &rule) < 0)
		return 0;
	if (lz_reserve(r->v, r->room, r->n + 1) < 0) {
		free(rule.callee);
		return 0;
	}
	r->v[r->n++] = rule;
	row->n = r->n;
	return r->n;
}

const struct lz_rule *lz_hit_rule(struct lz_place_rules *r, uint32_t from, uint32_t to)
{
	const uint32_t slot = (from * 7 + to) % LZ_RULES_AT_HAND;

	if (!r->at_hand[slot].rule || r->at_hand[slot].from != from || r->at_hand[slot].to != to) {
		r->at_hand[slot].rule = find_rule(r, from, to);
		r->at_hand[slot].from = from;
		r->at_hand[slot].to = to;
	}
	return r->at_hand[slot].rule ? &r->v[r->at_hand[slot].rule - 1] : NULL;
}

int lz_hit_unwound(struct lz_place_rules *r, uint32_t from, uint64_t callee)
{
	struct lz_tally_row *row =
	    lz_tally_row(&r->unwound, (uint64_t)from << 32 | (uint32_t)callee);

	if (row && !row->n) {
		const int told = lz_passes_unwound(r->passes, from, callee);

		if (told < 0)
			return -1;
		row->n = 1 + (uint64_t)told;
	}
	return row ? (int)row->n - 1 : -1;
}
