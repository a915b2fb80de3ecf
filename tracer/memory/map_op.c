/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A new mapping: told to replay, and known from then on. */
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"

#include <sys/mman.h>

int lz_map_op(struct lz_tracer *t, const struct lz_area *a)
{
	const struct lz_vma *v = &a->v;
	struct lz_map_op op = {.op = LZ_MAP,
	                       .addr = v->start,
	                       .len = v->end - v->start,
	                       .prot = v->prot,
	                       .flags = v->flags | (v->file == LZ_NO_FILE ? MAP_ANONYMOUS : 0),
	                       .file = v->file,
	                       .offset = v->offset};

	if (lz_build_op(t, &op) < 0 || lz_vmas_add(&t->vmas, a) < 0)
		return -1;
	return lz_pages_changed(t, v->start, v->end);
}
