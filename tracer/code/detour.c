/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System call instructions of the program become jumps to a detour, by way of the stub
 * (tracer/stub) that makes calls without a stop.
 *
 * The jump has five bytes: it takes the place of the instruction and of the beginning of what is
 * behind it, which the detour has:
 *
 *	lea	behind the site, %rcx
 *	lea	1f, %r11
 *	jmp	*stub
 *	syscall			for calls that are made with a stop
 * 1:	one or two instructions
 *	jmp	behind those
 *
 * Who comes to one of those by another way, from a handler or by a jump, must not find half a jump
 * there. Detours are placed so that the jump's third byte is int3, and its fifth one, too, if a
 * second instruction begins there. */
#include "tracer/code/code.h"
#include "tracer/code/moved.h"
#include "tracer/log/log.h"

#include <common/array.h>
#include <lizard/error.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
	INT3 = 0xcc,
	POOL_HEAD = 32, /* where the stub's entries are */
	REACH = 0x70000000,
	/* in a detour: which entry it jumps to */
	ENTRY_AT = 16,
	ENTRY_END = 20
};

/* Code that stays as it is. */
static bool is_fixed_code(const struct lz_tracer *t, uint64_t at)
{
	ptrdiff_t i = lz_vmas_find(&t->vmas, at);
	const struct lz_vma *v = i < 0 ? NULL : &t->vmas.a[i].v;

	return v && v->prot & PROT_EXEC && !(v->prot & PROT_WRITE) && !(v->flags & MAP_SHARED) &&
	       v->file != LZ_NO_FILE && v->end - at >= LZ_MOVED_FROM;
}

/* ---- memory for detours ---- */

/* There is a table of the mappings with sites. */
static bool has_range(struct lz_tracer *t, uint64_t at)
{
	struct lz_sites *s = &t->fast.sites;
	const struct lz_vma *v = &t->vmas.a[lz_vmas_find(&t->vmas, at)].v;

	for (size_t i = 0; i < s->n_code; i++)
		if (at >= s->code_of[i].start && at < s->code_of[i].end)
			return true;
	if (s->n_code == LZ_CODE_RANGES)
		return false;
	s->code_of[s->n_code++] = (struct lz_code_range){v->start, v->end};
	return true;
}

static bool in_reach(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < REACH;
}

/* The I-th address to try. The first ones make the last byte of a jump from around AT int3. */
static uint64_t pool_address(uint64_t at, uint64_t i)
{
	const uint64_t below = 0x33800000, step = 0x100000;

	if (at > 2 * below)
		return (at & ~0xffffULL) - below - i * step;
	return step + i * LZ_POOL_LEN;
}

static int new_pool(struct lz_tracer *t, uint64_t at)
{
	enum { TRIES = 64 };
	struct lz_sites *s = &t->fast.sites;
	uint64_t entry[LZ_SITE_KINDS];
	int64_t ret = -1, advised;

	if (s->n_pools == LZ_POOLS)
		return 0;
	for (uint64_t i = 0; i < TRIES && ret < 0; i++)
		if (lz_proc_syscall(&t->p, &ret, SYS_mmap, pool_address(at, i), LZ_POOL_LEN,
		                    PROT_READ | PROT_EXEC,
		                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~0ULL,
		                    0) < 0)
			return -1;
	if (ret < 0)
		return 0;
	for (unsigned i = 0; i < LZ_SITE_KINDS; i++)
		entry[i] = t->fast.at + ((uintptr_t)lz_stub_entry - (uintptr_t)__start_lz_stub) +
		           i * LZ_STUB_ENTRY;
	if (lz_proc_syscall(&t->p, &advised, SYS_madvise, (uint64_t)ret, LZ_POOL_LEN, MADV_DONTFORK,
	                    0, 0, 0) < 0 ||
	    lz_proc_write(&t->p, (uint64_t)ret, entry, sizeof(entry)) < 0)
		return -1;
	s->pool[s->n_pools++] = (uint64_t)ret;
	return 1;
}

static bool is_free(const struct lz_sites *s, uint64_t at)
{
	for (size_t i = 0; i < s->n; i++)
		if (at < s->a[i].begin + LZ_DETOUR && s->a[i].begin < at + LZ_DETOUR)
			return false;
	return true;
}

/* A place in POOL to which the jump at AT has int3 as its third byte, LAST: and as its last one;
 * 0: none. */
static uint64_t place_in(const struct lz_sites *s, uint64_t pool, uint64_t at, bool last)
{
	enum { WINDOW = 0x100, PERIOD = 0x10000 };
	uint64_t from = (at + LZ_JUMP + INT3 * WINDOW - pool) % PERIOD;

	for (; from < LZ_POOL_LEN; from += PERIOD)
		for (uint64_t off = from; off < from + WINDOW; off += LZ_DETOUR)
			if (off >= POOL_HEAD && off + LZ_DETOUR <= LZ_POOL_LEN &&
			    (!last || (uint32_t)(pool + off - at - LZ_JUMP) >> 24 == INT3) &&
			    is_free(s, pool + off))
				return pool + off;
	return 0;
}

/* *PLACE: 0: there is none. */
static int find_place(struct lz_tracer *t, uint64_t at, bool last, uint64_t *pool, uint64_t *place)
{
	const struct lz_sites *s = &t->fast.sites;
	int made = 1;

	*place = 0;
	for (size_t i = 0; made == 1; i++) {
		if (i == s->n_pools && (made = new_pool(t, at)) < 0)
			return -1;
		if (i == s->n_pools)
			break;
		*pool = s->pool[i];
		if (in_reach(*pool, at) && (*place = place_in(s, *pool, at, last)))
			break;
	}
	return 0;
}

