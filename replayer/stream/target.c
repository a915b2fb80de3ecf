/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the CFG knows of an address. */
#include <common/base/array.h>
#include "replayer/stream/target.h"

static const struct lz_cfg_label *label_behind(const struct lz_cfg *cfg, uint64_t addr)
{
	size_t n, at;
	const struct lz_cfg_label *l = lz_cfg_labels(cfg, &n);

	at = lz_lower_bound(i, n, l[i].addr <= addr);
	return at < n ? &l[at] : NULL;
}

/* Not behind the instruction that completes the entry marker? */
static bool in_prologue(const struct lz_cfg *cfg, const struct lz_cfg_func *f, uint64_t addr)
{
	size_t left;
	const struct lz_cfg_site *s = lz_cfg_sites_from(cfg, f->entry, &left);

	if (addr < f->entry)
		return false;
	for (; left && lz_cfg_func(cfg, s->func) == f; s++, left--)
		if (s->code == LZ_ENTER)
			return addr <= s->addr;
	return false;
}

/* The markers written in the same piece of code as ADDR. */
static void look_around(const struct lz_cfg *cfg, const struct lz_cfg_func *f, uint64_t addr,
                        uint64_t start, struct lz_target *t)
{
	const struct lz_cfg_label *next = label_behind(cfg, addr);
	uint64_t end = next ? next->addr : UINT64_MAX;
	size_t left;
	const struct lz_cfg_site *s = lz_cfg_sites_from(cfg, start, &left);

	/* Without optimization GCC puts the epilogue last, and it has no label. Code for cleanups
	 * may lie between it and the return. */
	t->apart = !next || lz_cfg_func(cfg, next->func) != f;
	for (; left && s->addr < end; s++, left--) {
		if (lz_cfg_func(cfg, s->func) != f)
			continue;
		if (s->code == LZ_LANDING && addr <= s->addr)
			t->landing = true;
		if (s->code == LZ_EXIT || s->code == LZ_TAIL) {
			t->apart = false;
			t->epilogue |= s->addr < addr;
		}
		if (!s->id)
			continue;
		if (s->addr < addr)
			t->before = s->id;
		else if (!t->after)
			t->after = s->id;
	}
}

void lz_target_find(struct lz_stream *s, struct lz_modules *m, uint64_t addr, uint64_t event,
                    struct lz_target *t)
{
	const struct lz_cfg_label *label, *next;
	const struct lz_fn *fn;
	const struct lz_cfg *cfg;
	uint64_t link;

	*t = (struct lz_target){.addr = addr, .fn = lz_stream_fn_at(s, addr, event)};
	if (t->fn == LZ_FN_NONE) {
		t->hook = lz_modules_hook(m, addr, event);
		return;
	}
	fn = lz_stream_fn(s, t->fn);
	cfg = lz_module_cfg(m, fn->mod);
	link = addr - fn->mod->bias;
	label = lz_cfg_label_before(cfg, link);
	if (label && lz_cfg_func(cfg, label->func) != fn->f)
		label = NULL;
	/* Without optimization GCC keeps the line of a jump in a `nop` before the block that it
	 * leads to, behind other code (cfglayout, goto_locus). */
	t->prologue = in_prologue(cfg, fn->f, link);
	next = label_behind(cfg, link);
	t->loose = fn->f->flags & LZ_FN_OPTIMIZED || (next && next->addr == link + 1);
	/* No code of a function jumps to its first instruction but a call of itself, which
	 * writes a marker before. */
	if (t->prologue && link == fn->f->entry)
		t->loose = false;
	look_around(cfg, fn->f, link, label ? label->addr : fn->f->entry, t);
	if (label && !t->prologue && label->block < fn->f->graph.n_nodes)
		t->block = &fn->f->blocks[label->block];
	else if (!t->prologue)
		t->loose = true;
}
