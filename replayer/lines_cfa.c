/* The canonical frame address from .eh_frame or .debug_frame. */
#include <dwarf.h>
#include <stdlib.h>
#include "lines_int.h"

enum { STACK_MAX = 64 };

struct cfa_eval {
	const struct user_regs_struct *regs;
	lz_read_word *read;
	void *arg;
	uint64_t stack[STACK_MAX];
	unsigned n;
};

/* DWARF's numbering of the x86-64 registers. */
static bool dwarf_reg(const struct user_regs_struct *r, uint64_t no, uint64_t *value)
{
	const unsigned long long *const map[] = {
	    &r->rax, &r->rdx, &r->rcx, &r->rbx, &r->rsi, &r->rdi, &r->rbp, &r->rsp, &r->r8,
	    &r->r9,  &r->r10, &r->r11, &r->r12, &r->r13, &r->r14, &r->r15, &r->rip};

	if (no >= sizeof(map) / sizeof(*map))
		return false;
	*value = *map[no];
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

static bool eval_cfa(Dwarf_CFI *cfi, uint64_t pc, struct cfa_eval *e, uint64_t *cfa)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t n;
	bool ok;

	if (dwarf_cfi_addrframe(cfi, pc, &frame))
		return false;
	ok = !dwarf_frame_cfa(frame, &ops, &n) && n > 0;
	e->n = 0;
	for (size_t i = 0; ok && i < n; i++)
		ok = one_op(e, &ops[i]);
	free(frame);
	if (ok && e->n)
		*cfa = e->stack[e->n - 1];
	return ok && e->n;
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
