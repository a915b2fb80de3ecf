/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs that the process ran one after another, by execve. A debugger knows one at a time:
 * it is told when another one runs. */
#include "replayer/front/inside.h"

#include <common/base/printable.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static int take(struct lz_front_program *to, const struct lz_program *p)
{
	const char *slash = strrchr(p->path, '/');

	to->name = p->path;
	to->path = lz_dup_printable(p->path);
	to->stack_start = p->stack_start;
	snprintf(to->comm, sizeof to->comm, "%s", slash ? slash + 1 : p->path);
	return to->path ? 0 : lz_fail("out of memory for the program's name");
}

int lz_front_programs_new(struct lz_front *f)
{
	struct lz_front_programs *m = &f->programs;
	uint32_t n;
	const struct lz_program *p = lz_reader_programs(f->reader, &n);

	if (!p)
		return -1;
	m->v = calloc(n, sizeof *m->v);
	if (!m->v)
		return lz_fail("out of memory for the programs");
	for (; m->n < n; m->n++)
		if (take(&m->v[m->n], &p[m->n]) < 0)
			return -1;
	m->told = lz_session_program(f->s);
	return 0;
}

void lz_front_programs_free(struct lz_front *f)
{
	for (uint32_t i = 0; i < f->programs.n; i++) {
		free(f->programs.v[i].path);
		free(f->programs.v[i].auxv);
	}
	free(f->programs.v);
}

const struct lz_front_program *lz_front_runs_at(const struct lz_front *f, uint64_t event)
{
	return &f->programs.v[lz_reader_program_at(f->reader, event)];
}

struct lz_front_program *lz_front_now_runs(const struct lz_front *f)
{
	return &f->programs.v[lz_session_program(f->s)];
}

bool lz_front_tell_program(struct lz_front *f)
{
	uint32_t now = lz_session_program(f->s);

	if (now == f->programs.told)
		return false;
	f->programs.told = now;
	/* what was set in the memory of the one before is gone with that */
	while (f->breaks.n) {
		const struct lz_front_break *b = &f->breaks.v[f->breaks.n - 1];

		lz_front_remove(f, b->kind, b->addr, b->len);
	}
	f->regs.valid = false;
	/* a run that ended for nothing else goes on from here */
	f->programs.between = f->stop.reason != LZ_STOP_EXEC || f->move.kind;
	return true;
}

const char *lz_front_program(const struct lz_front *f)
{
	return lz_front_now_runs(f)->path;
}

const void *lz_front_auxv(struct lz_front *f, size_t *len)
{
	struct lz_front_program *p = lz_front_now_runs(f);

	if (!p->has_auxv && lz_front_find_auxv(f, p) < 0)
		lz_debug("no auxiliary vector: %s", lz_error());
	p->has_auxv = true;
	*len = p->auxv_len;
	return p->auxv;
}
