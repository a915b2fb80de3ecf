#include <stdlib.h>
#include "replayer/piece.h"
#include "replayer/session.h"

enum { WORTH_RUNNING = 64, PIECE_MAX = 1 << 18 }; /* bytes of code */

static bool refused(const struct lz_piece_of_code *of, uint8_t *const code[])
{
	const struct lz_part *r = of->range;

	return (of->n_parts &&
	        !lz_enters_at_start(code[0], r->start, r->end, of->part, of->n_parts)) ||
	       (of->without_calls && lz_has_calls(code[0], r->start, r->end));
}

static bool is_worth_it(const struct lz_piece_of_code *of)
{
	size_t len = 0;

	for (uint32_t i = 0; i < of->n_ranges; i++)
		len += of->range[i].end - of->range[i].start;
	return (len >= WORTH_RUNNING || of->lines) && len <= PIECE_MAX;
}

static bool read_code(struct lz_nav *nav, const struct lz_part *range, uint8_t **code)
{
	size_t len = range->end - range->start;

	*code = malloc(len);
	return *code && lz_session_read(nav->s, range->start, *code, len) == len;
}

bool lz_piece_find(struct lz_nav *nav, const struct lz_piece_of_code *of, struct lz_piece *p)
{
	uint8_t *code[LZ_RANGES_MAX] = {NULL};
	bool good;

	*p = (struct lz_piece){.of = of, .n = -1};
	p->cfa = lz_gdb_frame(&nav->machine, NULL);
	good = p->cfa && is_worth_it(of);
	for (uint32_t i = 0; good && i < of->n_ranges; i++)
		good = read_code(nav, &of->range[i], &code[i]);
	if (good && !refused(of, code))
		p->n = lz_exits_find(of, code, p->exits);
	for (uint32_t i = 0; i < of->n_ranges; i++)
		free(code[i]);
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
