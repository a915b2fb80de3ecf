/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/program/fn_code.h"

#include <Zydis/Zydis.h>
#include <common/base/array.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include <stdlib.h>
#include "replayer/program/elf_data.h"

enum {
	RANGES_MAX = 8,
	CODE_MAX = 1 << 22, /* bytes of a function */
	MOST_BY_GRAPH = 64  /* jumps of a function */
};

struct reading {
	struct lz_fn_code *c;
	struct lz_cfg *cfg;
	struct lz_elf_data *data;
	struct lz_part range[RANGES_MAX];
	size_t n_ranges, room;
	uint64_t *to; /* [c->n]: direct targets, by number */
	size_t to_room;
};

/* ---- where the function is ---- */

/* The part that holds ADDR, in order. */
static int add_range(struct reading *r, struct lz_lines *lines, uint64_t addr)
{
	struct lz_range part;
	size_t i;

	for (i = 0; i < r->n_ranges; i++)
		if (addr >= r->range[i].start && addr < r->range[i].end)
			return 0;
	if (r->n_ranges == RANGES_MAX || !lz_lines_function(lines, addr, &part) ||
	    part.end - part.start > CODE_MAX)
		return lz_fail("%s: it is not known where its code ends", r->c->f->name);
	for (i = r->n_ranges++; i > 0 && r->range[i - 1].start > part.start; i--)
		r->range[i] = r->range[i - 1];
	r->range[i] = (struct lz_part){part.start, part.end};
	return 0;
}

static int find_ranges(struct reading *r, struct lz_lines *lines)
{
	const struct lz_cfg_func *f = r->c->f;
	size_t n;
	const struct lz_cfg_label *label = lz_cfg_labels(r->cfg, &n);
	int rc = lines ? add_range(r, lines, f->entry) : -1;

	for (size_t i = 0; rc == 0 && i < n; i++)
		if (lz_cfg_func(r->cfg, label[i].func) == f)
			rc = add_range(r, lines, label[i].addr);
	return rc;
}

/* ---- instructions ---- */

static bool has_relative(const ZydisDecodedInstruction *in)
{
	return in->raw.imm[0].size && in->raw.imm[0].is_relative;
}

static bool stops(const ZydisDecodedInstruction *in)
{
	return in->meta.category == ZYDIS_CATEGORY_INTERRUPT ||
	       in->mnemonic == ZYDIS_MNEMONIC_UD0 || in->mnemonic == ZYDIS_MNEMONIC_UD1 ||
	       in->mnemonic == ZYDIS_MNEMONIC_UD2 || in->mnemonic == ZYDIS_MNEMONIC_HLT;
}

/* NEXT and TARGET are set when all instructions are known. */
static int add_insn(struct reading *r, const ZydisDecodedInstruction *in, uint64_t pc)
{
	struct lz_fn_code *c = r->c;
	struct lz_fn_insn i = {.pc = pc, .next = 0, .target = LZ_NO_INSN};
	uint64_t to = has_relative(in) ? pc + in->length + (uint64_t)in->raw.imm[0].value.s : 0;
	size_t left;

	if (lz_reserve(c->v, r->room, (size_t)c->n + 1) < 0 ||
	    lz_reserve(r->to, r->to_room, (size_t)c->n + 1) < 0)
		return lz_fail("out of memory for the code of %s", c->f->name);
	i.site = lz_cfg_sites_from(r->cfg, pc, &left);
	if (!left || i.site->addr != pc || lz_cfg_func(r->cfg, i.site->func) != c->f)
		i.site = NULL;
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		i.call = true;
		i.callee = to;
		to = 0;
		break;
	case ZYDIS_CATEGORY_RET: i.leaves = true; /* fall through */
	case ZYDIS_CATEGORY_UNCOND_BR: i.next = LZ_NO_INSN; break;
	case ZYDIS_CATEGORY_COND_BR: break;
	default: to = 0; i.next = stops(in) ? LZ_NO_INSN : 0;
	}
	i.lost = in->meta.category == ZYDIS_CATEGORY_UNCOND_BR && !to;
	r->to[c->n] = to;
	c->v[c->n++] = i;
	return 0;
}

