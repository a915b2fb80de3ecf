/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where GDB takes a function's prologue to end. */
#include <string.h>
#include "replayer/navigate/step_inside.h"

/* The compiler saves the vector registers of a variadic function behind a test that gets a line
 * entry of its own; GDB goes over it (its amd64_skip_xmm_prologue). */
static uint64_t skip_vector_saves(struct lz_machine *m, uint64_t pc, uint64_t start)
{
	struct place_line first = step_line(m, start), second;
	uint8_t buf[4 + 8 * 7];
	size_t at = 4;

	if (pc == start || !first.sal.line || first.sal.pc != start || pc >= first.sal.end)
		return pc;
	second = step_line(m, first.sal.end);
	if (second.sal.line != first.sal.line)
		return pc;
	if (m->read(m->arg, second.sal.pc - 4, buf, sizeof(buf)) != sizeof(buf))
		return pc;
	if (buf[0] != 0x84 || buf[1] != 0xC0 || buf[2] != 0x74) /* test %al,%al; je */
		return pc;
	for (unsigned reg = 0; reg < 8; reg++) {
		/* movaps %xmmN,disp(%rbp) */
		if (buf[at] != 0x0F || buf[at + 1] != 0x29 ||
		    (buf[at + 2] & 0x3F) != (reg << 3 | 5))
			return pc;
		if ((buf[at + 2] & 0xC0) == 0x40)
			at += 4;
		else if ((buf[at + 2] & 0xC0) == 0x80)
			at += 7;
		else
			return pc;
	}
	return at - 4 == buf[3] ? second.sal.end : pc;
}

/* Behind `push %rbp; mov %rsp,%rbp`, else START. */
static uint64_t skip_frame_setup(struct lz_machine *m, uint64_t start)
{
	static const uint8_t endbr64[] = {0xF3, 0x0F, 0x1E, 0xFA};
	uint8_t buf[8];
	uint64_t pc = start;

	if (m->read(m->arg, pc, buf, 4) == 4 && !memcmp(buf, endbr64, 4))
		pc += 4;
	if (m->read(m->arg, pc, buf, 4) != 4 || buf[0] != 0x55)
		return start;
	if (memcmp(buf + 1, "\x48\x89\xE5", 3) && memcmp(buf + 1, "\x48\x8B\xEC", 3))
		return start;
	return skip_vector_saves(m, pc + 4, start);
}

uint64_t lz_gdb_skip_prologue(struct lz_machine *m, uint64_t start, uint64_t end)
{
	uint64_t pc = skip_frame_setup(m, start);
	struct place_line p = step_line(m, pc);

	/* In the middle of a line: on to its end, if that is still in the function. */
	if (p.sal.line && p.sal.pc != pc && p.sal.end < end)
		pc = p.sal.end;
	return pc;
}
