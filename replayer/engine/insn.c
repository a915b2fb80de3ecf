/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The few instructions that replay must know: pure. Intel SDM volume 2, chapter 2. */
#include "replayer/engine/inside.h"
#include <string.h>

static bool is_prefix(uint8_t b)
{
	switch (b) {
	case 0x66:
	case 0x67:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x26:
	case 0x64:
	case 0x65:
	case 0xf0:
	case 0xf2:
	case 0xf3: return true;
	default: return false;
	}
}

struct string_insn {
	unsigned len, size; /* of the instruction; of an element, in bytes */
	uint8_t op, segment;
	bool short_address;
};

static bool decode_string(const uint8_t *code, size_t len, struct string_insn *in)
{
	bool rep = false, half = false;
	uint8_t rex = 0;
	size_t i = 0;

	memset(in, 0, sizeof(*in));
	for (; i < len && is_prefix(code[i]); i++) {
		rep |= code[i] == 0xf2 || code[i] == 0xf3;
		half |= code[i] == 0x66;
		in->short_address |= code[i] == 0x67;
		if (code[i] == 0x64 || code[i] == 0x65)
			in->segment = code[i];
	}
	if (i < len && (code[i] & 0xf0) == 0x40)
		rex = code[i++];
	if (!rep || i >= len)
		return false;
	in->op = code[i];
	in->len = (unsigned)i + 1;
	in->size = !(in->op & 1) ? 1 : rex & 8 ? 8 : half ? 2 : 4;
	return (in->op >= 0xa4 && in->op <= 0xa7) || (in->op >= 0xaa && in->op <= 0xaf) ||
	       (in->op >= 0x6c && in->op <= 0x6f);
}

unsigned lz_insn_rep(const uint8_t *code, size_t len)
{
	struct string_insn in;

	return decode_string(code, len, &in) ? in.len : 0;
}

static bool overlaps(uint64_t a, uint64_t a_len, uint64_t b, uint64_t b_len)
{
	return a - b < b_len || b - a < a_len;
}

bool lz_insn_rep_touched(const uint8_t *code, size_t len, const struct user_regs_struct *r,
                         uint64_t addr, uint64_t n)
{
	enum { FLAG_DF = 1 << 10 };
	struct string_insn in;

	if (!decode_string(code, len, &in))
		return false;
	uint64_t mask = in.short_address ? UINT32_MAX : UINT64_MAX;
	uint64_t step = r->eflags & FLAG_DF ? -(uint64_t)in.size : in.size;
	uint64_t to = (r->rdi - step) & mask, from = (r->rsi - step) & mask;
	uint8_t kind = in.op & 0xfe;
	bool writes = kind != 0xac && kind != 0x6e;                /* not lods, outs */
	bool reads = kind != 0xaa && kind != 0xae && kind != 0x6c; /* not stos, scas, ins */

	from += in.segment == 0x64 ? r->fs_base : in.segment == 0x65 ? r->gs_base : 0;
	return (r->rcx & mask) && ((writes && overlaps(to, in.size, addr, n)) ||
	                           (reads && overlaps(from, in.size, addr, n)));
}

bool lz_insn_pushf(const uint8_t *code, size_t len)
{
	size_t i = 0;

	while (i < len && is_prefix(code[i]))
		i++;
	if (i < len && (code[i] & 0xf0) == 0x40)
		i++;
	return i < len && code[i] == 0x9c;
}

unsigned lz_insn_r15_store(const uint8_t *code, size_t len, int32_t *disp)
{
	size_t i = 0;
	bool half = false;

	if (i < len && code[i] == 0x66)
		half = true, i++;
	if (i + 3 > len || (code[i] & 0xf1) != 0x41)
		return 0;
	uint8_t rex = code[i++], op = code[i++], modrm = code[i++];
	if ((op != 0xc6 && op != 0xc7 && op != 0x88 && op != 0x89) || (modrm & 7) != 7)
		return 0;
	*disp = 0;
	if (modrm >> 6 == 1 && i < len)
		*disp = (int8_t)code[i];
	else if (modrm >> 6 == 2 && i + 4 <= len)
		memcpy(disp, code + i, 4);
	else if (modrm >> 6)
		return 0;
	if (op == 0xc6 || op == 0x88)
		return 1;
	return rex & 8 ? 8 : half ? 2 : 4;
}