static int decode_range(struct reading *r, const struct lz_part *range)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;
	size_t left;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint64_t pc = range->start; pc < range->end; pc += in.length) {
		const uint8_t *p = lz_elf_data_at(r->data, pc, &left);

		if (left > range->end - pc)
			left = range->end - pc;
		if (!p ||
		    !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, p, left, &in)))
			return lz_fail("%s: its code at 0x%llx cannot be read", r->c->f->name,
			               (unsigned long long)pc);
		if (add_insn(r, &in, pc) < 0)
			return -1;
	}
	return 0;
}

uint32_t lz_fn_code_at(const struct lz_fn_code *c, uint64_t pc)
{
	const uint32_t at = lz_lower_bound(i, c->n, c->v[i].pc < pc);

	return at < c->n && c->v[at].pc == pc ? at : LZ_NO_INSN;
}

/* ---- edges ---- */

/* A block without a way out ends in a call that does not return. */
static bool call_ends(const struct reading *r, const struct lz_fn_insn *call,
                      const struct lz_fn_insn *next)
{
	const struct lz_cfg_label *l = lz_cfg_label_before(r->cfg, call->pc);
	const struct lz_cfg_label *behind = lz_cfg_label_before(r->cfg, next->pc);
	const struct lz_graph *g = &r->c->f->graph;

	if (!l || lz_cfg_func(r->cfg, l->func) != r->c->f || behind == l)
		return false;
	for (size_t i = 0; i < g->n_edges; i++)
		if (g->edges[i].src == l->block)
			return false;
	return true;
}

static bool in_range(const struct reading *r, uint64_t pc)
{
	for (size_t i = 0; i < r->n_ranges; i++)
		if (pc >= r->range[i].start && pc < r->range[i].end)
			return true;
	return false;
}

/* A jump to the function's own beginning is a call of itself in tail position. */
static void link_target(struct reading *r, struct lz_fn_insn *i, uint64_t to)
{
	i->target = to == r->c->f->entry ? LZ_NO_INSN : lz_fn_code_at(r->c, to);
	if (i->target != LZ_NO_INSN)
		return;
	if (to != r->c->f->entry && in_range(r, to))
		i->lost = true;
	else
		i->leaves = true;
}

static void link_all(struct reading *r)
{
	struct lz_fn_code *c = r->c;

	for (uint32_t k = 0; k < c->n; k++) {
		struct lz_fn_insn *i = &c->v[k];

		if (r->to[k])
			link_target(r, i, r->to[k]);
		if (i->next == LZ_NO_INSN)
			continue;
		const bool last = k + 1 == c->n || !in_range(r, c->v[k + 1].pc);
		i->ends = i->call && (last || call_ends(r, i, &c->v[k + 1]));
		i->next = last || i->ends ? LZ_NO_INSN : k + 1;
	}
}

/* It only names the activation. */
static void forget_first_landings(struct lz_fn_code *c)
{
	bool behind_enter = false;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct lz_cfg_site *s = c->v[i].site;

		if (!s)
			continue;
		if (behind_enter && s->code == LZ_LANDING)
			c->v[i].site = NULL;
		behind_enter = s->code == LZ_ENTER;
	}
}

static int take_targets(struct lz_fn_code *c, struct lz_fn_insn *i, const struct lz_jump *j)
{
	if (lz_reserve(c->targets, c->room, c->n_targets + j->n) < 0)
		return lz_fail("out of memory for the code of %s", c->f->name);
	i->targets = (uint32_t)c->n_targets;
	for (size_t k = 0; k < j->n; k++) {
		const uint32_t to = lz_fn_code_at(c, j->targets[k]);
		if (to != LZ_NO_INSN)
			c->targets[c->n_targets++] = to;
	}
	i->n_targets = (uint32_t)c->n_targets - i->targets;
	i->lost = !i->n_targets;
	return 0;
}

/* A jump through a register may leave the function only behind a TAIL, which passes tell. */
static int link_indirect(struct reading *r)
{
	struct lz_jumps_code code = {.range = r->range, .n = r->n_ranges, .entry = r->c->f->entry};
	uint8_t *bytes[RANGES_MAX];
	struct lz_jumps jumps = {0};
	size_t left;
	int rc = 0;

	for (size_t i = 0; i < r->n_ranges; i++) {
		bytes[i] = (uint8_t *)lz_elf_data_at(r->data, r->range[i].start, &left);
		if (!bytes[i] || left < r->range[i].end - r->range[i].start)
			return lz_fail("%s: its code is in several segments", r->c->f->name);
	}
	code.bytes = bytes;
	code.data = lz_elf_data_parts(r->data, &code.n_data);
	if (lz_jumps_find(&code, &jumps) < 0)
		return -1;
	for (size_t i = 0; rc == 0 && i < jumps.n; i++) {
		const uint32_t at = lz_fn_code_at(r->c, jumps.v[i].pc);
		if (at != LZ_NO_INSN && jumps.v[i].n)
			rc = take_targets(r->c, &r->c->v[at], &jumps.v[i]);
	}
	lz_jumps_free(&jumps);
	return rc;
}

