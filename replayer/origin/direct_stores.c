/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/origin/direct_stores.h"
#include "replayer/program/fn_code.h"
#include "replayer/program/operands.h"
#include "replayer/session/session.h"

enum { MOST_INSNS = 1 << 16 };

struct looking {
	uint64_t addr, len, pc;
	struct lz_direct_stores *d;
};

static bool is_inside(const struct looking *x, uint64_t addr)
{
	return lz_overlap(addr, 1, x->addr, x->len);
}

/* False: it makes an address of the variable, or uses one with an index. */
static bool look_at_memory(struct looking *x, const struct lz_decoded *i,
                           const ZydisDecodedOperand *op)
{
	const bool relative = op->mem.base == ZYDIS_REGISTER_RIP;
	uint64_t at = (uint64_t)op->mem.disp.value;

	if (relative)
		at += x->pc + i->in.length;
	if (op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS)
		return true;
	if (op->mem.type != ZYDIS_MEMOP_TYPE_MEM || op->mem.index != ZYDIS_REGISTER_NONE ||
	    (!relative && op->mem.base != ZYDIS_REGISTER_NONE))
		return !is_inside(x, at);
	if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) ||
	    !lz_overlap(at, op->size / 8, x->addr, x->len))
		return true;
	if (x->d->n == LZ_DIRECT_STORES)
		return false;
	x->d->pc[x->d->n++] = x->pc;
	return true;
}

static bool look_at(struct looking *x, const struct lz_decoded *i)
{
	for (unsigned k = 0; k < i->in.operand_count_visible; k++) {
		const ZydisDecodedOperand *op = &i->op[k];
		const bool good = op->type == ZYDIS_OPERAND_TYPE_MEMORY ? look_at_memory(x, i, op)
		                  : op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && !op->imm.is_relative
		                      ? !is_inside(x, op->imm.value.u)
		                      : true;
		if (!good)
			return false;
	}
	return true;
}

bool lz_direct_stores_find(struct lz_nav *nav, struct lz_module *mod, const struct lz_cfg_func *f,
                           uint64_t addr, uint64_t len, struct lz_direct_stores *d)
{
	struct lz_fn_code *code = lz_fn_code_read(nav->modules, mod, f);
	struct looking x = {.addr = addr, .len = len, .d = d};
	bool good = code && code->n <= MOST_INSNS;

	d->n = 0;
	for (uint32_t k = 0; good && k < code->n; k++) {
		uint8_t bytes[LZ_INSN_LONGEST];
		struct lz_decoded i;

		x.pc = code->v[k].pc;
		const size_t n = lz_engine_read(nav->s->e, x.pc + mod->bias, bytes, sizeof bytes);
		good = lz_insn_decode(bytes, n, &i) && look_at(&x, &i);
	}
	lz_fn_code_free(code);
	return good && d->n > 0;
}
