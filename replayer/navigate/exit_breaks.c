/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include "replayer/navigate/exit_breaks.h"
#include "replayer/session/session.h"

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

static bool has_calls(const struct lz_piece_of_code *of, uint8_t *const code[])
{
	for (uint32_t i = 0; i < of->n_ranges && !of->without_calls; i++)
		if (lz_has_calls(code[i], of->range[i].start, of->range[i].end))
			return true;
	return false;
}

/* The landing sites of the function. False: they are too many. */
static bool find_landings(struct lz_nav *nav, struct lz_exit_breaks *p)
{
	uint32_t number = lz_stream_fn_at(nav->stream, p->of->range[0].start, nav->s->pos.event);
	const struct lz_fn *fn = number == LZ_FN_NONE ? NULL : lz_stream_fn(nav->stream, number);
	size_t n = 0;
	const struct lz_cfg *cfg =
	    fn && fn->f->flags & LZ_FN_LANDING ? lz_module_cfg(nav->modules, fn->mod) : NULL;
	const struct lz_cfg_site *site = cfg ? lz_cfg_sites(cfg, &n) : NULL;

	for (size_t i = 0; i < n; i++) {
		if (site[i].code != LZ_LANDING || lz_cfg_func(cfg, site[i].func) != fn->f)
			continue;
		if (p->n_landings == LZ_LANDINGS_MAX)
			return false;
		p->landings[p->n_landings++] = site[i].addr + fn->mod->bias;
	}
	return true;
}

bool lz_exit_breaks_find(struct lz_nav *nav, const struct lz_piece_of_code *of,
                         struct lz_exit_breaks *p)
{
	uint8_t *code[LZ_RANGES_MAX] = {NULL};
	bool good;

	*p = (struct lz_exit_breaks){.of = of, .n = -1};
	p->cfa = lz_gdb_frame(&nav->machine, NULL);
	good = p->cfa && is_worth_it(of);
	for (uint32_t i = 0; good && i < of->n_ranges; i++)
		good = read_code(nav, &of->range[i], &code[i]);
	if (good && !refused(of, code) && (!has_calls(of, code) || find_landings(nav, p)))
		p->n = lz_exits_find(of, code, p->exits);
	for (uint32_t i = 0; i < of->n_ranges; i++)
		free(code[i]);
	return p->n >= 0;
}

void lz_exit_breaks_bar(struct lz_nav *nav, const struct lz_pos *a, const struct lz_pos *b)
{
	nav->barred[0] = *a;
	nav->barred[1] = *b;
}

bool lz_exit_breaks_is_barred(const struct lz_nav *nav, const struct lz_pos *now)
{
	const struct lz_pos *a = &nav->barred[0], *b = &nav->barred[1];

	return a->ip && lz_gap_cmp(a->event, a->marker, now->event, now->marker) <= 0 &&
	       lz_gap_cmp(now->event, now->marker, b->event, b->marker) <= 0;
}

static uint64_t breakpoint(const struct lz_exit_breaks *p, int i)
{
	return i < p->n ? p->exits[i].pc : p->landings[i - p->n];
}

int lz_exit_breaks_arm(struct lz_nav *nav, struct lz_exit_breaks *p)
{
	int n = p->n + p->n_landings;

	while (p->armed < n && !lz_session_break(nav->s, breakpoint(p, p->armed)))
		p->armed++;
	return p->armed == n ? 0 : -1;
}

void lz_exit_breaks_disarm(struct lz_nav *nav, struct lz_exit_breaks *p)
{
	while (p->armed > 0)
		lz_session_unbreak(nav->s, breakpoint(p, --p->armed));
}

uint32_t lz_exit_breaks_count(const struct lz_exit_breaks *p, uint64_t addr)
{
	uint32_t n = 0;

	for (int i = 0; i < p->armed; i++)
		n += breakpoint(p, i) == addr;
	return n;
}

bool lz_exit_breaks_lands_at(const struct lz_exit_breaks *p, uint64_t ip)
{
	for (int i = 0; i < p->n_landings; i++)
		if (p->landings[i] == ip)
			return true;
	return false;
}

bool lz_exit_breaks_leads_anywhere(const struct lz_exit_breaks *p, uint64_t ip)
{
	for (int i = 0; i < p->n; i++)
		if (p->exits[i].inside && p->exits[i].pc == ip)
			return true;
	return false;
}

bool lz_exit_breaks_is_exit(const struct lz_exit_breaks *p, uint64_t ip)
{
	for (int i = 0; i < p->n; i++)
		if (p->exits[i].pc == ip)
			return true;
	return false;
}

bool lz_exit_breaks_is_deeper(struct lz_nav *nav, const struct lz_exit_breaks *p)
{
	uint64_t cfa = lz_gdb_frame(&nav->machine, NULL);

	return cfa && cfa < p->cfa;
}
