/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <Zydis/Zydis.h>
#include <lizard/error.h>
#include "replayer/navigate/call_site.h"
#include "replayer/session/session.h"

enum {
	MAX_FRAMES = 1 << 12, /* damaged ones may go in a circle */
	SHORTEST = 2,         /* bytes of an indirect call */
	LONGEST = 8,
	MAX_HITS = 1 << 12
};

static bool read_word(void *arg, uint64_t addr, uint64_t *word)
{
	struct lz_machine *m = arg;

	return m->read(m->arg, addr, word, sizeof(*word)) == sizeof(*word);
}

/* Where the frame with lines will return to in the frame without. */
static bool find_return(struct lz_machine *m, struct lz_place *back)
{
	struct user_regs_struct r;
	bool exact = true, below = false; /* r.rip is not behind a call; the callee has lines */

	if (m->regs(m->arg, &r))
		return false;
	for (int i = 0; i < MAX_FRAMES; i++) {
		uint64_t bias, addr = r.rip - !exact;
		struct lz_lines *l = m->lines(m->arg, addr, &bias);
		bool line = l && lz_lines_find(l, addr - bias).line;

		if (below && !line && !exact) {
			*back = (struct lz_place){r.rip, r.rsp};
			return true;
		}
		below = line;
		if (!l || !lz_lines_unwind(l, addr - bias, &r, read_word, m, &exact))
			return false;
	}
	return false;
}

static bool is_call(const uint8_t *code, size_t len)
{
	ZydisDecodedInstruction in;
	ZydisDecoder d;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d, NULL, code, len, &in)) &&
	       in.mnemonic == ZYDIS_MNEMONIC_CALL && in.length == len;
}

/* Whatever call may end at BACK: the bytes before an address can often be read as several. */
static size_t find_calls(struct lz_machine *m, const struct lz_place *back,
                         struct lz_place call[LONGEST])
{
	uint8_t code[LONGEST];
	size_t n = 0;

	if (m->read(m->arg, back->pc - LONGEST, code, LONGEST) != LONGEST)
		return 0;
	for (size_t len = SHORTEST; len <= LONGEST; len++)
		if (is_call(code + LONGEST - len, len))
			call[n++] = (struct lz_place){back->pc - len, back->sp};
	return n;
}

/* A loop may make the call many times. 1: *last is set. */
static int find_last(struct lz_nav *nav, const struct lz_place *call, size_t n, struct lz_pos *last)
{
	struct lz_machine *m = &nav->machine;
	enum lz_move move;
	int found = 0;

	while ((move = m->run(m->arg, call, n)) == LZ_MOVE_DONE && found < MAX_HITS) {
		lz_session_where(nav->s, last);
		found++;
	}
	if (move == LZ_MOVE_FAILED && (nav->interrupted || nav->gave_up))
		return -1;
	return move == LZ_MOVE_GOAL && found;
}

int lz_call_site_enter(struct lz_nav *nav)
{
	struct lz_place back, call[LONGEST];
	struct lz_pos from, last;
	size_t n = 0;

	lz_session_where(nav->s, &from);
	if (lz_session_seek(nav->s, &nav->goal))
		return -1;
	if (find_return(&nav->machine, &back))
		n = find_calls(&nav->machine, &back, call);
	if (!n)
		return 0;
	if (lz_session_seek(nav->s, &from))
		return -1;
	int rc = find_last(nav, call, n, &last);
	if (rc <= 0)
		return rc;
	if (lz_session_seek(nav->s, &last))
		return -1;
	return lz_gdb_step_into(&nav->machine) == LZ_STEPPED;
}
