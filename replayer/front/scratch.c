/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of the debugger's own, for code and values that it makes up. The recorded program never
 * has it. Each diversion gets it at the same address with the bytes of before, so that a debugger
 * may keep there what outlives a diversion. */
#include "replayer/front/inside.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { AREAS_MAX = 4096, SCRATCH_PAGE = 4096 };
#define SCRATCH_MAX (256ull << 20)
/* Where neither the kernel nor an allocator or sanitizer puts anything by itself. */
#define SCRATCH_BASE 0x3e0000000000ull

static struct lz_front_area *area_at(struct lz_front *f, uint64_t addr)
{
	struct lz_front_scratch *s = &f->scratch;

	for (size_t i = 0; i < s->n; i++)
		if (addr - s->v[i].addr < s->v[i].len)
			return &s->v[i];
	return NULL;
}

/* Does the program have memory in [ADDR, ADDR + LEN) now? */
static bool is_taken(struct lz_front *f, uint64_t addr, uint64_t len)
{
	struct lz_vma *v;
	uint32_t n;
	bool taken = false;

	if (lz_session_vmas(f->s, &v, &n) < 0)
		return true;
	for (uint32_t i = 0; i < n; i++)
		taken |= v[i].start < addr + len && addr < v[i].end;
	free(v);
	return taken;
}

/* A page that nobody has stays between two areas. */
static int add_area(struct lz_front *f, uint64_t len, int prot, uint64_t addr)
{
	struct lz_front_scratch *s = &f->scratch;
	struct lz_front_area a = {.addr = addr, .len = len, .prot = prot};

	if (is_taken(f, addr, len))
		return lz_fail("the program itself has memory at 0x%lx", (unsigned long)addr);
	if (lz_extend(s->v, s->n) < 0 || !(a.bytes = calloc(1, len)))
		return lz_fail("out of memory for %lu bytes", (unsigned long)len);
	if (f->div.run && lz_diversion_map(f->div.run, addr, len, prot) < 0) {
		free(a.bytes);
		return -1;
	}
	s->v[s->n++] = a;
	s->total += len;
	s->used += len + SCRATCH_PAGE;
	return 0;
}

int lz_front_allocate(struct lz_front *f, uint64_t len, int prot, uint64_t *addr)
{
	struct lz_front_scratch *s = &f->scratch;

	if (!len || len > SCRATCH_MAX)
		return lz_fail("%lu bytes cannot be had", (unsigned long)len);
	len = (len + SCRATCH_PAGE - 1) & ~(uint64_t)(SCRATCH_PAGE - 1);
	if (s->n >= AREAS_MAX || s->total + len > SCRATCH_MAX)
		return lz_fail("the debugger has too much memory of its own already");
	*addr = SCRATCH_BASE + s->used;
	return add_area(f, len, prot, *addr);
}

int lz_front_deallocate(struct lz_front *f, uint64_t addr)
{
	struct lz_front_scratch *s = &f->scratch;
	struct lz_front_area *a = area_at(f, addr);

	if (!a || a->addr != addr)
		return lz_fail("nothing was allocated at 0x%lx", (unsigned long)addr);
	if (f->div.run && lz_diversion_unmap(f->div.run, a->addr, a->len) < 0)
		return -1;
	s->total -= a->len;
	free(a->bytes);
	*a = s->v[--s->n];
	return 0;
}

int lz_front_scratch_enter(struct lz_front *f)
{
	struct lz_front_scratch *s = &f->scratch;

	for (size_t i = 0; i < s->n; i++) {
		const struct lz_front_area *a = &s->v[i];

		if (lz_diversion_map(f->div.run, a->addr, a->len, a->prot) < 0 ||
		    lz_diversion_write(f->div.run, a->addr, a->bytes, a->len) < 0)
			return -1;
	}
	return 0;
}

void lz_front_scratch_leave(struct lz_front *f)
{
	struct lz_front_scratch *s = &f->scratch;

	for (size_t i = 0; i < s->n; i++)
		lz_diversion_read(f->div.run, s->v[i].addr, s->v[i].bytes, s->v[i].len);
}

/* Is [ADDR, ADDR + LEN) in an area? *AT: its bytes. */
static const struct lz_front_area *part(struct lz_front *f, uint64_t addr, size_t len, uint8_t **at)
{
	struct lz_front_area *a = area_at(f, addr);

	if (!a || len > a->len - (addr - a->addr))
		return NULL;
	*at = a->bytes + (addr - a->addr);
	return a;
}

bool lz_front_scratch_read(struct lz_front *f, uint64_t addr, void *buf, size_t len)
{
	uint8_t *at;

	if (f->div.run || !part(f, addr, len, &at))
		return false;
	memcpy(buf, at, len);
	return true;
}

bool lz_front_scratch_write(struct lz_front *f, uint64_t addr, const void *buf, size_t len)
{
	uint8_t *at;

	if (!part(f, addr, len, &at) ||
	    (f->div.run && lz_diversion_write(f->div.run, addr, buf, len) < 0))
		return false;
	memcpy(at, buf, len);
	return true;
}

const struct lz_front_area *lz_front_scratch_next(struct lz_front *f, uint64_t addr)
{
	const struct lz_front_area *next = NULL;

	for (size_t i = 0; i < f->scratch.n; i++) {
		const struct lz_front_area *a = &f->scratch.v[i];

		if (addr < a->addr + a->len && (!next || a->addr < next->addr))
			next = a;
	}
	return next;
}

void lz_front_scratch_free(struct lz_front *f)
{
	for (size_t i = 0; i < f->scratch.n; i++)
		free(f->scratch.v[i].bytes);
	free(f->scratch.v);
	f->scratch = (struct lz_front_scratch){0};
}
