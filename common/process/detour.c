/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System call instructions of the program, its rdtsc, rdtscp, cpuid and xsavec, become jumps to a
 * detour, by way of code of ours that does them without a stop.
 *
 * The jump has five bytes: it takes the place of the instruction and of the beginning of what is
 * behind it, which the detour has:
 *
 *	lea	behind the site, %rcx
 *	lea	1f, %r11
 *	jmp	*entry
 *	syscall			for calls that are made with a stop
 * 1:	one to three instructions
 *	jmp	behind those
 *
 * An rdtsc or rdtscp is treated alike, but that it leaves rax and rdx to us, instead of rcx and r11.
 * A cpuid's detour loads the last two registers of the answer itself (tracer/code/cpuid_sites.c).
 * An xsavec has no register to spare: rax and rdx wait where it is going to store its header.
 *
 * Who comes to one of those by another way, from a handler or by a jump, must not find half a jump
 * there. Detours are placed so that the jump's bytes are int3 where those instructions begin: the
 * third one always, the fourth and the fifth if need be. */
#include <common/base/array.h>
#include <common/process/moved.h>
#include <common/process/sites.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define ALL_INT3 0xccccccccU
#define FOURTH_BYTE 0x00ff0000U /* of the jump, in its distance */

enum {
	INT3 = 0xcc,
	POOL_HEAD = 8 * LZ_SITE_ENTRIES, /* where the entries are */
	REACH = 0x70000000,
	STEP = 0x1000000, /* that far apart, distances differ in the jump's fifth byte only */
	/* in a detour: which entry it jumps to */
	ENTRY_AT = 16,
	XSAVEC_ENTRY_AT = 32
};

/* ---- the process's code ---- */

static int read_code(struct lz_sites *s, const struct lz_proc *p, uint64_t addr, void *buf,
                     size_t len)
{
	return s->at_once ? lz_code_pages_read(&s->changed, p, addr, buf, len)
	                  : lz_proc_read(p, addr, buf, len);
}

static int write_code(struct lz_sites *s, const struct lz_proc *p, uint64_t addr, const void *buf,
                      size_t len)
{
	return s->at_once ? lz_code_pages_write(&s->changed, p, addr, buf, len)
	                  : lz_proc_write(p, addr, buf, len);
}

void lz_sites_make_many(struct lz_sites *s)
{
	s->at_once = true;
}

int lz_sites_made(struct lz_sites *s, const struct lz_proc *p)
{
	s->at_once = false;
	return lz_code_pages_end(&s->changed, p);
}

/* ---- memory for detours ---- */

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

/* A place in POOL to which the jump at AT has int3 as its bytes BEGINS, the third one among them;
 * 0: none. */
