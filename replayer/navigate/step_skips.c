/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What GDB's `skip` has `step` go over. */
#include <stdlib.h>
#include "replayer/navigate/step_inside.h"

/* Takes NAME over. */
static bool is_skipped(struct lz_machine *m, char *name, const char *file)
{
	const bool skipped = name && lz_skips_has(m->skips, name, file);

	free(name);
	return skipped;
}

bool step_skips_function(struct lz_machine *m, uint64_t entry)
{
	uint64_t bias;
	struct lz_lines *l = m->skips ? m->lines(m->arg, entry, &bias) : NULL;

	return l && is_skipped(m, lz_lines_function_name(l, entry - bias),
	                       lz_lines_find(l, entry - bias).file);
}

size_t step_skipped_inline(struct lz_machine *m, uint64_t pc, const struct lz_inline *in, size_t n,
                           size_t from, size_t to)
{
	uint64_t bias;
	struct lz_lines *l = m->skips && from < to ? m->lines(m->arg, pc, &bias) : NULL;

	for (size_t i = from; l && i < to; i++) {
		/* A frame is where the next call is made in it, the innermost where control is. */
		const char *file = i + 1 < n
		                       ? lz_lines_symtab_file(l, pc - bias, in[i + 1].call_symtab)
		                       : lz_lines_find(l, pc - bias).file;

		if (is_skipped(m, lz_lines_inline_name(l, pc - bias, i), file))
			return i;
	}
	return to;
}

bool step_skips_all_of(struct lz_machine *m, uint64_t pc, size_t which)
{
	uint64_t bias;
	struct lz_lines *l = m->lines(m->arg, pc, &bias);

	return l && is_skipped(m, lz_lines_inline_name(l, pc - bias, which), NULL);
}

uint32_t lz_gdb_skipped_here(struct lz_machine *m)
{
	struct lz_inline in[STEP_INLINES];
	struct user_regs_struct r;
	size_t hidden, n;

	if (!m->skips || m->regs(m->arg, &r))
		return 0;
	n = step_inlines(m, r.rip, in, &hidden);
	return (uint32_t)(n - step_skipped_inline(m, r.rip, in, n, n - hidden, n));
}
