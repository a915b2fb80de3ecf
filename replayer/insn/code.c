/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include "replayer/insn/code.h"
#include "replayer/insn/targets.h"

enum { KNOWN = 1 << 12 };

struct lz_insn_code {
	struct lz_nav *nav;
	uint64_t event;
	ZydisDecoder decoder;
	struct lz_module *mod; /* the last one that was asked for */
	struct lz_insn_targets *targets;
	struct lz_code_insn known[KNOWN];
};

struct lz_insn_code *lz_insn_code_open(struct lz_nav *nav, uint64_t event)
{
	struct lz_insn_code *c = calloc(1, sizeof(*c));

	if (!c) {
		lz_fail("out of memory for instructions");
		return NULL;
	}
	c->targets = lz_insn_targets_open(nav, event);
	if (!c->targets) {
		free(c);
		return NULL;
	}
	c->nav = nav;
	c->event = event;
	ZydisDecoderInit(&c->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return c;
}

void lz_insn_code_close(struct lz_insn_code *c)
{
	if (c)
		lz_insn_targets_close(c->targets);
	free(c);
}

/* The file that PC's code is of, if that is instrumented. */
static struct lz_cfg *cfg_at(struct lz_insn_code *c, uint64_t pc)
{
	if (!c->mod || pc < c->mod->start || pc >= c->mod->end)
		c->mod = lz_modules_at(c->nav->modules, pc, c->event);
	return c->mod ? lz_module_cfg(c->nav->modules, c->mod) : NULL;
}

/* ---- where it leads ---- */

static enum lz_code_kind kind_of(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_COND_BR: return LZ_CODE_BRANCH;
	case ZYDIS_CATEGORY_UNCOND_BR: return LZ_CODE_JUMP;
	case ZYDIS_CATEGORY_CALL: return LZ_CODE_CALL;
	case ZYDIS_CATEGORY_RET: return LZ_CODE_RETURN;
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSRET: return LZ_CODE_NONE;
	default: break;
	}
	return in->mnemonic == ZYDIS_MNEMONIC_UD0 || in->mnemonic == ZYDIS_MNEMONIC_UD1 ||
	               in->mnemonic == ZYDIS_MNEMONIC_UD2 || in->mnemonic == ZYDIS_MNEMONIC_HLT
	           ? LZ_CODE_NONE
	           : LZ_CODE_NEXT;
}

static void decode(struct lz_insn_code *c, struct lz_code_insn *to)
{
	uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
	ZydisDecodedInstruction in;
	size_t n = lz_session_read(c->nav->s, to->pc, bytes, sizeof(bytes));

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&c->decoder, NULL, bytes, n, &in))) {
		to->kind = LZ_CODE_NONE;
		return;
	}
	to->kind = kind_of(&in);
	to->next = to->pc + in.length;
	if (in.raw.imm[0].size && in.raw.imm[0].is_relative)
		to->target = to->next + (uint64_t)in.raw.imm[0].value.s;
}

/* ---- markers ---- */

static void fill(const struct lz_cfg *cfg, struct lz_module *mod, const struct lz_cfg_site *site,
                 struct lz_code_insn *to)
{
	to->f = lz_cfg_func(cfg, site->func);
	to->mod = mod;
	to->code = site->code;
	to->id = site->id;
}

static void find_marker(struct lz_insn_code *c, struct lz_code_insn *to)
{
	struct lz_cfg *cfg = cfg_at(c, to->pc);
	size_t left = 0;
	const struct lz_cfg_site *s =
	    cfg ? lz_cfg_sites_from(cfg, to->pc - c->mod->bias, &left) : NULL;

	if (left && s->addr == to->pc - c->mod->bias)
		fill(cfg, c->mod, s, to);
}

const struct lz_code_insn *lz_insn_at(struct lz_insn_code *c, uint64_t pc)
{
	struct lz_code_insn *in = &c->known[(pc ^ pc >> 12) % KNOWN];

	if (in->pc == pc && in->next)
		return in;
	*in = (struct lz_code_insn){.pc = pc};
	decode(c, in);
	find_marker(c, in);
	if (in->target)
		in->to = lz_insn_place(c, in->target);
	else if (in->kind == LZ_CODE_JUMP)
		in->n_targets = lz_insn_targets(c->targets, pc, &in->targets);
	return in;
}

enum lz_place_kind lz_insn_place(struct lz_insn_code *c, uint64_t pc)
{
	struct lz_cfg *cfg = cfg_at(c, pc);

	if (!cfg)
		return LZ_PLACE_FOREIGN;
	if (lz_cfg_func_at(cfg, pc - c->mod->bias))
		return LZ_PLACE_ENTRY;
	return lz_stream_fn_at(c->nav->stream, pc, c->event) != LZ_FN_NONE ? LZ_PLACE_INSIDE
	                                                                   : LZ_PLACE_FOREIGN;
}

int lz_insn_sites(struct lz_insn_code *c, const struct lz_fn *fn, uint8_t code, uint32_t id,
                  int (*visit)(void *arg, const struct lz_code_insn *in), void *arg)
{
	struct lz_cfg *cfg = lz_module_cfg(c->nav->modules, fn->mod);
	size_t n = 0;
	const struct lz_cfg_site *s = cfg ? lz_cfg_sites(cfg, &n) : NULL;
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		if (lz_cfg_func(cfg, s[i].func) == fn->f && s[i].id == id &&
		    (id || s[i].code == code))
			rc = visit(arg, lz_insn_at(c, s[i].addr + fn->mod->bias));
	return rc;
}
