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
#include <common/process/detour.h>
#include <common/process/moved.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <string.h>

/* In a detour: which entry it jumps to. */
enum { ENTRY_AT = 16, XSAVEC_ENTRY_AT = 32 };

/* ---- the process's code ---- */

static int read_code(struct lz_sites *s, const struct lz_proc *p, uint64_t addr, void *buf,
                     size_t len)
{
	return s->at_once ? lz_code_pages_read(&s->changed, p, addr, buf, len)
	                  : lz_proc_read(p, addr, buf, len);
}

int lz_sites_write(struct lz_sites *s, const struct lz_proc *p, uint64_t addr, const void *buf,
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

/* ---- the detour ---- */

/* Is what the code behind the call loads near enough to a detour at PLACE? */
static bool reaches_data(const struct lz_moved *m, uint64_t at, uint64_t place)
{
	const int64_t distance = (int64_t)(at + (uint64_t)m->operand - place);

	return !m->data || (distance > INT32_MIN + LZ_DETOUR && distance < INT32_MAX - LZ_DETOUR);
}

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

	memset(d, LZ_INT3, sizeof(d));
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
	return lz_sites_write(s, p, x->begin, d, sizeof(d));
}

int lz_sites_entries(struct lz_sites *s, const struct lz_proc *p)
{
	for (size_t i = 0; i < s->n_pools; i++)
		if (lz_sites_write(s, p, s->pool[i], s->entry, sizeof(s->entry)) < 0)
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
	if (lz_detour_place(s, p, at, m.begins, &pool, &x.begin) < 0)
		return -1;
	if (!x.begin || !reaches_data(&m, at, x.begin))
		return 0;
	memcpy(x.was, code, LZ_JUMP);
	x.now[0] = 0xe9;
	put_distance(x.now + 1, at + LZ_JUMP, x.begin);
	if (write_detour(s, p, &x, pool, &m) < 0 || lz_sites_write(s, p, at, x.now, LZ_JUMP) < 0)
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
