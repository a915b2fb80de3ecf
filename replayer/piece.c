#include <stdlib.h>
#include "replayer/piece.h"
#include "replayer/session.h"

enum { WORTH_RUNNING = 64, PIECE_MAX = 1 << 16 }; /* bytes of code */

bool lz_piece_find(struct lz_nav *nav, uint64_t base, uint64_t start, uint64_t end,
                   struct lz_piece *p)
{
	size_t len = end - base;
	uint8_t *code = len >= WORTH_RUNNING && len <= PIECE_MAX ? malloc(len) : NULL;

	*p = (struct lz_piece){.start = start, .end = end, .n = -1};
	p->cfa = lz_gdb_frame(&nav->machine, NULL);
	if (p->cfa && code && lz_session_read(nav->s, base, code, len) == len)
		p->n = lz_exits_find(code, base, start, end, p->exits);
	free(code);
	return p->n >= 0;
}

int lz_piece_arm(struct lz_nav *nav, struct lz_piece *p)
{
	while (p->armed < p->n && !lz_session_break(nav->s, p->exits[p->armed].pc))
		p->armed++;
	return p->armed == p->n ? 0 : -1;
}

void lz_piece_disarm(struct lz_nav *nav, struct lz_piece *p)
{
	while (p->armed > 0)
		lz_session_unbreak(nav->s, p->exits[--p->armed].pc);
}

bool lz_piece_leads_anywhere(const struct lz_piece *p, uint64_t ip)
{
	for (int i = 0; i < p->n; i++)
		if (p->exits[i].inside && p->exits[i].pc == ip)
			return true;
	return false;
}

bool lz_piece_is_deeper(struct lz_nav *nav, const struct lz_piece *p)
{
	uint64_t cfa = lz_gdb_frame(&nav->machine, NULL);

	return cfa && cfa < p->cfa;
}
