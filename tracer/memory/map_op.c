/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings: told to replay. */
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"

#include <sys/mman.h>

static struct lz_map_op op_of(enum lz_map_opcode op, const struct lz_vma *v)
{
	return (struct lz_map_op){.op = op,
	                          .addr = v->start,
	                          .len = v->end - v->start,
	                          .prot = v->prot,
	                          .flags = v->flags,
	                          .file = v->file,
	                          .offset = v->offset};
}

static int map(struct lz_tracer *t, const struct lz_vma *v)
{
	struct lz_map_op op = op_of(LZ_MAP, v);

	op.flags |= v->file == LZ_NO_FILE ? MAP_ANONYMOUS : 0;
	return lz_build_op(t, &op);
}

int lz_map_op(struct lz_tracer *t, const struct lz_area *a)
{
	if (map(t, &a->v) < 0 || lz_vmas_add(&t->vmas, a) < 0)
		return -1;
	return lz_pages_changed(t, a->v.start, a->v.end);
}

/* Does area I map some of what PART does, so that stores show in both? */
static bool shows(const struct lz_tracer *t, size_t i, const struct lz_area *part,
                  struct lz_vma *common)
{
	const struct lz_area *a = &t->vmas.a[i];
	uint64_t len = a->v.end - a->v.start, end = part->object_at + (part->v.end - part->v.start);
	uint64_t from = a->object_at > part->object_at ? a->object_at : part->object_at;
	uint64_t to = a->object_at + len < end ? a->object_at + len : end;

	if (a->v.flags != part->v.flags || from >= to)
		return false;
	from += a->v.start - a->object_at;
	to += a->v.start - a->object_at;
	*common = lz_area_part(a, from, to).v;
	return true;
}

/* Replay empties what no mapping shows. */
static int map_again(struct lz_tracer *t, const struct lz_area *part)
{
	struct lz_vma v;

	for (size_t i = 0; i < t->vmas.n; i++) {
		struct lz_map_op op;
		if (!shows(t, i, part, &v))
			continue;
		op = op_of(LZ_UNMAP, &v);
		if (lz_build_op(t, &op) < 0)
			return -1;
	}
	for (size_t i = 0; i < t->vmas.n; i++)
		if (shows(t, i, part, &v) && map(t, &v) < 0)
			return -1;
	return 0;
}

int lz_map_emptied(struct lz_tracer *t, const struct lz_area *a, uint64_t from, uint64_t to)
{
	const struct lz_area part = lz_area_part(a, from, to);
	struct lz_map_op op = op_of(LZ_ZERO, &part.v);

	return lz_flags_object(a->v.flags) && a->v.flags & MAP_SHARED ? map_again(t, &part)
	                                                              : lz_build_op(t, &op);
}
