/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sites that are short jumps, to jumps in padding nearby: which padding is taken, what is changed, and what is given back. */
#include "tests/unit/suite.h"

#include <check.h>
#include <common/process/padding.h>
#include <common/process/sites.h>
#include <fcntl.h>
#include <lizard/recording.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { AT = LZ_PAGE - 8, ROOM = 2 * LZ_PAGE, POOL_BELOW = 0x1000000, FAR_BELOW = 0x33333400 };
#define NOP7 0x0f, 0x1f, 0x80, 0, 0, 0, 0
#define NOP5 0x0f, 0x1f, 0x44, 0, 0
#define NOP10 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0

/* ---- padding ---- */

static const struct {
	const char *text;
	uint8_t code[32];
	size_t n, where; /* 0: none */
} pads[] = {
    {"ret; nop of 7", {0xc3, NOP7}, 8, 1},
    {"ret; nop of 10", {0xc3, NOP10}, 11, 1},
    {"ret $8; nop", {0xc2, 8, 0, NOP7}, 10, 3},
    {"jmp; nop", {0xeb, 0x10, NOP7}, 9, 2},
    {"jmp, far; nop", {0xe9, 0, 0, 0, 0, NOP7}, 12, 5},
    {"jmp *%rax; nop", {0xff, 0xe0, NOP7}, 9, 2},
    {"ret; short nops; nop", {0xc3, 0x90, 0x66, 0x90, NOP5, NOP7}, 16, 9},
    {"code; ret; nop", {0x48, 0x89, 0xc1, 0xc3, NOP7}, 11, 4},
    {"ret; short nop; code; ret; nop", {0xc3, 0x90, 0x31, 0xc0, 0xc3, NOP7}, 12, 5},
    {"ret; nop of 5", {0xc3, NOP5}, 6, 0},
    {"ret; seven nops", {0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}, 8, 0},
    {"ret; seven int3", {0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc}, 8, 0},
    {"call; nop", {0xe8, 0, 0, 0, 0, NOP7}, 12, 0},
    {"je; nop", {0x74, 0x10, NOP7}, 9, 0},
    {"code; nop", {0x31, 0xc0, NOP7}, 9, 0},
    {"ret; code; nop", {0xc3, 0x31, 0xc0, NOP7}, 10, 0},
    {"mov $., %rax, which looks like it", {0x48, 0xb8, 0xc3, NOP7, 0xc3}, 11, 0},
    {"ret; half a nop", {0xc3, NOP7}, 6, 0},
    {"ret; no instruction; ret; nop", {0xc3, 0x06, 0xc3, NOP7}, 10, 0},
};

START_TEST(paddings)
{
	size_t at = 0;

	ck_assert_msg(lz_padding(pads[_i].code, pads[_i].n, LZ_PATCH, &at) == pads[_i].where, "%s",
	              pads[_i].text);
	if (!pads[_i].where)
		ck_assert_uint_eq(at, pads[_i].n);
}
END_TEST

/* ---- sites ---- */

enum { BELOW = FAR_BELOW + LZ_POOL_LEN + LZ_PAGE - FAR_BELOW % LZ_PAGE };
static uint8_t *below, *room, *at, was[ROOM], seen[ROOM];
static uint64_t pool;
static struct lz_sites sites;
static struct lz_proc p;

static void map_pool(const uint8_t *in)
{
	pool = (uintptr_t)in - (uintptr_t)in % LZ_POOL_LEN;
	ck_assert_int_eq(mprotect((void *)(uintptr_t)pool, LZ_POOL_LEN, PROT_READ | PROT_WRITE), 0);
}

static void begin(void)
{
	const int prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;

	p = (struct lz_proc){.pid = getpid(), .mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC)};
	/* nobody else has what is below it */
	below = mmap(NULL, BELOW + ROOM, PROT_NONE, flags | MAP_NORESERVE, -1, 0);
	ck_assert(p.mem >= 0 && below != MAP_FAILED);
	room = below + BELOW;
	ck_assert_int_eq(mprotect(room, ROOM, prot), 0);
	map_pool(room - POOL_BELOW);
	lz_sites_begin(&sites);
	sites.pool[sites.n_pools++] = pool;
	sites.entry[0] = 1;
	at = room + AT;
	memset(room, 0xcc, ROOM);
}

static void end(void)
{
	lz_sites_free(&sites);
	munmap(below, BELOW + ROOM);
	close(p.mem);
}