/* ---- the detour ---- */

static void put_distance(uint8_t *code, uint64_t from, uint64_t to)
{
	int32_t distance = (int32_t)(to - from);

	memcpy(code, &distance, sizeof(distance));
}

static int write_detour(struct lz_tracer *t, struct lz_site *x, uint64_t pool,
                        const struct lz_moved *m)
{
	static const uint8_t begin[] = {0x48, 0x8d, 0x0d, 0, 0, 0, 0, /* lea, rcx */
	                                0x4c, 0x8d, 0x1d, 0, 0, 0, 0, /* lea, r11 */
	                                0xff, 0x25, 0,    0, 0, 0,    /* jmp */
	                                0x0f, 0x05};
	const uint64_t behind = x->begin + sizeof(begin);
	uint8_t d[LZ_DETOUR];
	size_t n = sizeof(begin);

	memset(d, INT3, sizeof(d));
	memcpy(d, begin, n);
	put_distance(d + 3, x->begin + 7, x->at + LZ_CALL_INSN);
	put_distance(d + 10, x->begin + 14, behind);
	put_distance(d + ENTRY_AT, x->begin + ENTRY_END, pool);
	memcpy(d + n, m->code, m->len);
	if (m->jump)
		put_distance(d + n + m->jump, behind + m->jump + 4, x->at + (uint64_t)m->target);
	n += m->len;
	d[n] = 0xe9;
	put_distance(d + n + 1, x->begin + n + LZ_JUMP, x->at + m->point[m->n_points - 1].at);
	x->call = behind - LZ_CALL_INSN;
	memcpy(x->point, m->point, sizeof(x->point));
	x->n_points = m->n_points;
	return lz_proc_write(&t->p, x->begin, d, sizeof(d));
}

int lz_detour_make(struct lz_tracer *t, uint64_t at)
{
	struct lz_sites *s = &t->fast.sites;
	struct lz_site x = {.at = at};
	struct lz_moved m;
	uint8_t code[LZ_MOVED_FROM];
	uint64_t pool = 0;

	if (s->n == LZ_SITES || !is_fixed_code(t, at) ||
	    lz_proc_read(&t->p, at, code, sizeof(code)) < 0 || !lz_move_code(code, &m) ||
	    !has_range(t, at))
		return 0;
	if (lz_reserve(s->a, s->room, s->n + 1) < 0)
		return lz_fail("out of memory for %zu system calls", s->n + 1);
	if (find_place(t, at, m.two, &pool, &x.begin) < 0)
		return -1;
	if (!x.begin)
		return 0;
	memcpy(x.was, code, LZ_JUMP);
	x.now[0] = 0xe9;
	put_distance(x.now + 1, at + LZ_JUMP, x.begin);
	if (write_detour(t, &x, pool, &m) < 0 || lz_proc_write(&t->p, at, x.now, LZ_JUMP) < 0)
		return -1;
	s->a[s->n++] = x;
	return 1;
}

int lz_detour_kind(struct lz_tracer *t, struct lz_site *x, uint8_t kind)
{
	const struct lz_sites *s = &t->fast.sites;
	uint8_t distance[4];
	size_t i = 0;

	while (i < s->n_pools && x->begin - s->pool[i] >= LZ_POOL_LEN)
		i++;
	if (i == s->n_pools)
		return 0;
	x->kind = kind;
	put_distance(distance, x->begin + ENTRY_END, s->pool[i] + kind * sizeof(uint64_t));
	return lz_proc_write(&t->p, x->begin + ENTRY_AT, distance, sizeof(distance));
}

/* ---- taken back ---- */

static bool has(const struct lz_proc *p, uint64_t at, const uint8_t *bytes)
{
	uint8_t code[LZ_JUMP];

	return lz_proc_read_some(p, at, code, LZ_JUMP) == LZ_JUMP && !memcmp(code, bytes, LZ_JUMP);
}

void lz_detours_release(const struct lz_tracer *t, const struct lz_proc *p)
{
	const struct lz_sites *s = &t->fast.sites;

	for (size_t i = 0; i < s->n; i++)
		if (!s->a[i].gone && has(p, s->a[i].at, s->a[i].now))
			lz_proc_write(p, s->a[i].at, s->a[i].was, LZ_JUMP);
}

void lz_detours_lend(struct lz_tracer *t, const struct lz_proc *p)
{
	lz_detours_release(t, p);
	for (size_t i = 0; i < t->fast.sites.n; i++)
		t->fast.sites.a[i].given_back = true;
}

void lz_detours_again(struct lz_tracer *t)
{
	for (size_t i = 0; i < t->fast.sites.n; i++) {
		struct lz_site *x = &t->fast.sites.a[i];

		x->given_back = false;
		if (!x->gone && (!has(&t->p, x->at, x->was) ||
		                 lz_proc_write(&t->p, x->at, x->now, LZ_JUMP) < 0))
			x->gone = true;
	}
}

void lz_detours_moved(struct lz_tracer *t, uint64_t start, uint64_t end, uint64_t to)
{
	for (size_t i = 0; i < t->fast.sites.n; i++) {
		struct lz_site *x = &t->fast.sites.a[i];

		if (x->gone || x->at + LZ_JUMP <= start || x->at >= end)
			continue;
		x->gone = true;
		if (to && has(&t->p, to + (x->at - start), x->now))
			lz_proc_write(&t->p, to + (x->at - start), x->was, LZ_JUMP);
	}
}
