/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/program/defs.h"

#include <common/base/array.h>
#include <stdlib.h>
#include <string.h>

#define EFFORT_MAX (1 << 23)

/* ---- decoding ---- */

ZydisRegister lz_whole_register(ZydisRegister r)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
}

static bool add_written(struct lz_op *op, ZydisRegister r)
{
	for (size_t i = 0; i < LZ_OP_WRITES; i++) {
		if (op->written[i] == r || r == ZYDIS_REGISTER_NONE)
			return true;
		if (op->written[i] == ZYDIS_REGISTER_NONE) {
			op->written[i] = r;
			return true;
		}
	}
	return false;
}

/* What is in these behind a call or a system call is its result, or nothing that anybody reads,
 * as a rule. */
static bool add_results(struct lz_op *op)
{
	static const ZydisRegister r[] = {
	    ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_RDX,
	    ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_R8,
	    ZYDIS_REGISTER_R9,  ZYDIS_REGISTER_R10, ZYDIS_REGISTER_R11};

	for (size_t i = 0; i < sizeof(r) / sizeof(*r); i++)
		if (!add_written(op, r[i]))
			return false;
	return true;
}

static bool gives_results(const ZydisDecodedInstruction *in)
{
	return in->meta.category == ZYDIS_CATEGORY_CALL ||
	       in->meta.category == ZYDIS_CATEGORY_SYSCALL ||
	       in->meta.category == ZYDIS_CATEGORY_INTERRUPT;
}

static uint64_t constant(const struct lz_op *op)
{
	const ZydisDecodedOperand *o = &op->operand[1];

	if (op->mnemonic == ZYDIS_MNEMONIC_LEA && o->mem.base == ZYDIS_REGISTER_RIP)
		return op->next + (uint64_t)o->mem.disp.value;
	if (op->mnemonic == ZYDIS_MNEMONIC_MOV && o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	    op->operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER && op->operand[0].size >= 32)
		return o->imm.value.u;
	return 0;
}

static bool fill(struct lz_op *op, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o)
{
	bool jump = in->meta.category == ZYDIS_CATEGORY_COND_BR ||
	            in->meta.category == ZYDIS_CATEGORY_UNCOND_BR;

	for (size_t i = 0; i < in->operand_count; i++) {
		if (i < 2)
			op->operand[i] = o[i];
		if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (o[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
		    !add_written(op, lz_whole_register(o[i].reg.value)))
			return false;
	}
	op->mnemonic = in->mnemonic;
	op->address = constant(op);
	op->leaves = in->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	             in->meta.category == ZYDIS_CATEGORY_RET || in->mnemonic == ZYDIS_MNEMONIC_UD2;
	if (jump && in->raw.imm[0].is_relative)
		op->target = op->next + (uint64_t)in->raw.imm[0].value.s;
	op->indirect = jump && !op->target;
	return !gives_results(in) || add_results(op);
}

bool lz_ops_add(struct lz_ops *o, const uint8_t *code, uint64_t start, size_t len)
{
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < len; at += in.length) {
		if (!ZYAN_SUCCESS(
		        ZydisDecoderDecodeFull(&decoder, code + at, len - at, &in, operand)) ||
		    lz_reserve(o->v, o->room, o->n + 1) < 0)
			return false;
		o->v[o->n] = (struct lz_op){.pc = start + at, .next = start + at + in.length};
		if (!fill(&o->v[o->n++], &in, operand))
			return false;
	}
	return true;
}

void lz_ops_free(struct lz_ops *o)
{
	free(o->v);
	free(o->edge);
	memset(o, 0, sizeof(*o));
}

/* The first behind PC, or at it. */
static size_t first_from(const struct lz_ops *o, uint64_t pc)
{
	return lz_lower_bound(i, o->n, o->v[i].pc < pc);
}

size_t lz_ops_at(const struct lz_ops *o, uint64_t pc)
{
	size_t i = first_from(o, pc);

	return i < o->n && o->v[i].pc == pc ? i : o->n;
}

