#include <stdlib.h>
#include "replayer/piece.h"
#include "replayer/session.h"

enum { WORTH_RUNNING = 64, PIECE_MAX = 1 << 16 }; /* bytes of code */

static bool refused(const struct lz_piece_of_code *of, const uint8_t *code)
{
	return (of->n_parts &&
	        !lz_enters_at_start(code, of->base, of->end, of->part, of->n_parts)) ||
	       (of->without_calls && lz_has_calls(code, of->base, of->end));
}

bool lz_piece_find(struct lz_nav *nav, const struct lz_piece_of_code *of, struct lz_piece *p)
{
	size_t len = of->end - of->base;
	bool worth = (len >= WORTH_RUNNING || of->lines) && len <= PIECE_MAX;
	uint8_t *code = worth ? malloc(len) : NULL;

	*p = (struct lz_piece){.start = of->start, .end = of->end, .n = -1};
	p->cfa = lz_gdb_frame(&nav->machine, NULL);
	if (p->cfa && code && lz_session_read(nav->s, of->base, code, len) == len &&
	    !refused(of, code))
		p->n = lz_exits_find(code, of->base, of->start, of->end, p->exits);
	free(code);
	return p->n >= 0;
}

void lz_piece_bar(struct lz_nav *nav, const struct lz_pos *a, const struct lz_pos *b)
{
	nav->barred[0] = *a;
	nav->barred[1] = *b;
}

bool lz_piece_is_barred(const struct lz_nav *nav, const struct lz_pos *now)
{
	const struct lz_pos *a = &nav->barred[0], *b = &nav->barred[1];

	return a->ip && lz_gap_cmp(a->event, a->marker, now->event, now->marker) <= 0 &&
	       lz_gap_cmp(now->event, now->marker, b->event, b->marker) <= 0;
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

bool lz_piece_is_exit(const struct lz_piece *p, uint64_t ip)
{
	for (int i = 0; i < p->n; i++)
		if (p->exits[i].pc == ip)
			return true;
	return false;
}

bool lz_piece_is_deeper(struct lz_nav *nav, const struct lz_piece *p)
{
	uint64_t cfa = lz_gdb_frame(&nav->machine, NULL);

	return cfa && cfa < p->cfa;
}
