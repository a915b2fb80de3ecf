/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conditions of breakpoints, evaluated where the process is: see include/lizard/front.h. */
#include "replayer/agent/agent.h"
#include "replayer/front/inside.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

void lz_front_conditions_free(struct lz_front_conditions *c)
{
	for (size_t i = 0; i < c->n; i++)
		free((void *)c->v[i].code);
	free(c->v);
	*c = (struct lz_front_conditions){0};
}

/* One byte more, as malloc() may give nothing for none. */
static uint8_t *copy_of(const uint8_t *code, size_t len)
{
	uint8_t *copy = malloc(len + 1);

	return copy ? memcpy(copy, code, len) : NULL;
}

int lz_front_conditions_copy(struct lz_front_conditions *c, const struct lz_front_condition *v,
                             size_t n)
{
	*c = (struct lz_front_conditions){0};
	for (size_t i = 0; i < n; i++)
		if (!lz_agent_check(v[i].code, v[i].len))
			return 0;
	if (n && !(c->v = calloc(n, sizeof *c->v)))
		return lz_fail("out of memory for a condition");
	for (; c->n < n; c->n++) {
		uint8_t *copy = copy_of(v[c->n].code, v[c->n].len);

		if (!copy) {
			lz_front_conditions_free(c);
			return lz_fail("out of memory for a condition");
		}
		c->v[c->n] = (struct lz_front_condition){copy, v[c->n].len};
	}
	return 0;
}

/* ---- what a condition sees ---- */

struct seen {
	const struct lz_regmap *map;
	struct lz_arrival *at;
	/* known so far */
	bool general, all;
	struct lz_regfile regs;
};

static bool see_register(void *arg, unsigned nr, uint64_t *value)
{
	struct seen *s = arg;
	bool general = lz_reg_is_general(s->map, nr);
	uint8_t bytes[LZ_REG_MAX] = {0};

	if (!s->general && lz_arrival_regs(s->at, &s->regs.gpr) < 0)
		return false;
	s->general = true;
	if (!general && !s->all) {
		s->regs.xstate_len = sizeof s->regs.xstate;
		if (lz_arrival_xstate(s->at, s->regs.xstate, &s->regs.xstate_len) < 0)
			return false;
		s->all = true;
	}
	size_t size = lz_reg_get(s->map, &s->regs, nr, bytes);
	if (!size || size > sizeof *value)
		return false;
	memcpy(value, bytes, sizeof *value);
	return true;
}

static bool see_memory(void *arg, uint64_t addr, void *buf, size_t len)
{
	struct seen *s = arg;

	return lz_arrival_read(s->at, addr, buf, len) == len;
}

static bool holds(const struct lz_front_condition *c, const struct lz_agent_state *state)
{
	uint64_t value;

	return lz_agent_eval(c->code, c->len, state, &value) != LZ_AGENT_VALUE || value;
}

bool lz_front_condition_holds(void *front, uint64_t addr, struct lz_arrival *a)
{
	struct lz_front *f = front;
	const struct lz_front_break *b = lz_front_break_at(f, addr);
	struct seen seen;
	struct lz_agent_state state = {&seen, see_register, see_memory};

	seen.map = f->map;
	seen.at = a;
	seen.general = seen.all = false;
	for (size_t i = 0; b && i < b->conditions.n; i++)
		if (holds(&b->conditions.v[i], &state))
			return true;
	return !b || !b->conditions.n;
}