bool lz_ops_end(const struct lz_ops *o, uint64_t pc)
{
	size_t i = first_from(o, pc);

	return i > 0 && o->v[i - 1].next == pc;
}

static bool within_one(const struct lz_ops *o, uint64_t pc)
{
	size_t i = first_from(o, pc);

	return i > 0 && pc < o->v[i - 1].next && (i == o->n || o->v[i].pc != pc);
}

/* ---- edges ---- */

static bool is_before(const struct lz_op_edge *e, size_t to, size_t from)
{
	return e->to < to || (e->to == to && e->from < from);
}

/* The first that is not before TO, FROM. */
static size_t edge_at(const struct lz_ops *o, size_t to, size_t from)
{
	return lz_lower_bound(i, o->n_edges, is_before(&o->edge[i], to, from));
}

int lz_ops_edge(struct lz_ops *o, size_t from, size_t to)
{
	size_t at = edge_at(o, to, from);

	if (at < o->n_edges && o->edge[at].to == to && o->edge[at].from == from)
		return 0;
	if (o->n_edges == LZ_EDGES_MAX)
		return -1;
	if (lz_reserve(o->edge, o->edges_room, o->n_edges + 1) < 0)
		return -1;
	memmove(o->edge + at + 1, o->edge + at, (o->n_edges - at) * sizeof(*o->edge));
	o->edge[at] = (struct lz_op_edge){to, from};
	o->n_edges++;
	return 1;
}

bool lz_ops_link(struct lz_ops *o, uint64_t entry)
{
	for (size_t i = 0; i < o->n; i++) {
		uint64_t target = o->v[i].target;
		size_t to = target ? lz_ops_at(o, target) : o->n;

		if (target && within_one(o, target))
			return false;
		if (to < o->n && lz_ops_edge(o, i, to) < 0)
			return false;
	}
	o->entry = lz_ops_at(o, entry);
	return o->entry < o->n;
}

/* ---- definitions ---- */

struct walk {
	const struct lz_ops *o;
	uint8_t *seen;
	size_t *todo;
	size_t n;
	uint64_t effort;
};

static void visit(struct walk *w, size_t i)
{
	if (w->seen[i])
		return;
	w->seen[i] = 1;
	w->todo[w->n++] = i;
}

static void visit_before(struct walk *w, size_t i)
{
	const struct lz_ops *o = w->o;

	if (i > 0 && !o->v[i - 1].leaves && o->v[i - 1].next == o->v[i].pc)
		visit(w, i - 1);
	for (size_t e = edge_at(o, i, 0); e < o->n_edges && o->edge[e].to == i; e++)
		visit(w, o->edge[e].from);
}

static bool writes(const struct lz_op *op, ZydisRegister r)
{
	for (size_t i = 0; i < LZ_OP_WRITES; i++)
		if (op->written[i] == r)
			return true;
	return false;
}

static bool collect(struct walk *w, size_t i, ZydisRegister r, struct lz_defs *d)
{
	if (i == w->o->entry)
		return false;
	visit_before(w, i);
	while (w->n) {
		if (w->effort++ > EFFORT_MAX)
			return false;
		i = w->todo[--w->n];
		if (writes(&w->o->v[i], r)) {
			if (d->n == LZ_DEFS_MAX)
				return false;
			d->v[d->n++] = i;
		} else if (i == w->o->entry) {
			return false;
		} else {
			visit_before(w, i);
		}
	}
	return true;
}

bool lz_ops_defs(struct lz_ops *o, size_t i, ZydisRegister r, struct lz_defs *d)
{
	struct walk w = {.o = o, .effort = o->effort + o->n / 8}; /* for the memory */
	bool all = false;

	d->n = 0;
	if (r == ZYDIS_REGISTER_NONE || w.effort > EFFORT_MAX)
		return false;
	w.seen = calloc(o->n, 1);
	w.todo = calloc(o->n, sizeof(size_t));
	if (w.seen && w.todo)
		all = collect(&w, i, r, d);
	o->effort = w.effort;
	free(w.seen);
	free(w.todo);
	return all;
}
