/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include "replayer/navigate/long_jumps.h"
#include "replayer/session/session.h"

static void add_module(struct lz_nav *nav, struct lz_module *mod, struct lz_long_jumps *j)
{
	size_t n;
	const struct lz_long_jump *v = lz_module_long_jumps(nav->modules, mod, &n);

	for (size_t i = 0; i < n && j->n < LZ_LONG_JUMPS_MAX; i++) {
		const uint64_t addr = v[i].addr + mod->bias;

		if (addr >= mod->start && addr < mod->end)
			j->at[j->n++] = (struct lz_long_jump){addr, v[i].target};
	}
}

void lz_long_jumps_find(struct lz_nav *nav, struct lz_long_jumps *j)
{
	const uint64_t event = nav->s->pos.event;

	j->n = j->armed = 0;
	for (size_t i = 0; nav->machine.began && i < lz_modules_count(nav->modules); i++) {
		struct lz_module *mod = lz_modules_get(nav->modules, i);

		if (event >= mod->from_event && event < mod->to_event)
			add_module(nav, mod, j);
	}
}

int lz_long_jumps_arm(struct lz_nav *nav, struct lz_long_jumps *j)
{
	lz_long_jumps_find(nav, j);
	while (j->armed < j->n && !lz_session_break(nav->s, j->at[j->armed].addr))
		j->armed++;
	return j->armed == j->n ? 0 : -1;
}

void lz_long_jumps_disarm(struct lz_nav *nav, struct lz_long_jumps *j)
{
	while (j->armed > 0)
		lz_session_unbreak(nav->s, j->at[--j->armed].addr);
}

bool lz_long_jumps_within(const struct lz_long_jumps *j, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->at[i].addr >= start && j->at[i].addr < end)
			return true;
	return false;
}

bool lz_long_jumps_here(struct lz_nav *nav, const struct lz_long_jumps *j, uint64_t *to)
{
	struct user_regs_struct r;

	for (size_t i = 0; i < j->n; i++) {
		if (j->at[i].addr != nav->s->pos.ip || nav->s->pos.tid != nav->goal.tid ||
		    lz_session_regs(nav->s, &r))
			continue;
		memcpy(to, (const char *)&r + j->at[i].target, sizeof(*to));
		return true;
	}
	return false;
}
