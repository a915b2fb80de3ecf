/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See agent.h. Where the manual leaves a result open, there is none: the debugger decides. */
#include "replayer/agent/agent.h"

#include <string.h>

enum { STACK = 128, MOST_OPERATIONS = 1 << 16, MOST_CODE = 1 << 16 };

/* The manual's numbers. */
enum op {
	OP_ADD = 0x02,
	OP_SUB,
	OP_MUL,
	OP_DIV_SIGNED,
	OP_DIV_UNSIGNED,
	OP_REM_SIGNED,
	OP_REM_UNSIGNED,
	OP_LSH,
	OP_RSH_SIGNED,
	OP_RSH_UNSIGNED,
	OP_LOG_NOT = 0x0e,
	OP_BIT_AND,
	OP_BIT_OR,
	OP_BIT_XOR,
	OP_BIT_NOT,
	OP_EQUAL,
	OP_LESS_SIGNED,
	OP_LESS_UNSIGNED,
	OP_EXT,
	OP_REF8,
	OP_REF16,
	OP_REF32,
	OP_REF64,
	OP_IF_GOTO = 0x20,
	OP_GOTO,
	OP_CONST8,
	OP_CONST16,
	OP_CONST32,
	OP_CONST64,
	OP_REG,
	OP_END,
	OP_DUP,
	OP_POP,
	OP_ZERO_EXT,
	OP_SWAP,
	OP_PICK = 0x32,
	OP_ROT,
	OPS
};

/* What an operation takes from the code behind it, and what it needs on the stack. */
static const struct shape {
	bool known;
	uint8_t bytes, takes, gives;
} shapes[OPS] = {
    [OP_ADD] = {true, 0, 2, 1},          [OP_SUB] = {true, 0, 2, 1},
    [OP_MUL] = {true, 0, 2, 1},          [OP_DIV_SIGNED] = {true, 0, 2, 1},
    [OP_DIV_UNSIGNED] = {true, 0, 2, 1}, [OP_REM_SIGNED] = {true, 0, 2, 1},
    [OP_REM_UNSIGNED] = {true, 0, 2, 1}, [OP_LSH] = {true, 0, 2, 1},
    [OP_RSH_SIGNED] = {true, 0, 2, 1},   [OP_RSH_UNSIGNED] = {true, 0, 2, 1},
    [OP_LOG_NOT] = {true, 0, 1, 1},      [OP_BIT_AND] = {true, 0, 2, 1},
    [OP_BIT_OR] = {true, 0, 2, 1},       [OP_BIT_XOR] = {true, 0, 2, 1},
    [OP_BIT_NOT] = {true, 0, 1, 1},      [OP_EQUAL] = {true, 0, 2, 1},
    [OP_LESS_SIGNED] = {true, 0, 2, 1},  [OP_LESS_UNSIGNED] = {true, 0, 2, 1},
    [OP_EXT] = {true, 1, 1, 1},          [OP_REF8] = {true, 0, 1, 1},
    [OP_REF16] = {true, 0, 1, 1},        [OP_REF32] = {true, 0, 1, 1},
    [OP_REF64] = {true, 0, 1, 1},        [OP_IF_GOTO] = {true, 2, 1, 0},
    [OP_GOTO] = {true, 2, 0, 0},         [OP_CONST8] = {true, 1, 0, 1},
    [OP_CONST16] = {true, 2, 0, 1},      [OP_CONST32] = {true, 4, 0, 1},
    [OP_CONST64] = {true, 8, 0, 1},      [OP_REG] = {true, 2, 0, 1},
    [OP_END] = {true, 0, 0, 0},          [OP_DUP] = {true, 0, 1, 2},
    [OP_POP] = {true, 0, 1, 0},          [OP_ZERO_EXT] = {true, 1, 1, 1},
    [OP_SWAP] = {true, 0, 2, 2},         [OP_PICK] = {true, 1, 0, 1},
    [OP_ROT] = {true, 0, 3, 3},
};

