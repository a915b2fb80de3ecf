/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/origin/assigners.h"
#include "replayer/origin/direct_stores.h"
#include "replayer/program/elf_syms.h"
#include "replayer/session/session.h"
#include <common/base/array.h>
#include <lizard/cfg_format.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

/* ---- the blocks of a function ---- */

static bool push(struct lz_assigners *a, const struct lz_target *t)
{
	if (a->n == MOST || lz_reserve(a->v, a->room, a->n + 1) < 0)
		return false;
	a->v[a->n++] = *t;
	return true;
}

/* Optimization moves stores, but not out of the function. A block's own marker may come before them. */
static bool add_blocks(struct lz_assigners *a, uint32_t fn, const struct lz_cfg_func *f,
                       const struct lz_assigned *v)
{
	if (f->flags & LZ_FN_OPTIMIZED)
		return push(a, &(struct lz_target){.fn = fn, .loose = true});
	for (uint32_t i = 0; i < v->n; i++) {
		const uint32_t node = v->nodes[i];
		const struct lz_target t = {
		    .fn = fn, .block = &f->blocks[node], .before = f->graph.node_marker[node]};
		if (!push(a, &t))
			return false;
	}
	return true;
}

/* ---- a local variable ---- */

/* Several of one name in a function are not told apart. */
static bool add_local(struct lz_assigners *a, uint32_t fn, const struct lz_cfg_func *f,
                      const char *name)
{
	bool any = false;

	for (uint32_t i = 0; f->assigns && i < f->assigns->n_vars; i++) {
		const struct lz_assigned *v = &f->assigns->vars[i];
		if (!(v->flags & LZ_VAR_LOCAL) || strcmp(v->name, name) != 0)
			continue;
		if (v->flags & LZ_VAR_ESCAPES || !add_blocks(a, fn, f, v))
			return false;
		any = true;
	}
	return any;
}

/* The only activation of FN on that thread's stack at stream offset MARKER. */
static const struct lz_act *only_activation(struct lz_nav *nav, uint64_t marker, uint32_t thread,
                                            uint32_t fn)
{
	const struct lz_decoder *d = lz_stream_stack(nav->stream, marker, thread);
	const struct lz_act *found = NULL;

	if (!d || thread >= (d->n_stacks > d->thread ? d->n_stacks : d->thread + 1))
		return NULL;
	const struct lz_act *acts = thread == d->thread ? d->acts : d->stack[thread].acts;
	const size_t n = thread == d->thread ? d->n : d->stack[thread].n;
	for (size_t i = 0; i < n; i++) {
		if (acts[i].fn != fn)
			continue;
		if (found)
			return NULL;
		found = &acts[i];
	}
	return found && !found->inherited ? found : NULL;
}

static bool find_local(struct lz_nav *nav, const struct lz_pos *now, const char *name,
                       uint64_t entry, struct lz_assigners *a)
{
	const uint32_t fn = lz_stream_fn_at(nav->stream, entry, now->event);

	a->thread = lz_stream_thread_find(&nav->threads, now->tid, now->event);
	if (fn == LZ_FN_NONE || a->thread == LZ_NO_THREAD ||
	    !add_local(a, fn, lz_stream_fn(nav->stream, fn)->f, name))
		return false;
	const struct lz_act *act = only_activation(nav, now->marker, a->thread, fn);
	if (!act)
		return false;
	a->begin = lz_act_begin(act);
	return true;
}

/* ---- a variable without a frame ---- */

/* The function's machine code says between which markers T can be. */
static bool add_code(struct lz_nav *nav, struct lz_target *t, struct lz_assigners *a)
{
	if (!t->loose)
		return true;
	if (lz_reserve(a->code, a->code_room, a->n_code + 1) < 0)
		return false;
	struct lz_target_code *c = malloc(sizeof *c);
	if (!c)
		return false;
	a->code[a->n_code++] = c;
	lz_target_code_begin(c, nav->stream, nav->modules, t);
	return true;
}