/* Where the blocks begin, by number: at their first labels; UINT64_MAX: not known. NULL: no memory.
 * malloced. */
static uint64_t *block_addresses(const struct reading *r)
{
	const struct lz_graph *g = &r->c->f->graph;
	uint64_t *at = malloc((g->n_nodes + 1ul) * sizeof(*at));
	size_t n;
	const struct lz_cfg_label *l = lz_cfg_labels(r->cfg, &n);

	for (uint32_t i = 0; at && i < g->n_nodes; i++)
		at[i] = UINT64_MAX;
	for (size_t i = 0; at && i < n; i++)
		if (l[i].block < g->n_nodes && at[l[i].block] == UINT64_MAX &&
		    lz_cfg_func(r->cfg, l[i].func) == r->c->f)
			at[l[i].block] = l[i].addr;
	return at;
}

/* Where the graph leads from the block of a jump: its code is where its label is, unless it was
 * optimised. */
static int link_by_graph(struct reading *r, struct lz_fn_insn *i, const uint64_t *at)
{
	const struct lz_cfg_label *from = lz_cfg_label_before(r->cfg, i->pc);
	const struct lz_graph *g = &r->c->f->graph;
	struct lz_jump found = {0};
	bool known = from && lz_cfg_func(r->cfg, from->func) == r->c->f;
	int rc = 0;

	for (size_t k = 0; rc == 0 && known && k < g->n_edges; k++) {
		if (g->edges[k].src != from->block)
			continue;
		known = at[g->edges[k].dst] != UINT64_MAX;
		if ((rc = lz_extend(found.targets, found.n)) == 0)
			found.targets[found.n++] = at[g->edges[k].dst];
	}
	if (rc == 0 && known)
		rc = take_targets(r->c, i, &found);
	free(found.targets);
	return rc;
}

/* GCC makes one computed goto of all in a function: what has many was not made by it. */
static int link_lost(struct reading *r)
{
	uint32_t left = MOST_BY_GRAPH;
	uint64_t *at = block_addresses(r);
	int rc = at ? 0 : lz_fail("out of memory for the code of %s", r->c->f->name);

	for (uint32_t i = 0; rc == 0 && left && i < r->c->n; i++)
		if (r->c->v[i].lost) {
			rc = link_by_graph(r, &r->c->v[i], at);
			left--;
		}
	free(at);
	return rc;
}

static int read_code(struct reading *r, struct lz_lines *lines)
{
	bool indirect = false;
	int rc = find_ranges(r, lines);

	for (size_t i = 0; rc == 0 && i < r->n_ranges; i++)
		rc = decode_range(r, &r->range[i]);
	if (rc < 0)
		return rc;
	link_all(r);
	forget_first_landings(r->c);
	for (uint32_t i = 0; i < r->c->n; i++)
		indirect |= r->c->v[i].lost;
	if (indirect)
		rc = link_indirect(r);
	return rc == 0 && indirect && !(r->c->f->flags & LZ_FN_OPTIMIZED) ? link_lost(r) : rc;
}

struct lz_fn_code *lz_fn_code_read(struct lz_modules *m, struct lz_module *mod,
                                   const struct lz_cfg_func *f)
{
	struct reading r = {.cfg = lz_module_cfg(m, mod)};

	if (!r.cfg || !(r.data = lz_elf_data_open(mod->path)))
		return NULL;
	r.c = calloc(1, sizeof(*r.c));
	if (r.c)
		*r.c = (struct lz_fn_code){.cfg = r.cfg, .f = f};
	int rc = r.c ? read_code(&r, lz_module_lines(m, mod)) : lz_fail("out of memory");
	lz_elf_data_close(r.data);
	free(r.to);
	if (rc == 0)
		return r.c;
	lz_fn_code_free(r.c);
	return NULL;
}

void lz_fn_code_free(struct lz_fn_code *c)
{
	if (!c)
		return;
	free(c->v);
	free(c->targets);
	free(c);
}