/* As in the C library 2.43, at a page's end; the padding is in the next page. */
static const uint8_t cancellable[] = {0x0f, 0x05, 0xc3, 0x90, 0x48, 0x83, 0xec, 0x08, 0x48,
                                      0x83, 0xc4, 0x08, 0xc3, NOP7, 0x55, 0xc3, NOP10};
enum { PADDING = 13, SECOND_PADDING = 22 };

static void put(const uint8_t *code, size_t n)
{
	memcpy(at, code, n);
	memcpy(was, room, ROOM);
}

static int make(uint8_t *where)
{
	return lz_site_make(&sites, &p, (uintptr_t)where, (uintptr_t)room + ROOM);
}

static uint64_t leads_to(const uint8_t *jump)
{
	int32_t distance;

	ck_assert_uint_eq(jump[0], 0xe9);
	memcpy(&distance, jump + 1, sizeof(distance));
	return (uintptr_t)jump + LZ_JUMP + (uint64_t)distance;
}

static void expect_short(size_t padding)
{
	const struct lz_site *x = lz_site_at(&sites, (uintptr_t)at);
	const uint8_t *jump = at + padding + LZ_PATCH - LZ_JUMP;

	ck_assert_ptr_nonnull(x);
	ck_assert(at[0] == 0xeb && at + LZ_SHORT_JUMP + (int8_t)at[1] == jump);
	ck_assert_uint_eq(leads_to(jump), x->begin);
	/* behind the int3 is not where the jump is */
	ck_assert(at[padding] == 0xcc && jump == at + padding + 2);
	/* nothing else is changed */
	memcpy(seen, room, ROOM);
	memcpy(seen + AT, was + AT, LZ_SHORT_JUMP);
	memcpy(seen + AT + padding, was + AT + padding, LZ_PATCH);
	ck_assert(!memcmp(seen, was, ROOM));
	/* the detour makes the call, and goes back right behind it */
	ck_assert(!memcmp((void *)(uintptr_t)x->call, "\x0f\x05", 2));
	ck_assert_uint_eq(leads_to((uint8_t *)(uintptr_t)x->call + 2), (uintptr_t)at + 2);
}

static void expect_own(void)
{
	ck_assert(!memcmp(room, was, ROOM));
}

START_TEST(made)
{
	const struct lz_site *x;
	uint64_t site = 0, where;
	struct user_regs_struct r;

	put(cancellable, sizeof(cancellable));
	ck_assert_int_eq(make(at), 1);
	expect_short(PADDING);
	x = sites.a;
	where = (uintptr_t)at + PADDING;
	ck_assert(lz_site_padding(&sites, where) == x && !lz_site_padding(&sites, where + 1));
	/* on its way to the call, wherever it stands */
	ck_assert(lz_sites_inside(&sites, where + 2, &site) && site == (uintptr_t)at);
	ck_assert(!lz_sites_inside(&sites, where, &site) &&
	          !lz_sites_inside(&sites, where + 1, &site));
	ck_assert_uint_eq(lz_sites_shown(&sites, x->call), (uintptr_t)at);
	ck_assert_uint_eq(lz_sites_shown(&sites, x->call + 2), (uintptr_t)at + 2);
	/* what is behind the call is where it was */
	r = (struct user_regs_struct){.rip = (uintptr_t)at + 2, .orig_rax = (uint64_t)-1};
	sites.elsewhere.hide(&sites.elsewhere, &r);
	ck_assert(r.rip == (uintptr_t)at + 2 && !lz_site_of(&sites, r.rip));
	/* but whoever makes the call again must not come to the jump */
	r.orig_rax = 202;
	sites.elsewhere.hide(&sites.elsewhere, &r);
	ck_assert_uint_eq(r.rip, x->call + 2);
	ck_assert(lz_site_behind(&sites, (uintptr_t)at + 2) == x &&
	          !lz_site_behind(&sites, (uintptr_t)at + 3));
	r.rip = (uintptr_t)at;
	sites.elsewhere.hide(&sites.elsewhere, &r);
	ck_assert_uint_eq(r.rip, x->call);
	/* the program's own bytes are shown, in both pages */
	memcpy(seen, room, ROOM);
	for (size_t i = 0; i < ROOM; i += LZ_PAGE)
		ck_assert(lz_sites_show(&sites, (uintptr_t)room + i, seen + i) &&
		          lz_sites_had(&sites, (uintptr_t)room + i));
	ck_assert(!memcmp(seen, was, ROOM));
}
END_TEST

