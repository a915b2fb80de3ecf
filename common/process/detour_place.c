/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory for detours. */
#include <common/process/detour.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define ALL_INT3 0xccccccccU
#define FOURTH_BYTE 0x00ff0000U /* of the jump, in its distance */

enum {
	POOL_HEAD = 8 * LZ_SITE_ENTRIES, /* where the entries are */
	REACH = 0x70000000,
	STEP = 0x1000000 /* that far apart, distances differ in the jump's fifth byte only */
};

static bool in_reach(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < REACH;
}

static bool is_free(const struct lz_sites *s, uint64_t at)
{
	for (size_t i = 0; i < s->n; i++)
		if (at < s->a[i].begin + LZ_DETOUR && s->a[i].begin < at + LZ_DETOUR)
			return false;
	return true;
}

/* Are the bytes BEGINS of a jump from AT to PLACE int3? */
static bool traps(uint64_t at, uint64_t place, uint32_t begins)
{
	return (((uint32_t)(place - at - LZ_JUMP) ^ ALL_INT3) & begins) == 0;
}

/* A place in POOL, from offset FROM up to END. */
static uint64_t free_place(const struct lz_sites *s, uint64_t pool, uint64_t at, uint32_t begins,
                           uint64_t from, uint64_t end)
{
	for (; from < end; from += LZ_DETOUR)
		if (from >= POOL_HEAD && from + LZ_DETOUR <= LZ_POOL_LEN &&
		    traps(at, pool + from, begins) && is_free(s, pool + from))
			return pool + from;
	return 0;
}

/* A place in POOL to which the jump at AT has int3 as its bytes BEGINS, the third one among them if
 * there are any; 0: none. */
static uint64_t place_in(const struct lz_sites *s, uint64_t pool, uint64_t at, uint32_t begins)
{
	enum { WINDOW = 0x100, PERIOD = 0x10000 };
	uint64_t from = (at + LZ_JUMP + LZ_INT3 * WINDOW - pool) % PERIOD, place = 0;

	if (!begins)
		return free_place(s, pool, at, 0, POOL_HEAD, LZ_POOL_LEN);
	for (; !place && from < LZ_POOL_LEN; from += PERIOD)
		place = free_place(s, pool, at, begins, from, from + WINDOW);
	return place;
}

/* Above a program at low addresses its heap grows. There is room below it, or far away. */
static uint64_t low_address(uint64_t at, uint64_t i)
{
	const uint64_t below = 0x400000 / LZ_POOL_LEN - 1, far = 0x6ecccc00;

	return i < below ? (below - i) * LZ_POOL_LEN : at + LZ_JUMP + far - (i - below) * STEP;
}

/* A place far below has a distance whose bytes can be int3, all of them at first. */
static uint64_t high_address(uint64_t at, uint32_t begins, uint64_t i)
{
	const uint64_t below = 0x33333400;

	return at + LZ_JUMP - below - i * (begins & FOURTH_BYTE ? STEP : STEP / 16);
}

/* The I-th pool to try for a jump with BEGINS from AT. */
static uint64_t pool_address(uint64_t at, uint32_t begins, uint64_t i)
{
	uint64_t place = at >> 31 ? high_address(at, begins, i) : low_address(at, i);

	return place - place % LZ_POOL_LEN;
}

static int map_pool(const struct lz_sites *s, struct lz_proc *p, uint64_t pool, int64_t *result)
{
	struct lz_proc_call c[] = {
	    {.nr = SYS_mmap,
	     .args = {pool, LZ_POOL_LEN, PROT_READ | PROT_EXEC,
	              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~0ULL}},
	    {.nr = SYS_madvise, .args = {pool, LZ_POOL_LEN, MADV_DONTFORK}, .if_done = true},
	};

	if (!s->kept_from_children)
		return lz_proc_syscall(p, result, SYS_mmap, pool, LZ_POOL_LEN,
		                       PROT_READ | PROT_EXEC,
		                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~0ULL, 0);
	if (lz_proc_calls(p, c, sizeof(c) / sizeof(*c)) < 0)
		return -1;
	*result = c[0].result;
	return 0;
}

/* 0: there is none. */
static int new_pool(struct lz_sites *s, struct lz_proc *p, uint64_t at, uint32_t begins)
{
	enum { TRIES = 64 };
	int64_t ret = -1;

	if (s->n_pools == LZ_POOLS)
		return 0;
	for (uint64_t i = 0; i < TRIES && ret < 0; i++) {
		const uint64_t pool = pool_address(at, begins, i);

		if (in_reach(pool, at) && place_in(s, pool, at, begins) &&
		    map_pool(s, p, pool, &ret) < 0)
			return -1;
	}
	if (ret < 0)
		return 0;
	s->changed.empty = (uint64_t)ret;
	s->changed.empty_end = s->at_once ? (uint64_t)ret + LZ_POOL_LEN : 0;
	if (lz_sites_write(s, p, (uint64_t)ret, s->entry, sizeof(s->entry)) < 0)
		return -1;
	s->pool[s->n_pools++] = (uint64_t)ret;
	return 1;
}

int lz_detour_place(struct lz_sites *s, struct lz_proc *p, uint64_t at, uint32_t begins,
                    uint64_t *pool, uint64_t *place)
{
	int made = 1;

	*place = 0;
	for (size_t i = 0; made == 1; i++) {
		if (i == s->n_pools && (made = new_pool(s, p, at, begins)) < 0)
			return -1;
		if (i == s->n_pools)
			break;
		*pool = s->pool[i];
		if (in_reach(*pool, at) && (*place = place_in(s, *pool, at, begins)))
			break;
	}
	return 0;
}
