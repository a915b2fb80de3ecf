/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/process/padding.h>

#include <Zydis/Zydis.h>

enum { INT3 = 0xcc };

bool lz_is_padding(const uint8_t *code)
{
	return (code[0] == 0x66 &&
	        (code[1] == 0x90 || code[1] == 0x2e || code[1] == 0x0f || code[1] == 0x66)) ||
	       (code[0] == 0x0f && code[1] == 0x1f) || (code[0] == 0x90 && code[1] == 0x90) ||
	       (code[0] == INT3 && code[1] == INT3);
}

/* Of any length. */
static bool is_nop(const ZydisDecodedInstruction *insn)
{
	if (insn->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return insn->opcode == 0x1f;
	return insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && insn->opcode == 0x90 &&
	       !(insn->attributes & (ZYDIS_ATTRIB_HAS_REX | ZYDIS_ATTRIB_HAS_REP));
}

/* Does control never come to what is behind it? */
static bool ends(const ZydisDecodedInstruction *insn)
{
	return insn->mnemonic == ZYDIS_MNEMONIC_RET || insn->mnemonic == ZYDIS_MNEMONIC_JMP;
}

size_t lz_padding(const uint8_t *code, size_t n, size_t least, size_t *at)
{
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;
	bool behind = false;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (*at < n && ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + *at,
	                                                             n - *at, &insn))) {
		const size_t from = *at;

		*at += insn.length;
		if (behind && is_nop(&insn) && insn.length >= least)
			return from;
		behind = is_nop(&insn) ? behind : ends(&insn);
	}
	*at = n;
	return 0;
}
