/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/filters/bpf.h"

#include <string.h>

enum { WORDS = BPF_MEMWORDS, SHIFTS = 32 };

/* ---- is it a program? ---- */

static bool is_operand_good(const struct sock_filter *f)
{
	switch (f->code) {
	case BPF_LD | BPF_W | BPF_ABS: return f->k < sizeof(struct seccomp_data) && f->k % 4 == 0;
	case BPF_ALU | BPF_DIV | BPF_K: return f->k != 0;
	case BPF_ALU | BPF_LSH | BPF_K:
	case BPF_ALU | BPF_RSH | BPF_K: return f->k < SHIFTS;
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_MEM:
	case BPF_ST:
	case BPF_STX: return f->k < WORDS;
	}
	return true;
}

static bool is_arithmetic(uint16_t code)
{
	switch (BPF_OP(code)) {
	case BPF_ADD:
	case BPF_SUB:
	case BPF_MUL:
	case BPF_DIV:
	case BPF_AND:
	case BPF_OR:
	case BPF_XOR:
	case BPF_LSH:
	case BPF_RSH: return code <= UINT8_MAX;
	}
	return code == (BPF_ALU | BPF_NEG);
}

static bool is_branch(uint16_t code)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
	case BPF_JGT:
	case BPF_JGE:
	case BPF_JSET: return BPF_CLASS(code) == BPF_JMP && code <= UINT8_MAX;
	}
	return false;
}

static bool is_known(uint16_t code)
{
	switch (code) {
	case BPF_LD | BPF_W | BPF_ABS:
	case BPF_LD | BPF_W | BPF_LEN:
	case BPF_LDX | BPF_W | BPF_LEN:
	case BPF_LD | BPF_IMM:
	case BPF_LDX | BPF_IMM:
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_MEM:
	case BPF_ST:
	case BPF_STX:
	case BPF_MISC | BPF_TAX:
	case BPF_MISC | BPF_TXA:
	case BPF_RET | BPF_K:
	case BPF_RET | BPF_A:
	case BPF_JMP | BPF_JA: return true;
	}
	return is_branch(code) || (BPF_CLASS(code) == BPF_ALU && is_arithmetic(code));
}

static bool stays_inside(const struct sock_filter *f, unsigned left)
{
	if (f->code == (BPF_JMP | BPF_JA))
		return f->k < left;
	return !is_branch(f->code) || (f->jt < left && f->jf < left);
}

/* WRITTEN: for each instruction the memory words that are written on each way to it. */
static bool reads_what_is_written(const struct sock_filter *code, unsigned n, uint16_t *written)
{
	uint16_t now = 0;

	memset(written, 0xff, n * sizeof(*written));
	for (unsigned i = 0; i < n; i++) {
		const struct sock_filter *f = &code[i];

		now &= written[i];
		if (f->code == BPF_ST || f->code == BPF_STX) {
			now |= (uint16_t)(1u << f->k);
		} else if (f->code == (BPF_LD | BPF_MEM) || f->code == (BPF_LDX | BPF_MEM)) {
			if (!(now >> f->k & 1))
				return false;
		} else if (f->code == (BPF_JMP | BPF_JA)) {
			written[i + 1 + f->k] &= now;
			now = UINT16_MAX;
		} else if (is_branch(f->code)) {
			written[i + 1 + f->jt] &= now;
			written[i + 1 + f->jf] &= now;
			now = UINT16_MAX;
		}
	}
	return true;
}

bool lz_bpf_valid(const struct sock_filter *code, unsigned n)
{
	uint16_t written[LZ_BPF_MOST];

	if (!n || n > LZ_BPF_MOST || BPF_CLASS(code[n - 1].code) != BPF_RET)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (!is_known(code[i].code) || !is_operand_good(&code[i]) ||
		    !stays_inside(&code[i], n - i - 1))
			return false;
	return reads_what_is_written(code, n, written);
}

/* ---- what does it say? ---- */

/* False: a division by zero, which ends the program. */
static bool compute(uint16_t code, uint32_t *a, uint32_t by)
{
	switch (BPF_OP(code)) {
	case BPF_ADD: *a += by; break;
	case BPF_SUB: *a -= by; break;
	case BPF_MUL: *a *= by; break;
	case BPF_DIV:
		if (!by)
			return false;
		*a /= by;
		break;
	case BPF_AND: *a &= by; break;
	case BPF_OR: *a |= by; break;
	case BPF_XOR: *a ^= by; break;
	case BPF_LSH: *a <<= by % SHIFTS; break;
	case BPF_RSH: *a >>= by % SHIFTS; break;
	case BPF_NEG: *a = -*a; break;
	}
	return true;
}

static bool holds(uint16_t code, uint32_t a, uint32_t with)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ: return a == with;
	case BPF_JGT: return a > with;
	case BPF_JGE: return a >= with;
	default: return a & with;
	}
}

bool lz_bpf_run(const struct sock_filter *code, const struct seccomp_data *d, unsigned known,
                uint32_t *ret)
{
	uint32_t a = 0, x = 0, mem[WORDS] = {0};

	*ret = 0;
	for (const struct sock_filter *f = code;; f++) {
		const uint32_t operand = BPF_SRC(f->code) == BPF_X ? x : f->k;

		switch (f->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (f->k >= known)
				return false;
			memcpy(&a, (const uint8_t *)d + f->k, sizeof(a));
			break;
		case BPF_LD | BPF_W | BPF_LEN: a = sizeof(*d); break;
		case BPF_LDX | BPF_W | BPF_LEN: x = sizeof(*d); break;
		case BPF_LD | BPF_IMM: a = f->k; break;
		case BPF_LDX | BPF_IMM: x = f->k; break;
		case BPF_LD | BPF_MEM: a = mem[f->k]; break;
		case BPF_LDX | BPF_MEM: x = mem[f->k]; break;
		case BPF_ST: mem[f->k] = a; break;
		case BPF_STX: mem[f->k] = x; break;
		case BPF_MISC | BPF_TAX: x = a; break;
		case BPF_MISC | BPF_TXA: a = x; break;
		case BPF_RET | BPF_K: *ret = f->k; return true;
		case BPF_RET | BPF_A: *ret = a; return true;
		case BPF_JMP | BPF_JA: f += f->k; break;
		default:
			if (BPF_CLASS(f->code) == BPF_JMP)
				f += holds(f->code, a, operand) ? f->jt : f->jf;
			else if (!compute(f->code, &a, operand))
				return true;
		}
	}
}