/* The shape of the operation at AT; NULL: it is none, or is cut off. */
static const struct shape *shape_at(const uint8_t *code, size_t len, size_t at)
{
	if (at >= len || code[at] >= OPS || !shapes[code[at]].known)
		return NULL;
	return len - at > shapes[code[at]].bytes ? &shapes[code[at]] : NULL;
}

/* The most significant byte comes first. */
static uint64_t operand(const uint8_t *from, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | from[i];
	return v;
}

bool lz_agent_check(const uint8_t *code, size_t len)
{
	uint8_t begins[MOST_CODE / 8] = {0};
	const struct shape *s;
	bool ends = false;

	if (len > MOST_CODE)
		return false;
	for (size_t at = 0; at < len; at += 1 + s->bytes) {
		if (!(s = shape_at(code, len, at)))
			return false;
		begins[at / 8] |= (uint8_t)(1 << at % 8);
		ends |= code[at] == OP_END;
	}
	for (size_t at = 0; at < len; at += 1 + shapes[code[at]].bytes) {
		if (code[at] != OP_GOTO && code[at] != OP_IF_GOTO)
			continue;
		size_t to = operand(code + at + 1, 2);
		if (to >= len || !(begins[to / 8] >> to % 8 & 1))
			return false;
	}
	return ends;
}

struct machine {
	const struct lz_agent_state *state;
	uint64_t stack[STACK];
	unsigned n;
};

/* ---- values ---- */

static bool divide(enum op op, uint64_t a, uint64_t b, uint64_t *v)
{
	bool is_signed = op == OP_DIV_SIGNED || op == OP_REM_SIGNED;

	if (!b || (is_signed && (int64_t)a == INT64_MIN && (int64_t)b == -1))
		return false;
	switch (op) {
	case OP_DIV_SIGNED: *v = (uint64_t)((int64_t)a / (int64_t)b); break;
	case OP_REM_SIGNED: *v = (uint64_t)((int64_t)a % (int64_t)b); break;
	case OP_DIV_UNSIGNED: *v = a / b; break;
	default: *v = a % b; break;
	}
	return true;
}

static bool shift(enum op op, uint64_t a, uint64_t by, uint64_t *v)
{
	if (by > 63)
		return false;
	*v = op == OP_LSH            ? a << by
	     : op == OP_RSH_UNSIGNED ? a >> by
	                             : (uint64_t)((int64_t)a >> by);
	return true;
}

/* The lowest BITS of V as a number with or without a sign. */
static bool extend(bool with_sign, unsigned bits, uint64_t *v)
{
	if (!bits || bits > 64)
		return false;
	*v <<= 64 - bits;
	*v = with_sign ? (uint64_t)((int64_t)*v >> (64 - bits)) : *v >> (64 - bits);
	return true;
}

static enum lz_agent_result binary(struct machine *m, enum op op)
{
	uint64_t b = m->stack[--m->n], *v = &m->stack[m->n - 1], a = *v;
	bool good = true;

	switch (op) {
	case OP_ADD: *v = a + b; break;
	case OP_SUB: *v = a - b; break;
	case OP_MUL: *v = a * b; break;
	case OP_DIV_SIGNED:
	case OP_DIV_UNSIGNED:
	case OP_REM_SIGNED:
	case OP_REM_UNSIGNED: good = divide(op, a, b, v); break;
	case OP_LSH:
	case OP_RSH_SIGNED:
	case OP_RSH_UNSIGNED: good = shift(op, a, b, v); break;
	case OP_BIT_AND: *v = a & b; break;
	case OP_BIT_OR: *v = a | b; break;
	case OP_BIT_XOR: *v = a ^ b; break;
	case OP_EQUAL: *v = a == b; break;
	case OP_LESS_SIGNED: *v = (int64_t)a < (int64_t)b; break;
	default: *v = a < b; break;
	}
	return good ? LZ_AGENT_VALUE : LZ_AGENT_ARITHMETIC;
}

static enum lz_agent_result reference(struct machine *m, enum op op)
{
	uint64_t *top = &m->stack[m->n - 1], v = 0;

