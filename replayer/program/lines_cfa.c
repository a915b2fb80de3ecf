/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The canonical frame address from .eh_frame or .debug_frame. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "replayer/program/lines_inside.h"

enum { STACK_MAX = 64 };

struct cfa_eval {
	const struct user_regs_struct *regs;
	lz_read_word *read;
	void *arg;
	uint64_t stack[STACK_MAX];
	unsigned n;
};

enum { N_REGS = 17, SP = 7, IP = 16 };

/* DWARF's numbering of the x86-64 registers. */
static const size_t reg_at[N_REGS] = {
#define AT(name) offsetof(struct user_regs_struct, name)
    AT(rax), AT(rdx), AT(rcx), AT(rbx), AT(rsi), AT(rdi), AT(rbp), AT(rsp), AT(r8),
    AT(r9),  AT(r10), AT(r11), AT(r12), AT(r13), AT(r14), AT(r15), AT(rip)
#undef AT
};

static bool dwarf_reg(const struct user_regs_struct *r, uint64_t no, uint64_t *value)
{
	if (no >= N_REGS)
		return false;
	memcpy(value, (const char *)r + reg_at[no], sizeof(*value));
	return true;
}

static bool push(struct cfa_eval *e, uint64_t v)
{
	if (e->n >= STACK_MAX)
		return false;
	e->stack[e->n++] = v;
	return true;
}

static bool binary(struct cfa_eval *e, uint8_t op)
{
	uint64_t a, b;

	if (e->n < 2)
		return false;
	b = e->stack[--e->n];
	a = e->stack[--e->n];
	switch (op) {
	case DW_OP_plus: return push(e, a + b);
	case DW_OP_minus: return push(e, a - b);
	case DW_OP_and: return push(e, a & b);
	case DW_OP_or: return push(e, a | b);
	case DW_OP_mul: return push(e, a * b);
	case DW_OP_shl: return push(e, b < 64 ? a << b : 0);
	case DW_OP_shr: return push(e, b < 64 ? a >> b : 0);
	case DW_OP_ge: return push(e, (int64_t)a >= (int64_t)b);
	case DW_OP_gt: return push(e, (int64_t)a > (int64_t)b);
	case DW_OP_le: return push(e, (int64_t)a <= (int64_t)b);
	case DW_OP_lt: return push(e, (int64_t)a < (int64_t)b);
	case DW_OP_eq: return push(e, a == b);
	case DW_OP_ne: return push(e, a != b);
	default: return false;
	}
}

static bool one_op(struct cfa_eval *e, const Dwarf_Op *op)
{
	uint64_t v;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(e, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return dwarf_reg(e->regs, op->atom - DW_OP_breg0, &v) && push(e, v + op->number);
	switch (op->atom) {
	case DW_OP_bregx: return dwarf_reg(e->regs, op->number, &v) && push(e, v + op->number2);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts: return push(e, op->number);
	case DW_OP_plus_uconst:
		if (!e->n)
			return false;
		e->stack[e->n - 1] += op->number;
		return true;
	case DW_OP_deref: return e->n && e->read(e->arg, e->stack[e->n - 1], &e->stack[e->n - 1]);
	case DW_OP_nop: return true;
	default: return binary(e, op->atom);
	}
}

static bool eval(struct cfa_eval *e, const Dwarf_Op *ops, size_t n, uint64_t *value)
{
	bool ok = true;

	for (size_t i = 0; ok && i < n; i++)
		ok = one_op(e, &ops[i]);
	if (ok && e->n)
		*value = e->stack[e->n - 1];
	return ok && e->n;
}

static bool frame_cfa(Dwarf_Frame *frame, struct cfa_eval *e, uint64_t *cfa)
{
	Dwarf_Op *ops;
	size_t n;

	e->n = 0;
	return !dwarf_frame_cfa(frame, &ops, &n) && eval(e, ops, n, cfa);
}

static bool eval_cfa(Dwarf_CFI *cfi, uint64_t pc, struct cfa_eval *e, uint64_t *cfa)
{
	Dwarf_Frame *frame;
	bool ok;

	if (dwarf_cfi_addrframe(cfi, pc, &frame))
		return false;
	ok = frame_cfa(frame, e, cfa);
	free(frame);
	return ok;
}

bool lz_lines_cfa(struct lz_lines *l, uint64_t addr, const struct user_regs_struct *r,
                  lz_read_word *read, void *arg, uint64_t *cfa)
{
	struct cfa_eval e = {.regs = r, .read = read, .arg = arg};
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(l->mod, &bias);

	if (cfi && eval_cfa(cfi, addr - bias, &e, cfa))
		return true;
	cfi = dwfl_module_dwarf_cfi(l->mod, &bias);
	return cfi && eval_cfa(cfi, addr - bias, &e, cfa);
}

/* What register NO was in the caller. A register without a rule is as it is, a lost one 0. */
static bool caller_reg(Dwarf_Frame *frame, int no, struct cfa_eval *e, uint64_t cfa,
                       uint64_t *value)
{
	Dwarf_Op mem[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, no, mem, &ops, &n))
		return false;
	if (!n) {
		*value = 0;
		return ops == mem || dwarf_reg(e->regs, (uint64_t)no, value);
	}
	/* Rules take the frame's address from the stack; those that name it do so by
	 * DW_OP_call_frame_cfa. */
	e->n = 0;
	if (ops[0].atom == DW_OP_call_frame_cfa) {
		ops++;
		n--;
	}
	e->stack[e->n++] = cfa;
	if (n && ops[n - 1].atom == DW_OP_stack_value)
		return eval(e, ops, n - 1, value);
	return eval(e, ops, n, value) && e->read(e->arg, *value, value);
}

static bool unwind(Dwarf_CFI *cfi, uint64_t pc, struct cfa_eval *e, struct user_regs_struct *r,
                   bool *signal)
{
	struct user_regs_struct up = *r;
	Dwarf_Frame *frame;
	uint64_t cfa, value;
	bool ok;

	if (dwarf_cfi_addrframe(cfi, pc, &frame))
		return false;
	ok = dwarf_frame_info(frame, NULL, NULL, signal) == IP && frame_cfa(frame, e, &cfa);
	for (int no = 0; ok && no < N_REGS; no++) {
		ok = caller_reg(frame, no, e, cfa, &value);
		if (ok && no == SP && !*signal)
			value = cfa;
		if (ok)
			memcpy((char *)&up + reg_at[no], &value, sizeof(value));
	}
	free(frame);
	if (ok)
		*r = up;
	return ok && r->rip;
}

bool lz_lines_unwind(struct lz_lines *l, uint64_t addr, struct user_regs_struct *r,
                     lz_read_word *read, void *arg, bool *signal)
{
	struct user_regs_struct now = *r;
	struct cfa_eval e = {.regs = &now, .read = read, .arg = arg};
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(l->mod, &bias);

	if (cfi && unwind(cfi, addr - bias, &e, r, signal))
		return true;
	cfi = dwfl_module_dwarf_cfi(l->mod, &bias);
	return cfi && unwind(cfi, addr - bias, &e, r, signal);
}
