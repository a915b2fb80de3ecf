/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/navigate/target_code.h"

/* Each marker of the function is looked at with all of its code: in larger ones the windows are run
 * sooner than that. */
enum { MOST_INSNS = 1 << 16 };

static struct lz_passes *passes_of(struct lz_target_code *c)
{
	const struct lz_fn *fn = lz_stream_fn(c->stream, c->fn);

	if (c->asked)
		return c->passes;
	c->asked = true;
	c->code = lz_fn_code_read(c->modules, fn->mod, fn->f);
	if (c->code && c->code->n <= MOST_INSNS)
		c->passes = lz_passes_new(c->code, c->addr - fn->mod->bias);
	return c->passes;
}

static bool may(void *arg, uint32_t from, uint32_t to)
{
	struct lz_passes *p = from == LZ_LAST_LANDING ? NULL : passes_of(arg);

	if (!p)
		return true;
	if (from == LZ_FROM_CALL)
		return lz_passes_first(p) != LZ_TOLD_NO;
	if (to == LZ_TO_ANY)
		return !lz_passes_never(p, from);
	return lz_passes_between(p, from, to) != LZ_TOLD_NO;
}

void lz_target_code_begin(struct lz_target_code *c, struct lz_stream *s, struct lz_modules *m,
                          struct lz_target *t)
{
	*c = (struct lz_target_code){.stream = s, .modules = m, .fn = t->fn, .addr = t->addr};
	t->may = may;
	t->may_arg = c;
}

void lz_target_code_end(struct lz_target_code *c)
{
	lz_passes_free(c->passes);
	lz_fn_code_free(c->code);
	*c = (struct lz_target_code){0};
}
