/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of mappings, changed as the map operations say: pure. */
#include <common/base/array.h>
#include <lizard/sysfake.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int lz_space_copy(struct lz_space *to, const struct lz_vma *vmas, uint32_t n)
{
	*to = (struct lz_space){0};
	if (lz_reserve(to->vmas, to->room, (size_t)n + 1) < 0)
		return -1;
	if (n)
		memcpy(to->vmas, vmas, n * sizeof *vmas);
	to->n = n;
	return 0;
}

void lz_space_free(struct lz_space *s)
{
	free(s->vmas);
	*s = (struct lz_space){0};
}

uint32_t lz_space_from(const struct lz_space *s, uint64_t addr)
{
	return lz_lower_bound(i, s->n, s->vmas[i].end <= addr);
}

const struct lz_vma *lz_space_find(const struct lz_space *s, uint64_t addr)
{
	uint32_t i = lz_space_from(s, addr);

	return i < s->n && s->vmas[i].start <= addr ? &s->vmas[i] : NULL;
}

/* Makes ADDR a boundary between mappings. */
static int split(struct lz_space *s, uint64_t addr)
{
	uint32_t i = lz_space_from(s, addr);

	if (i == s->n || s->vmas[i].start >= addr)
		return 0;
	if (lz_reserve(s->vmas, s->room, (size_t)s->n + 1) < 0)
		return -1;
	memmove(&s->vmas[i + 1], &s->vmas[i], (s->n - i) * sizeof *s->vmas);
	s->n++;
	s->vmas[i].end = addr;
	if (lz_vma_has_offset(&s->vmas[i + 1]))
		s->vmas[i + 1].offset += addr - s->vmas[i + 1].start;
	s->vmas[i + 1].start = addr;
	return 0;
}

static int split_both(struct lz_space *s, uint64_t start, uint64_t end)
{
	return split(s, start) < 0 || split(s, end) < 0 ? -1 : 0;
}

static int unmap(struct lz_space *s, uint64_t start, uint64_t end)
{
	if (split_both(s, start, end) < 0)
		return -1;
	uint32_t a = lz_space_from(s, start), b = a;
	while (b < s->n && s->vmas[b].start < end)
		b++;
	memmove(&s->vmas[a], &s->vmas[b], (s->n - b) * sizeof *s->vmas);
	s->n -= b - a;
	return 0;
}

static int insert(struct lz_space *s, const struct lz_vma *v)
{
	if (unmap(s, v->start, v->end) < 0 || lz_reserve(s->vmas, s->room, (size_t)s->n + 1) < 0)
		return -1;
	uint32_t i = lz_space_from(s, v->start);
	memmove(&s->vmas[i + 1], &s->vmas[i], (s->n - i) * sizeof *s->vmas);
	s->vmas[i] = *v;
	s->n++;
	return 0;
}

static int protect(struct lz_space *s, uint64_t start, uint64_t end, uint32_t prot)
{
	if (split_both(s, start, end) < 0)
		return -1;
	for (uint32_t i = lz_space_from(s, start); i < s->n && s->vmas[i].start < end; i++)
		s->vmas[i].prot = prot & (PROT_READ | PROT_WRITE | PROT_EXEC);
	return 0;
}

static int remap(struct lz_space *s, const struct lz_map_op *op, uint64_t len)
{
	const struct lz_vma *old = lz_space_find(s, op->old_addr);
	struct lz_vma v;

	if (!old)
		return lz_fail("mremap of %#lx, where nothing is mapped",
		               (unsigned long)op->old_addr);
	v = *old;
	if (lz_vma_has_offset(&v))
		v.offset += op->old_addr - v.start;
	v.start = op->addr;
	v.end = op->addr + len;
	if (!(op->flags & 4) && unmap(s, op->old_addr, op->old_addr + op->old_len) < 0)
		return -1;
	return insert(s, &v);
}

int lz_space_apply(struct lz_space *s, const struct lz_map_op *op)
{
	uint64_t len = (op->len + LZ_PAGE - 1) & ~(uint64_t)(LZ_PAGE - 1);

	switch (op->op) {
	case LZ_MAP:
		return insert(s, &(struct lz_vma){.start = op->addr,
		                                  .end = op->addr + len,
		                                  .prot = op->prot & 7,
		                                  .flags = op->flags,
		                                  .file = op->file,
		                                  .offset = op->offset});
	case LZ_UNMAP: return unmap(s, op->addr, op->addr + len);
	case LZ_PROTECT: return protect(s, op->addr, op->addr + len, op->prot);
	case LZ_REMAP: return remap(s, op, len);
	default: return 0;
	}
}

void lz_space_set_role(struct lz_space *s, uint64_t start, uint64_t end, uint32_t role)
{
	if (split_both(s, start, end) < 0)
		return;
	for (uint32_t i = lz_space_from(s, start); i < s->n && s->vmas[i].start < end; i++)
		s->vmas[i].role = role;
}

static int stack_start(void *arg, const struct lz_maps_entry *m)
{
	struct lz_vma *v = arg;

	if (m->start >= v->start || m->end <= v->start)
		return 0;
	v->start = m->start;
	return 1;
}

int lz_space_follow_stack(struct lz_space *s, pid_t pid)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->vmas[i].role == LZ_VMA_STACK)
			return lz_proc_maps(pid, stack_start, &s->vmas[i]) < 0 ? -1 : 0;
	return 0;
}