	if (!m->state->read(m->state->arg, *top, &v, (size_t)1 << (op - OP_REF8)))
		return LZ_AGENT_UNREADABLE;
	*top = v;
	return LZ_AGENT_VALUE;
}

/* ---- the stack ---- */

static enum lz_agent_result push(struct machine *m, uint64_t v)
{
	m->stack[m->n++] = v;
	return LZ_AGENT_VALUE;
}

static enum lz_agent_result rearrange(struct machine *m, enum op op)
{
	uint64_t *end = m->stack + m->n, top = end[-1];

	end[-1] = end[-2];
	if (op == OP_ROT) {
		end[-2] = end[-3];
		end[-3] = top;
	} else {
		end[-2] = top;
	}
	return LZ_AGENT_VALUE;
}

static enum lz_agent_result pick(struct machine *m, uint64_t depth)
{
	return depth < m->n ? push(m, m->stack[m->n - 1 - depth]) : LZ_AGENT_BAD_STACK;
}

static enum lz_agent_result push_register(struct machine *m, unsigned nr)
{
	uint64_t v;

	return m->state->reg(m->state->arg, nr, &v) ? push(m, v) : LZ_AGENT_UNREADABLE;
}

/* Any operation but jumps and the end. */
static enum lz_agent_result carry_out(struct machine *m, enum op op, uint64_t with)
{
	uint64_t *top = m->n ? &m->stack[m->n - 1] : NULL;

	switch (op) {
	case OP_LOG_NOT: *top = !*top; break;
	case OP_BIT_NOT: *top = ~*top; break;
	case OP_EXT:
	case OP_ZERO_EXT:
		return extend(op == OP_EXT, (unsigned)with, top) ? LZ_AGENT_VALUE
		                                                 : LZ_AGENT_BAD_CODE;
	case OP_REF8:
	case OP_REF16:
	case OP_REF32:
	case OP_REF64: return reference(m, op);
	case OP_CONST8:
	case OP_CONST16:
	case OP_CONST32:
	case OP_CONST64: return push(m, with);
	case OP_REG: return push_register(m, (unsigned)with);
	case OP_DUP: return push(m, *top);
	case OP_POP: m->n--; break;
	case OP_SWAP:
	case OP_ROT: return rearrange(m, op);
	case OP_PICK: return pick(m, with);
	default: return binary(m, op);
	}
	return LZ_AGENT_VALUE;
}

/* The operation at *AT, which moves on. */
static enum lz_agent_result step(struct machine *m, const uint8_t *code, size_t len, size_t *at)
{
	const struct shape *s = shape_at(code, len, *at);

	if (!s)
		return *at < len ? LZ_AGENT_BAD_CODE : LZ_AGENT_BAD_JUMP;
	enum op op = code[*at];
	uint64_t with = operand(code + *at + 1, s->bytes);
	if (m->n < s->takes || m->n - s->takes + s->gives > STACK)
		return LZ_AGENT_BAD_STACK;
	*at += 1 + s->bytes;
	if (op != OP_GOTO && op != OP_IF_GOTO)
		return carry_out(m, op, with);
	if (op == OP_GOTO || m->stack[--m->n])
		*at = with;
	return LZ_AGENT_VALUE;
}

enum lz_agent_result lz_agent_eval(const uint8_t *code, size_t len,
                                   const struct lz_agent_state *state, uint64_t *value)
{
	struct machine m = {.state = state};
	enum lz_agent_result ret = LZ_AGENT_VALUE;
	size_t at = 0;

	for (unsigned i = 0; i < MOST_OPERATIONS && ret == LZ_AGENT_VALUE; i++) {
		if (at < len && code[at] == OP_END) {
			if (!m.n)
				return LZ_AGENT_BAD_STACK;
			*value = m.stack[m.n - 1];
			return LZ_AGENT_VALUE;
		}
		ret = step(&m, code, len, &at);
	}
	return ret == LZ_AGENT_VALUE ? LZ_AGENT_ENDLESS : ret;
}
