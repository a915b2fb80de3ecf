/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <Zydis/Zydis.h>
#include "replayer/navigate/insn_begin.h"
#include "replayer/session/session.h"

enum { LONGEST = 15 };

bool lz_insn_begins(struct lz_nav *nav, uint64_t addr)
{
	uint64_t bias;
	struct lz_lines *l = nav->machine.lines(nav, addr, &bias);
	ZydisDecodedInstruction in;
	struct lz_range f;
	ZydisDecoder d;

	if (!l || !lz_lines_function(l, addr - bias, &f))
		return true;
	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	uint64_t at = f.start + bias;
	while (at < addr) {
		uint8_t code[LONGEST];
		size_t n = lz_session_read(nav->s, at, code, sizeof(code));

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d, NULL, code, n, &in)))
			return true;
		at += in.length;
	}
	return at == addr;
}
