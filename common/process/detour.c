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
 *	syscall			for calls that are made with a stop; for an rdtsc, hlt
 * 1:	one to three instructions
 *	jmp	behind those
 *
 * An rdtsc or rdtscp is treated alike, but that it leaves rax and rdx to us, instead of rcx and r11. It is
 * not in its detour, where it would not fault if the thread may read the counter.
 * A cpuid's detour loads the last two registers of the answer itself (tracer/code/cpuid_sites.c).
 * An xsavec has no register to spare: rax and rdx wait where it is going to store its header.
 *
 * Who comes to one of those by another way, from a handler or by a jump, must not find half a jump
 * there. Detours are placed so that the jump's bytes are int3 where those instructions begin: the
 * third one always, the fourth and the fifth if need be.
 *
 * Where they cannot be moved, or where control comes to them often, the jump has two bytes and covers
 * nothing else. It leads to a jump of five bytes in padding nearby. */
#include <common/base/array.h>
#include <common/process/detour.h>
#include <common/process/moved.h>
#include <common/process/padding.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <string.h>

/* In a detour: which entry it jumps to. */
enum { ENTRY_AT = 16, XSAVEC_ENTRY_AT = 32 };

/* Faults as an rdtsc does that is forbidden. */
static const uint8_t fault[LZ_RDTSCP_INSN] = {0xf4, 0x90, 0x90}; /* hlt, nop */

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
static size_t begin_call(const struct lz_site *x, uint64_t pool, const uint8_t *insn, uint8_t *d)
{
	static const uint8_t begin[] = {0x48, 0x8d, 0x0d, 0, 0, 0, 0, /* lea, rcx */
	                                0x4c, 0x8d, 0x1d, 0, 0, 0, 0, /* lea, r11 */
	                                0xff, 0x25, 0,    0, 0, 0};   /* jmp */
	const size_t len = sizeof(begin) + x->len;

	memcpy(d, begin, sizeof(begin));
	memcpy(d + sizeof(begin), insn, x->len);
	if (x->counter) {
		d[2] = 0x05;              /* rax */
		d[7] = 0x48, d[9] = 0x15; /* rdx */
	}
	if (x->counter)
		memcpy(d + sizeof(begin), fault, x->len);
	put_distance(d + 3, x->begin + 7, x->at + x->len);
	put_distance(d + 10, x->begin + 14, x->begin + len);
	put_entry(x, pool, d);
	return len;
}