static uint64_t place_in(const struct lz_sites *s, uint64_t pool, uint64_t at, uint32_t begins)
{
	enum { WINDOW = 0x100, PERIOD = 0x10000 };
	uint64_t from = (at + LZ_JUMP + INT3 * WINDOW - pool) % PERIOD;

	for (; from < LZ_POOL_LEN; from += PERIOD)
		for (uint64_t off = from; off < from + WINDOW; off += LZ_DETOUR)
			if (off >= POOL_HEAD && off + LZ_DETOUR <= LZ_POOL_LEN &&
			    traps(at, pool + off, begins) && is_free(s, pool + off))
				return pool + off;
	return 0;
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

/* 0: there is none. */
static int new_pool(struct lz_sites *s, struct lz_proc *p, uint64_t at, uint32_t begins)
{
	enum { TRIES = 64 };
	int64_t ret = -1, advised;

	if (s->n_pools == LZ_POOLS)
		return 0;
	for (uint64_t i = 0; i < TRIES && ret < 0; i++) {
		const uint64_t pool = pool_address(at, begins, i);

		if (in_reach(pool, at) && place_in(s, pool, at, begins) &&
		    lz_proc_syscall(p, &ret, SYS_mmap, pool, LZ_POOL_LEN, PROT_READ | PROT_EXEC,
		                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~0ULL,
		                    0) < 0)
			return -1;
	}
	if (ret < 0)
		return 0;
	if ((s->kept_from_children && lz_proc_syscall(p, &advised, SYS_madvise, (uint64_t)ret,
	                                              LZ_POOL_LEN, MADV_DONTFORK, 0, 0, 0) < 0) ||
	    write_code(s, p, (uint64_t)ret, s->entry, sizeof(s->entry)) < 0)
		return -1;
	s->pool[s->n_pools++] = (uint64_t)ret;
	return 1;
}

/* Is what the code behind the call loads near enough to a detour at PLACE? */
static bool reaches_data(const struct lz_moved *m, uint64_t at, uint64_t place)
{
	const int64_t distance = (int64_t)(at + (uint64_t)m->operand - place);

	return !m->data || (distance > INT32_MIN + LZ_DETOUR && distance < INT32_MAX - LZ_DETOUR);
}

/* *PLACE: 0: there is none. */
static int find_place(struct lz_sites *s, struct lz_proc *p, uint64_t at, uint32_t begins,
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

/* ---- the detour ---- */

static void put_distance(uint8_t *code, uint64_t from, uint64_t to)
{
	int32_t distance = (int32_t)(to - from);

	memcpy(code, &distance, sizeof(distance));
}

/* The first of the entries that X can lead to. */
static unsigned first_entry(const struct lz_site *x)
{
	if (x->counter)
		return x->len == LZ_RDTSCP_INSN ? LZ_SITE_RDTSCP : LZ_SITE_COUNTER;
	return x->cpuid ? LZ_SITE_CPUID : x->xsavec ? LZ_SITE_XSAVEC : 0;
}

/* Where the pool at POOL has the entry that X leads to. */
static uint64_t entry_of(const struct lz_site *x, uint64_t pool)
{
	return pool + (x->kind + first_entry(x)) * sizeof(uint64_t);
}

/* The distance to the entry's pointer, in the detour D. */
static void put_entry(const struct lz_site *x, uint64_t pool, uint8_t *d)
{
	const unsigned at = x->xsavec ? XSAVEC_ENTRY_AT : ENTRY_AT;

	put_distance(d + at, x->begin + at + 4, entry_of(x, pool));
}

/* The code up to the site's instruction, with that: its length. */
static size_t begin_call(const struct lz_site *x, uint64_t pool, uint8_t *d)
{
	static const uint8_t begin[] = {0x48, 0x8d, 0x0d, 0, 0, 0, 0, /* lea, rcx */
	                                0x4c, 0x8d, 0x1d, 0, 0, 0, 0, /* lea, r11 */
	                                0xff, 0x25, 0,    0, 0, 0};   /* jmp */
	const size_t len = sizeof(begin) + x->len;

	memcpy(d, begin, sizeof(begin));
	memcpy(d + sizeof(begin), x->was, x->len);
	if (x->counter) {
		d[2] = 0x05;              /* rax */
		d[7] = 0x48, d[9] = 0x15; /* rdx */
	}
	put_distance(d + 3, x->begin + 7, x->at + x->len);
	put_distance(d + 10, x->begin + 14, x->begin + len);
	put_entry(x, pool, d);
	return len;
}

static size_t begin_xsavec(const struct lz_site *x, uint64_t pool, uint8_t *d)
{
	enum { HEADER = 512, FIRST_AT = 4, SECOND_AT = 12, OFFSET_AT = 4 };
	static const uint8_t begin[] = {0x48, 0x89, 0x84, 0x24, 0, 0, 0, 0, /* mov, rax */
	                                0x48, 0x89, 0x94, 0x24, 0, 0, 0, 0, /* mov, rdx */
	                                0x48, 0x8d, 0x05, 0,    0, 0, 0,    /* lea, rax */
	                                0x48, 0x8d, 0x15, 0,    0, 0, 0,    /* lea, rdx */
	                                0xff, 0x25, 0,    0,    0, 0};      /* jmp */
	const int32_t first = (int8_t)x->was[OFFSET_AT] + HEADER, second = first + 8;

	memcpy(d, begin, sizeof(begin));
	memcpy(d + sizeof(begin), x->was, x->len);
	memcpy(d + FIRST_AT, &first, sizeof(first));
	memcpy(d + SECOND_AT, &second, sizeof(second));
	put_distance(d + 19, x->begin + 23, x->at + x->len);
	put_distance(d + 26, x->begin + 30, x->begin + sizeof(begin) + x->len);
	put_entry(x, pool, d);
	return sizeof(begin) + x->len;
}

static size_t begin_cpuid(const struct lz_site *x, uint64_t pool, uint8_t *d)
{
	static const uint8_t begin[] = {0x48, 0x8d,          0x15, 6, 0, 0, 0, /* lea, rdx */
	                                0xff, 0x25,          0,    0, 0, 0,    /* jmp */
	                                0x8b, 0x53,          20,               /* mov, edx */
	                                0x8b, 0x5b,          12,               /* mov, ebx */
	                                0xeb, 0x02,                            /* jmp over it */
	                                0x0f, LZ_CPUID_ARMED};

	memcpy(d, begin, sizeof(begin));
	put_distance(d + 9, x->begin + 13, entry_of(x, pool));
	return sizeof(begin);
}

static int write_detour(struct lz_sites *s, const struct lz_proc *p, struct lz_site *x,
                        uint64_t pool, const struct lz_moved *m)
{
	uint8_t d[LZ_DETOUR];

	memset(d, INT3, sizeof(d));
	size_t n = x->cpuid    ? begin_cpuid(x, pool, d)
	           : x->xsavec ? begin_xsavec(x, pool, d)
	                       : begin_call(x, pool, d);
	const uint64_t behind = x->begin + n;
	memcpy(d + n, m->code, m->len);
	if (m->data)
		put_distance(d + n + m->data, behind + m->data_end, x->at + (uint64_t)m->operand);
	if (m->jump)
		put_distance(d + n + m->jump, behind + m->jump + 4, x->at + (uint64_t)m->target);
	n += m->len;
	d[n] = 0xe9;
	put_distance(d + n + 1, x->begin + n + LZ_JUMP, x->at + m->point[m->n_points - 1].at);
	x->call = behind - x->len;
	memcpy(x->point, m->point, sizeof(x->point));
	x->n_points = m->n_points;
	return write_code(s, p, x->begin, d, sizeof(d));
}

int lz_sites_entries(struct lz_sites *s, const struct lz_proc *p)
{
	for (size_t i = 0; i < s->n_pools; i++)
		if (write_code(s, p, s->pool[i], s->entry, sizeof(s->entry)) < 0)
			return -1;
	return 0;
}

int lz_site_make(struct lz_sites *s, struct lz_proc *p, uint64_t at)
{
	struct lz_site x = {.at = at};
	struct lz_moved m;
	uint8_t code[LZ_MOVED_FROM];
	uint64_t pool = 0;

	if (s->n == LZ_SITES || read_code(s, p, at, code, sizeof(code)) < 0 ||
	    !lz_move_code(code, &m))
		return 0;
	x.len = m.behind;
	x.counter = m.counter;
	x.cpuid = m.cpuid;
	x.xsavec = m.xsavec;
	if (!s->entry[first_entry(&x)])
		return 0;
	if (lz_reserve(s->a, s->room, s->n + 1) < 0)
		return lz_fail("out of memory for %zu system calls", s->n + 1);
	if (find_place(s, p, at, m.begins, &pool, &x.begin) < 0)
		return -1;
	if (!x.begin || !reaches_data(&m, at, x.begin))
		return 0;
	memcpy(x.was, code, LZ_JUMP);
	x.now[0] = 0xe9;
	put_distance(x.now + 1, at + LZ_JUMP, x.begin);
	if (write_detour(s, p, &x, pool, &m) < 0 || write_code(s, p, at, x.now, LZ_JUMP) < 0)
		return -1;
	s->a[s->n++] = x;
	return 1;
}

int lz_site_enter(const struct lz_sites *s, const struct lz_proc *p, struct lz_site *x,
                  uint8_t kind)
{
	const unsigned entry_at = x->xsavec ? XSAVEC_ENTRY_AT : ENTRY_AT;
	uint8_t distance[4];
	size_t i = 0;

	while (i < s->n_pools && x->begin - s->pool[i] >= LZ_POOL_LEN)
		i++;
	if (i == s->n_pools)
		return 0;
	x->kind = kind;
	put_distance(distance, x->begin + entry_at + 4, entry_of(x, s->pool[i]));
	return lz_proc_write(p, x->begin + entry_at, distance, sizeof(distance));
}

/* ---- taken back ---- */

static bool has(const struct lz_proc *p, uint64_t at, const uint8_t *bytes)
{
	uint8_t code[LZ_JUMP];

	return lz_proc_read_some(p, at, code, LZ_JUMP) == LZ_JUMP && !memcmp(code, bytes, LZ_JUMP);
}

/* The bytes FROM become TO. */
static bool change(struct lz_code_pages *c, const struct lz_proc *p, uint64_t at,
                   const uint8_t *from, const uint8_t *to)
{
	uint8_t code[LZ_JUMP];

	return lz_code_pages_read(c, p, at, code, LZ_JUMP) == 0 && !memcmp(code, from, LZ_JUMP) &&
	       lz_code_pages_write(c, p, at, to, LZ_JUMP) == 0;
}

void lz_sites_release(const struct lz_sites *s, const struct lz_proc *p)
{
	struct lz_code_pages c = {0};

	for (size_t i = 0; i < s->n; i++)
		if (!s->a[i].gone)
			change(&c, p, s->a[i].at, s->a[i].now, s->a[i].was);
	lz_code_pages_end(&c, p);
}

void lz_sites_lend(struct lz_sites *s, const struct lz_proc *p)
{
	lz_sites_release(s, p);
	for (size_t i = 0; i < s->n; i++)
		s->a[i].given_back = true;
}

void lz_sites_again(struct lz_sites *s, const struct lz_proc *p)
{
	struct lz_code_pages c = {0};

	for (size_t i = 0; i < s->n; i++) {
		struct lz_site *x = &s->a[i];

		x->given_back = false;
		x->gone |= !x->gone && !change(&c, p, x->at, x->was, x->now);
	}
	if (lz_code_pages_end(&c, p) == 0)
		return;
	for (size_t i = 0; i < s->n; i++)
		s->a[i].gone |= !has(p, s->a[i].at, s->a[i].now);
}

void lz_sites_end_counters(struct lz_sites *s, const struct lz_proc *p)
{
	for (size_t i = 0; i < s->n; i++) {
		struct lz_site *x = &s->a[i];

		if (!x->counter || x->gone)
			continue;
		x->gone = true;
		if (has(p, x->at, x->now))
			lz_proc_write(p, x->at, x->was, LZ_JUMP);
	}
}

void lz_sites_moved(struct lz_sites *s, const struct lz_proc *p, uint64_t start, uint64_t end,
                    uint64_t to)
{
	for (size_t i = 0; i < s->n; i++) {
		struct lz_site *x = &s->a[i];

		if (x->gone || x->at + LZ_JUMP <= start || x->at >= end)
			continue;
		x->gone = true;
		if (to && has(p, to + (x->at - start), x->now))
			lz_proc_write(p, to + (x->at - start), x->was, LZ_JUMP);
	}
}
