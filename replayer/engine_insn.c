/* The few instructions that replay must know: pure. Intel SDM volume 2, chapter 2. */
#include "replayer/engine.h"
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

unsigned lz_insn_rep(const uint8_t *code, size_t len)
{
	size_t i = 0;
	bool rep = false;

	for (; i < len && is_prefix(code[i]); i++)
		rep |= code[i] == 0xf2 || code[i] == 0xf3;
	if (i < len && (code[i] & 0xf0) == 0x40)
		i++;
	if (!rep || i >= len)
		return 0;
	uint8_t op = code[i];
	bool string =
	    (op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf) || (op >= 0x6c && op <= 0x6f);
	return string ? (unsigned)i + 1 : 0;
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