static size_t begin_xsavec(const struct lz_site *x, uint64_t pool, const uint8_t *insn, uint8_t *d)
{
	enum { HEADER = 512, FIRST_AT = 4, SECOND_AT = 12, OFFSET_AT = 4 };
	static const uint8_t begin[] = {0x48, 0x89, 0x84, 0x24, 0, 0, 0, 0, /* mov, rax */
	                                0x48, 0x89, 0x94, 0x24, 0, 0, 0, 0, /* mov, rdx */
	                                0x48, 0x8d, 0x05, 0,    0, 0, 0,    /* lea, rax */
	                                0x48, 0x8d, 0x15, 0,    0, 0, 0,    /* lea, rdx */
	                                0xff, 0x25, 0,    0,    0, 0};      /* jmp */
	const int32_t first = (int8_t)insn[OFFSET_AT] + HEADER, second = first + 8;

	memcpy(d, begin, sizeof(begin));
	memcpy(d + sizeof(begin), insn, x->len);
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
	           : x->xsavec ? begin_xsavec(x, pool, m->insn, d)
	                       : begin_call(x, pool, m->insn, d);
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

/* The instruction at X->at. False: it leads nowhere. */
static bool begin_site(const struct lz_sites *s, struct lz_site *x, const struct lz_moved *m)
{
	x->len = m->behind;
	x->counter = m->counter;
	x->cpuid = m->cpuid;
	x->xsavec = m->xsavec;
	return s->entry[first_entry(x)];
}

static void set_patch(struct lz_site *x, unsigned which, uint64_t at, uint8_t len,
                      const uint8_t *was)
{
	struct lz_patch *p = &x->patch[which];

	p->at = at;
	p->len = len;
	memcpy(p->was, was, len);
	memset(p->now, LZ_INT3, len);
}

/* The last bytes of P become the jump to X's detour. */
static void end_in_jump(const struct lz_site *x, struct lz_patch *p)
{
	uint8_t *jump = p->now + p->len - LZ_JUMP;

	jump[0] = 0xe9;
	put_distance(jump + 1, p->at + p->len, x->begin);
}

/* The detour, and then what leads there. */
static int add_site(struct lz_sites *s, const struct lz_proc *p, struct lz_site *x, uint64_t pool,
                    const struct lz_moved *m)
{
	if (lz_reserve(s->a, s->room, s->n + 1) < 0)
		return lz_fail("out of memory for %zu system calls", s->n + 1);
	if (write_detour(s, p, x, pool, m) < 0)
		return -1;
	for (unsigned i = LZ_PATCHES; i-- > 0;)
		if (x->patch[i].len &&
		    lz_sites_write(s, p, x->patch[i].at, x->patch[i].now, x->patch[i].len) < 0)
			return -1;
	s->a[s->n++] = *x;
	return 1;
}

/* Is any of the LEN bytes at AT changed for a site? */
static bool is_taken(const struct lz_sites *s, uint64_t at, uint64_t len)
{
	for (size_t i = 0; i < s->n; i++)
		for (unsigned k = 0; !s->a[i].gone && k < LZ_PATCHES; k++)
			if (lz_patch_overlaps(&s->a[i].patch[k], at, at + len))
				return true;
	return false;
}

/* A jump in place of the instruction and of what is behind it. */
static int make_long(struct lz_sites *s, struct lz_proc *p, uint64_t at, uint64_t end,
                     const uint8_t *code)
{
	struct lz_site x = {.at = at, .end = end};
	struct lz_moved m;
	uint64_t pool = 0;

	/* behind a ret it would cover padding */
	if (is_taken(s, at, LZ_JUMP) || !lz_move_code(code, &m) || !begin_site(s, &x, &m))
		return 0;
	if (lz_detour_place(s, p, at, m.begins, &pool, &x.begin) < 0)
		return -1;
	if (!x.begin || !reaches_data(&m, at, x.begin))
		return 0;
	set_patch(&x, LZ_AT_SITE, at, LZ_JUMP, code);
	end_in_jump(&x, &x.patch[LZ_AT_SITE]);
	return add_site(s, p, &x, pool, &m);
}

/* Padding that is no other site's, in the N bytes at X->at: how far it is from there; 0: none. */
static size_t find_padding(const struct lz_sites *s, const struct lz_site *x, const uint8_t *code,
                           size_t n)
{
	size_t at = x->len, found;

	do
		found = lz_padding(code, n, LZ_PATCH, &at);
	while (found && is_taken(s, x->at + found, LZ_PATCH));
	return found;
}

/* A short jump in place of the instruction alone, to a jump in padding. An int3 is in front of that,
 * as somebody might come to the padding, and a byte between both, so that the address behind the
 * int3 is not that of the jump. */
static int make_short(struct lz_sites *s, struct lz_proc *p, uint64_t at, uint64_t end,
                      uint8_t kind)
{
	struct lz_site x = {.at = at, .end = end, .kind = kind};
	struct lz_moved m;
	uint8_t code[LZ_SITE_REACH] = {0};
	const size_t n = end - at < sizeof(code) ? end - at : sizeof(code);
	uint64_t pool = 0;

	if (s->n == LZ_SITES || read_code(s, p, at, code, n) < 0)
		return 0;
	/* else other sites would be taken for code */
	lz_sites_show_some(s, at, code, n);
	if (!lz_move_nothing(code, &m) || !begin_site(s, &x, &m))
		return 0;
	const size_t padding = find_padding(s, &x, code, n);
	if (!padding)
		return 0;
	if (lz_detour_place(s, p, at + padding + LZ_PATCH - LZ_JUMP, 0, &pool, &x.begin) < 0)
		return -1;
	if (!x.begin)
		return 0;
	set_patch(&x, LZ_IN_PADDING, at + padding, LZ_PATCH, code + padding);
	end_in_jump(&x, &x.patch[LZ_IN_PADDING]);
	set_patch(&x, LZ_AT_SITE, at, LZ_SHORT_JUMP, code);
	x.patch[LZ_AT_SITE].now[0] = 0xeb;
	x.patch[LZ_AT_SITE].now[1] = (uint8_t)(padding + LZ_PATCH - LZ_JUMP - LZ_SHORT_JUMP);
	return add_site(s, p, &x, pool, &m);
}

int lz_site_make(struct lz_sites *s, struct lz_proc *p, uint64_t at, uint64_t end)
{
	uint8_t code[LZ_MOVED_FROM];

	if (s->n == LZ_SITES || read_code(s, p, at, code, sizeof(code)) < 0)
		return 0;
	int ret = make_long(s, p, at, end, code);
	return ret ? ret : make_short(s, p, at, end, 0);
}

/* Where one was once that leads nowhere, no thread can be; or else the next one. */
static size_t fault_place(const struct lz_sites *s, uint64_t at)
{
	size_t i = 0;

	while (i < s->n && !(s->a[i].gone && s->a[i].faults && s->a[i].at == at))
		i++;
	return i;
}

int lz_site_fault(struct lz_sites *s, const struct lz_proc *p, uint64_t at, uint8_t len)
{
	struct lz_site x = {.at = at, .end = at + len, .len = len, .counter = true, .faults = true};
	const size_t i = fault_place(s, at);
	uint8_t code[LZ_RDTSCP_INSN];

	if (i == LZ_SITES || is_taken(s, at, len) || lz_reserve(s->a, s->room, i + 1) < 0 ||
	    lz_proc_read(p, at, code, len) < 0)
		return 0;
	set_patch(&x, LZ_AT_SITE, at, len, code);
	memcpy(x.patch[LZ_AT_SITE].now, fault, len);
	if (lz_proc_write(p, at, fault, len) < 0)
		return -1;
	s->a[i] = x;
	s->n += i == s->n;
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

/* The code at AT has the bytes FROM: they become TO. */
static bool change(struct lz_code_pages *c, const struct lz_proc *p, uint64_t at, size_t len,
                   const uint8_t *from, const uint8_t *to)
{
	uint8_t code[LZ_PATCH];

	return lz_code_pages_read(c, p, at, code, len) == 0 && !memcmp(code, from, len) &&
	       lz_code_pages_write(c, p, at, to, len) == 0;
}

/* The program has its own bytes, as far as it has not stored there. */
static void give_back(struct lz_code_pages *c, const struct lz_proc *p, const struct lz_site *x)
{
	for (unsigned i = 0; i < LZ_PATCHES; i++) {
		const struct lz_patch *a = &x->patch[i];

		if (a->len)
			change(c, p, a->at, a->len, a->now, a->was);
	}
}

static void lose(struct lz_sites *s, struct lz_site *x)
{
	x->gone = true;
	s->n_gone++;
}

static int give_up(struct lz_sites *s, const struct lz_proc *p, struct lz_site *x)
{
	struct lz_code_pages c = {0};

	give_back(&c, p, x);
	lose(s, x);
	return lz_code_pages_end(&c, p);
}

static bool take_again(struct lz_code_pages *c, const struct lz_proc *p, const struct lz_site *x)
{
	bool all = true;

	for (unsigned i = LZ_PATCHES; all && i-- > 0;) {
		const struct lz_patch *a = &x->patch[i];

		all = !a->len || change(c, p, a->at, a->len, a->was, a->now);
	}
	if (!all)
		give_back(c, p, x);
	return all;
}

static bool is_there(const struct lz_proc *p, const struct lz_site *x)
{
	uint8_t code[LZ_PATCH];

	for (unsigned i = 0; i < LZ_PATCHES; i++) {
		const struct lz_patch *a = &x->patch[i];

		if (a->len && (lz_proc_read_some(p, a->at, code, a->len) != a->len ||
		               memcmp(code, a->now, a->len)))
			return false;
	}
	return true;
}

/* A thread may stand there, in its detour. Other processes need not have that memory. */
static void put_counter(struct lz_code_pages *c, const struct lz_proc *p, const struct lz_site *x,
                        bool own)
{
	static const uint8_t rdtsc[] = {0x0f, 0x31}, rdtscp[] = {0x0f, 0x01, 0xf9};

	if (x->counter && x->call)
		lz_code_pages_write(c, p, x->call,
		                    !own                       ? fault
		                    : x->len == LZ_RDTSCP_INSN ? rdtscp
		                                               : rdtsc,
		                    x->len);
}

void lz_sites_release(const struct lz_sites *s, const struct lz_proc *p)
{
	struct lz_code_pages c = {0};

	for (size_t i = 0; i < s->n; i++) {
		put_counter(&c, p, &s->a[i], true);
		if (!s->a[i].gone)
			give_back(&c, p, &s->a[i]);
	}
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
		put_counter(&c, p, x, false);
		if (!x->gone && !take_again(&c, p, x))
			lose(s, x);
	}
	if (lz_code_pages_end(&c, p) == 0)
		return;
	for (size_t i = 0; i < s->n; i++)
		if (!s->a[i].gone && !is_there(p, &s->a[i]))
			lose(s, &s->a[i]);
}

void lz_sites_end_counters(struct lz_sites *s, const struct lz_proc *p)
{
	struct lz_code_pages c = {0};

	for (size_t i = 0; i < s->n; i++) {
		struct lz_site *x = &s->a[i];

		if (!x->counter || x->gone)
			continue;
		lose(s, x);
		give_back(&c, p, x);
	}
	lz_code_pages_end(&c, p);
}

/* A patch may be left where it was while the other one has moved. */
static void give_back_moved(struct lz_code_pages *c, const struct lz_proc *p,
                            const struct lz_site *x, uint64_t start, uint64_t end, uint64_t to)
{
	for (unsigned i = 0; i < LZ_PATCHES; i++) {
		const struct lz_patch *a = &x->patch[i];
		const bool moved = lz_patch_overlaps(a, start, end);

		if (a->len && (!moved || to))
			change(c, p, moved ? to + (a->at - start) : a->at, a->len, a->now, a->was);
	}
}

void lz_sites_moved(struct lz_sites *s, const struct lz_proc *p, uint64_t start, uint64_t end,
                    uint64_t to)
{
	struct lz_code_pages c = {0};

	for (size_t i = 0; i < s->n; i++) {
		struct lz_site *x = &s->a[i];

		if (x->at < start && x->end > start)
			x->end = start;
		if (x->gone || (!lz_patch_overlaps(&x->patch[LZ_AT_SITE], start, end) &&
		                !lz_patch_overlaps(&x->patch[LZ_IN_PADDING], start, end)))
			continue;
		lose(s, x);
		give_back_moved(&c, p, x, start, end, to);
	}
	lz_code_pages_end(&c, p);
}

int lz_site_end_fault(struct lz_sites *s, const struct lz_proc *p, struct lz_site *x)
{
	return give_up(s, p, x);
}

/* X, which is no more, is a short jump from now on. 0: it is what it was. */
static int make_shorter(struct lz_sites *s, struct lz_proc *p, struct lz_site *x)
{
	const size_t i = (size_t)(x - s->a);
	struct lz_code_pages c = {0};

	if (give_up(s, p, x) < 0)
		return -1;
	int ret = make_short(s, p, x->at, x->end, x->kind);
	if (ret)
		return ret;
	s->a[i].gone = !take_again(&c, p, &s->a[i]);
	return lz_code_pages_end(&c, p);
}

int lz_site_trapped(struct lz_sites *s, struct lz_proc *p, struct lz_site *x, bool used)
{
	const bool covered = !x->patch[LZ_IN_PADDING].len;

	x->traps++;
	x->idle = used ? 0 : x->idle + 1;
	if (covered && x->traps == LZ_TRAPS_SHORTER) {
		const int ret = make_shorter(s, p, x);

		return ret < 0 ? -1 : 0;
	}
	if (covered && x->idle < LZ_TRAPS_MOST)
		return 0;
	return give_up(s, p, x) < 0 ? -1 : 1;
}