/* Each has its own padding; the third one finds none. */
START_TEST(several)
{
	uint8_t both[2 * sizeof(cancellable)];

	memcpy(both, cancellable, sizeof(cancellable));
	memcpy(both + sizeof(cancellable), cancellable, sizeof(cancellable));
	put(both, sizeof(both));
	at[2] = at[sizeof(cancellable) + 2] = 0xc3;
	ck_assert_int_eq(make(at), 1);
	expect_short(PADDING);
	at += sizeof(cancellable);
	ck_assert_int_eq(make(at), 1);
	ck_assert(at[0] == 0xeb && at[PADDING] == 0xcc);
	ck_assert(leads_to(at + PADDING + 2) == sites.a[1].begin &&
	          sites.a[0].begin != sites.a[1].begin);
	lz_sites_release(&sites, &p);
	ck_assert(!memcmp(room, was, ROOM));
}
END_TEST

START_TEST(taken)
{
	static const uint8_t calls[] = {0x0f, 0x05, 0xc3, 0x90, 0x0f, 0x05, 0xc3, 0x90, 0x0f,
	                                0x05, 0xc3, 0x90, 0xc3, NOP7, 0x55, 0xc3, NOP10};

	put(calls, sizeof(calls));
	ck_assert_int_eq(make(at), 1);
	expect_short(PADDING);
	ck_assert_int_eq(make(at + 4), 1);
	ck_assert_uint_eq(leads_to(at + SECOND_PADDING + 2), sites.a[1].begin);
	ck_assert_int_eq(make(at + 8), 0);
	ck_assert(!memcmp(at + 8, was + AT + 8, 4));
}
END_TEST

/* A long jump would cover padding that is another site's. */
START_TEST(in_the_way)
{
	static const uint8_t calls[] = {0x0f, 0x05, 0xc3, 0x90, 0x0f, 0x05,
	                                0xc3, NOP7, 0x55, 0xc3, NOP10};
	enum { CLOSE = 7, NEXT = 16 };

	put(calls, sizeof(calls));
	ck_assert_int_eq(make(at), 1);
	expect_short(CLOSE);
	ck_assert_int_eq(make(at + 4), 1);
	ck_assert(at[4] == 0xeb && leads_to(at + NEXT + 2) == sites.a[1].begin);
	ck_assert_uint_eq(leads_to(at + CLOSE + 2), sites.a[0].begin);
	lz_sites_release(&sites, &p);
	expect_own();
}
END_TEST

/* It is too far away, or not all of it is in the same mapping. */
START_TEST(far)
{
	enum { JUST = 127, MIDDLE = LZ_PAGE / 2 };
	static const uint8_t nop[] = {NOP7}, call[] = {0x0f, 0x05, 0xc3, 0x55};
	const size_t n = JUST + (size_t)_i;

	at = room + MIDDLE;
	memset(at, 0x90, n);
	memcpy(at, call, sizeof(call));
	at[n - 1] = 0xc3;
	memcpy(at + n, nop, LZ_PATCH);
	memcpy(was, room, ROOM);
	ck_assert_int_eq(lz_site_make(&sites, &p, (uintptr_t)at, (uintptr_t)at + n + LZ_PATCH - 1),
	                 0);
	ck_assert_int_eq(make(at), n == JUST);
	if (n != JUST)
		return;
	ck_assert_uint_eq(at[1], JUST);
	ck_assert_uint_eq(leads_to(at + n + 2), sites.a[0].begin);
}
END_TEST

START_TEST(given_back)
{
	const uint64_t start = (uintptr_t)room, second = start + LZ_PAGE;

	put(cancellable, sizeof(cancellable));
	ck_assert_int_eq(make(at), 1);
	lz_sites_lend(&sites, &p);
	expect_own();
	lz_sites_again(&sites, &p);
	expect_short(PADDING);
	/* one of both has been stored to meanwhile: the other stays as it is, too */
	lz_sites_lend(&sites, &p);
	at[PADDING] = was[AT + PADDING] = 0x90;
	lz_sites_again(&sites, &p);
	expect_own();
	ck_assert(sites.a[0].gone);
	at[PADDING] = was[AT + PADDING] = 0x0f;
	lz_sites_lend(&sites, &p);
	at[0] = was[AT] = 0x90;
	lz_sites_again(&sites, &p);
	expect_own();
	at[0] = was[AT] = 0x0f;
	/* only one of both pages is written to, or is gone */
	for (int i = 0; i < 4; i++) {
		const uint64_t page = i % 2 ? second : start;

		ck_assert_int_eq(make(at), 1);
		expect_short(PADDING);
		lz_sites_moved(&sites, &p, page, page + LZ_PAGE, i < 2 ? page : 0);
		ck_assert(!lz_site_at(&sites, (uintptr_t)at));
		const uint8_t *there = room + (i < 2 || !(i % 2) ? LZ_PAGE : 0);
		ck_assert(!memcmp(there, was + (there - room), LZ_PAGE));
		if (i < 2)
			expect_own();
		memcpy(room, was, ROOM);
	}
}
END_TEST