/* At the instructions of optimized code that store to it, if these are known. */
static bool add_instructions(struct lz_nav *nav, struct lz_module *mod, const struct lz_cfg_func *f,
                             const struct lz_elf_variable *is, struct lz_assigners *a)
{
	struct lz_direct_stores d;

	if (!lz_direct_stores_find(nav, mod, f, is->addr, is->len, &d))
		return false;
	for (size_t i = 0; i < d.n; i++) {
		struct lz_target t;

		lz_target_find(nav->stream, nav->modules, d.pc[i] + mod->bias, nav->s->pos.event,
		               &t);
		if (!add_code(nav, &t, a) || !push(a, &t))
			return false;
	}
	return true;
}

static bool add_function(struct lz_nav *nav, struct lz_module *mod, const struct lz_cfg_func *f,
                         const struct lz_assigned *v, const struct lz_elf_variable *is,
                         struct lz_assigners *a)
{
	const uint32_t fn = lz_stream_fn_at(nav->stream, f->entry + mod->bias, nav->s->pos.event);
	const size_t n = a->n;

	if (fn == LZ_FN_NONE || lz_stream_fn(nav->stream, fn)->f != f)
		return false;
	if (f->flags & LZ_FN_OPTIMIZED && v->flags & LZ_VAR_SCALAR &&
	    add_instructions(nav, mod, f, is, a))
		return true;
	a->n = n;
	return add_blocks(a, fn, f, v);
}

/* All functions must tell, as any of them may name it. Static variables of one name are not told
 * apart. */
static bool add_static(struct lz_nav *nav, struct lz_module *mod, const struct lz_cfg *cfg,
                       const struct lz_elf_variable *is, struct lz_assigners *a)
{
	if (lz_cfg_taken(cfg, is->name))
		return false;
	for (size_t i = 0; i < lz_cfg_n_funcs(cfg); i++) {
		const struct lz_cfg_func *f = lz_cfg_func(cfg, i);
		if (!f->assigns)
			return false;
		for (uint32_t k = 0; k < f->assigns->n_vars; k++) {
			const struct lz_assigned *v = &f->assigns->vars[k];
			if (!(v->flags & LZ_VAR_LOCAL) && strcmp(v->name, is->name) == 0 &&
			    !add_function(nav, mod, f, v, is, a))
				return false;
		}
	}
	return true;
}

static bool is_there(const struct lz_module *mod, uint64_t event)
{
	return mod->from_event <= event && event < mod->to_event;
}

static bool find_static(struct lz_nav *nav, uint64_t addr, uint64_t len, struct lz_assigners *a)
{
	for (size_t i = 0; i < lz_modules_count(nav->modules); i++) {
		struct lz_module *mod = lz_modules_get(nav->modules, i);
		struct lz_elf_variable is;

		if (!is_there(mod, nav->s->pos.event))
			continue;
		struct lz_cfg *cfg = lz_module_cfg(nav->modules, mod);
		if (cfg && lz_cfg_n_funcs(cfg) &&
		    lz_elf_own_variable(mod->path, addr - mod->bias, len, &is)) {
			a->from_event = mod->from_event;
			return add_static(nav, mod, cfg, &is, a);
		}
	}
	return false;
}

bool lz_assigners_find(struct lz_nav *nav, const struct lz_pos *now, uint64_t addr, uint64_t len,
                       const char *local, uint64_t entry, struct lz_assigners *a)
{
	*a = (struct lz_assigners){.thread = LZ_NO_THREAD};
	const bool found =
	    local ? find_local(nav, now, local, entry, a) : find_static(nav, addr, len, a);
	if (!found)
		lz_assigners_free(a);
	return found;
}

void lz_assigners_free(struct lz_assigners *a)
{
	for (size_t i = 0; i < a->n_code; i++) {
		lz_target_code_end(a->code[i]);
		free(a->code[i]);
	}
	free(a->code);
	free(a->v);
	*a = (struct lz_assigners){.thread = LZ_NO_THREAD};
}
