/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The instrumented functions that a stream's markers are of. */
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "replayer/stream/inside.h"

static uint32_t slot_of(const struct lz_stream *s, uint32_t entry)
{
	return (entry * 0x9E3779B1u) >> 7 & s->hash_mask;
}

static uint32_t resolve(void *arg, uint32_t entry, uint64_t offset)
{
	const struct lz_stream *s = arg;

	for (uint32_t i = s->hash[slot_of(s, entry)]; i != LZ_FN_NONE; i = s->fns[i].next) {
		const struct lz_fn *fn = &s->fns[i];

		if (fn->entry == entry && offset >= fn->from_marker && offset <= fn->to_marker)
			return i;
	}
	return LZ_FN_NONE;
}

static uint32_t n_markers(void *arg, uint32_t fn)
{
	const struct lz_stream *s = arg;

	return s->fns[fn].n_markers;
}

static enum lz_tail tail_kind(void *arg, uint32_t fn)
{
	const struct lz_stream *s = arg;

	return s->fns[fn].tail;
}

/* A TAIL site with an EXIT site behind it in the same block: the call between them returns. */
static void find_tails(const struct lz_cfg *cfg, struct lz_fn *fns)
{
	size_t n;
	const struct lz_cfg_site *site = lz_cfg_sites(cfg, &n);
	uint8_t *seen = calloc(lz_cfg_n_funcs(cfg) + 1, 1);

	for (size_t i = 0; seen && i < n; i++) {
		bool returns;

		if (site[i].code != LZ_TAIL || site[i].func >= lz_cfg_n_funcs(cfg))
			continue;
		returns = i + 1 < n && site[i + 1].func == site[i].func &&
		          site[i + 1].code == LZ_EXIT &&
		          lz_cfg_label_before(cfg, site[i].addr) ==
		              lz_cfg_label_before(cfg, site[i + 1].addr);
		seen[site[i].func] |= returns ? 2 : 1;
	}
	for (size_t i = 0; seen && i < lz_cfg_n_funcs(cfg); i++)
		fns[i].tail = seen[i] == 3   ? LZ_TAIL_EITHER
		              : seen[i] == 2 ? LZ_TAIL_RETURNS
		                             : LZ_TAIL_GONE;
	free(seen);
}

int lz_stream_collect(struct lz_stream *s)
{
	size_t total = 0, k = 0, size = 64;

	for (size_t i = 0; i < lz_modules_count(s->modules); i++) {
		struct lz_cfg *cfg = lz_module_cfg(s->modules, lz_modules_get(s->modules, i));

		total += cfg ? lz_cfg_n_funcs(cfg) : 0;
	}
	while (size < total * 2)
		size *= 2;
	s->fns = calloc(total + 1, sizeof(*s->fns));
	s->hash = malloc(size * sizeof(*s->hash));
	if (!s->fns || !s->hash)
		return lz_fail("out of memory for %zu functions", total);
	s->hash_mask = size - 1;
	memset(s->hash, 0xFF, size * sizeof(*s->hash));
	for (size_t i = 0; i < lz_modules_count(s->modules); i++) {
		struct lz_module *mod = lz_modules_get(s->modules, i);
		struct lz_cfg *cfg = lz_module_cfg(s->modules, mod);

		if (!cfg || !lz_cfg_n_funcs(cfg))
			continue;
		for (size_t j = 0; j < lz_cfg_n_funcs(cfg); j++) {
			struct lz_fn *fn = &s->fns[k + j];
			uint32_t *slot;

			fn->f = lz_cfg_func(cfg, j);
			fn->mod = mod;
			fn->entry = (uint32_t)(fn->f->entry + mod->bias);
			fn->n_markers = fn->f->n_markers;
			fn->from_marker = mod->from_marker;
			fn->to_marker = mod->to_marker;
			slot = &s->hash[slot_of(s, fn->entry)];
			fn->next = *slot;
			*slot = k + j;
		}
		find_tails(cfg, &s->fns[k]);
		for (size_t j = 0; j < lz_cfg_n_funcs(cfg); j++)
			s->any_tail_either |= s->fns[k + j].tail == LZ_TAIL_EITHER;
		k += lz_cfg_n_funcs(cfg);
	}
	s->n_fns = k;
	return 0;
}

size_t lz_stream_n_fns(const struct lz_stream *s)
{
	return s->n_fns;
}

const struct lz_fn *lz_stream_fn(const struct lz_stream *s, uint32_t fn)
{
	return fn < s->n_fns ? &s->fns[fn] : NULL;
}

uint32_t lz_stream_fn_at(struct lz_stream *s, uint64_t addr, uint64_t event)
{
	struct lz_module *mod = lz_modules_at(s->modules, addr, event);
	struct lz_cfg *cfg = mod ? lz_module_cfg(s->modules, mod) : NULL;
	const struct lz_cfg_func *f = NULL;
	const struct lz_cfg_label *label;
	struct lz_range range;

	if (!cfg)
		return LZ_FN_NONE;
	label = lz_cfg_label_before(cfg, addr - mod->bias);
	if (label) {
		f = lz_cfg_func(cfg, label->func);
	} else {
		/* In front of the first block's label: the prologue. */
		struct lz_lines *l = lz_module_lines(s->modules, mod);

		if (l && lz_lines_function(l, addr - mod->bias, &range))
			f = lz_cfg_func_at(cfg, range.start);
	}
	for (size_t i = 0; f && i < s->n_fns; i++)
		if (s->fns[i].f == f && s->fns[i].mod == mod)
			return i;
	return LZ_FN_NONE;
}

void lz_stream_questions(struct lz_stream *s, struct lz_decoder *d)
{
	d->resolve = resolve;
	d->n_markers = n_markers;
	d->tail = tail_kind;
	d->arg = s;
}