/* Who comes to the padding finds it, and the site is given up. */
START_TEST(trapped)
{
	put(cancellable, sizeof(cancellable));
	ck_assert_int_eq(make(at), 1);
	ck_assert_int_eq(lz_site_trapped(&sites, &p, sites.a, true), 1);
	expect_own();
	ck_assert(sites.a[0].gone && !lz_site_padding(&sites, (uintptr_t)at + PADDING));
}
END_TEST

/* test %eax, %eax; test %eax, %eax; ret: what is behind the call can be moved. */
static const uint8_t moved[] = {0x0f, 0x05, 0x85, 0xc0, 0x85, 0xc0, 0x90,
                                0x90, 0x90, 0x90, 0x90, 0x90, 0xc3, NOP7};

/* Often: it is a short jump then, with the same entry. Without padding it stays while it is used. */
START_TEST(covered)
{
	const bool has_padding = _i & 1, used = _i & 2;
	const size_t n = sizeof(moved) - (has_padding ? 0 : LZ_PATCH);
	int ret = 0;

	put(moved, n);
	sites.pool[0] = 0;
	map_pool(at - FAR_BELOW);
	sites.pool[0] = pool;
	ck_assert_int_eq(make(at), 1);
	ck_assert_int_eq(lz_site_enter(&sites, &p, sites.a, 2), 0);
	ck_assert_uint_eq(at[0], 0xe9);
	for (int i = 1; i < LZ_TRAPS_SHORTER; i++)
		ck_assert(lz_site_trapped(&sites, &p, sites.a, used) == 0 && at[0] == 0xe9);
	for (int i = 0; i < 100 && !ret && at[0] == 0xe9; i++)
		ret = lz_site_trapped(&sites, &p, lz_site_at(&sites, (uintptr_t)at), used);
	if (has_padding) {
		ck_assert(ret == 0 && sites.a[0].gone);
		expect_short(PADDING);
		ck_assert_uint_eq(lz_site_at(&sites, (uintptr_t)at)->kind, 2);
		/* who is in the first detour is told where it is */
		ck_assert_uint_eq(lz_sites_shown(&sites, sites.a[0].call + 2), (uintptr_t)at + 2);
	} else if (used) {
		ck_assert(ret == 0 && at[0] == 0xe9 && !sites.a[0].gone);
	} else {
		ck_assert_int_eq(ret, 1);
		expect_own();
	}
}
END_TEST

/* The code between a site and its padding is read as the program has it. */
START_TEST(behind_another)
{
	static const uint8_t code[] = {0x0f, 0x05, 0xc3, 0x90, 0x0f, 0x05, 0x5b,
	                               0x5d, 0xc3, 0x90, 0x90, 0x90, 0xc3, NOP7};

	put(code, sizeof(code));
	ck_assert_int_eq(make(at), 1);
	lz_sites_release(&sites, &p);
	sites.a[0].gone = true;
	/* pop; pop; ret become a jump */
	struct lz_site x = {.at = (uintptr_t)at + 4,
	                    .patch = {{.at = (uintptr_t)at + 4, .len = LZ_JUMP}}};
	memcpy(x.patch[0].was, at + 4, LZ_JUMP);
	/* that is followed by nothing that can be decoded */
	memset(x.patch[0].now, 0x06, LZ_JUMP);
	memcpy(at + 4, x.patch[0].now, LZ_JUMP);
	memcpy(was, room, ROOM);
	sites.a[0] = x;
	ck_assert_int_eq(make(at), 1);
	expect_short(PADDING);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("short sites");
	TCase *c = tcase_create("short sites");

	tcase_add_checked_fixture(c, begin, end);
	tcase_add_loop_test(c, paddings, 0, sizeof(pads) / sizeof(*pads));
	tcase_add_test(c, made);
	tcase_add_test(c, several);
	tcase_add_test(c, taken);
	tcase_add_test(c, in_the_way);
	tcase_add_loop_test(c, far, 0, 3);
	tcase_add_test(c, given_back);
	tcase_add_test(c, trapped);
	tcase_add_loop_test(c, covered, 0, 4);
	tcase_add_test(c, behind_another);
	suite_add_tcase(s, c);
	return run_suite(s);
}
