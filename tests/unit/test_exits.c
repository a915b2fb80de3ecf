/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where control can leave a piece of code, and come into it. */
#include "tests/unit/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "replayer/program/exits.h"

enum { BASE = 0x1000 };

/* clang-format off */
static const uint8_t code[] = {
	0x90,                         /* 00 nop: of the piece's first byte, not of the range */
	0x74, 0x07,                   /* 01 je 0a */
	0x75, 0x20,                   /* 03 jne 25: outside */
	0xe8, 0x00, 0x10, 0x00, 0x00, /* 05 call */
	0xeb, 0xf4,                   /* 0a jmp 00: outside, before the range */
	0x0f, 0x84, 0x0e, 0x00, 0x00, 0x00, /* 0c je 20: outside */
	0x0f, 0x85, 0x0d, 0x00, 0x00, 0x00, /* 12 jne 25 again */
	0xff, 0xe0,                   /* 18 jmp *%rax */
	0x41, 0xc6, 0x07, 0x01,       /* 1a movb $1,(%r15) */
	0xeb, 0xe1,                   /* 1e jmp 01: inside */
	0xe9, 0x00, 0x01, 0x00, 0x00, /* 20 jmp 125 */
	0xc3,                         /* 25 ret */
};
/* clang-format on */

static int by_pc(const void *a, const void *b)
{
	const struct lz_exit *x = a, *y = b;

	return (x->pc > y->pc) - (x->pc < y->pc);
}

/* Those of one range of BYTES. */
static int exits_of(const uint8_t *bytes, uint64_t len, bool hidden_start, struct lz_exit *found)
{
	struct lz_piece_of_code piece = {
	    .range = {{BASE, BASE + len}}, .n_ranges = 1, .hidden_starts = hidden_start};
	uint8_t *copy = malloc(len);
	int n;

	memcpy(copy, bytes, len);
	n = lz_exits_find(&piece, &copy, found);
	free(copy);
	return n;
}

static void compare(uint64_t len, const struct lz_exit *wanted, int n)
{
	struct lz_exit found[LZ_EXITS_MAX];

	ck_assert_int_eq(exits_of(code, len, true, found), n);
	qsort(found, (size_t)n, sizeof(*found), by_pc);
	for (int i = 0; i < n; i++) {
		ck_assert_uint_eq(found[i].pc, BASE + wanted[i].pc);
		ck_assert_int_eq(found[i].inside, wanted[i].inside);
	}
}

START_TEST(exits)
{
	static const struct lz_exit some[] = {
	    {0x0a, true}, {0x18, true}, {0x20, false}, {0x25, false}};
	static const struct lz_exit all[] = {
	    {0x0a, true}, {0x18, true}, {0x20, true}, {0x25, true}, {0x26, false}};

	compare(0x20, some, 4); /* whose end is a target, too */
	compare(sizeof(code), all, 5);
}
END_TEST

static bool add_entries(const uint8_t *bytes, uint64_t len, uint64_t start, uint64_t end,
                        struct lz_entries *e)
{
	struct lz_piece_of_code piece = {.range = {{BASE + start, BASE + end}}, .n_ranges = 1};

	return lz_entries_add(bytes, BASE, BASE + len, &piece, e);
}

START_TEST(entries)
{
	/* start and end of a piece, and what leads into it */
	static const struct {
		uint64_t start, end, from[4];
		int n;
	} all[] = {
	    {0x01, 0x0a, {0x00, 0x18, 0x1e}, 3}, /* fallen into; an indirect jump; a direct one */
	    {0x0a, 0x0c, {0x01, 0x05, 0x18}, 3}, /* a condition; back from a call */
	    {0x0c, 0x20, {0}, 0},                /* behind a jump */
	    {0x20, 0x26, {0x03, 0x0c, 0x12, 0x18}, 4}, /* in the middle, too */
	};
	static const uint8_t no_code[] = {0x90, 0x06, 0x90};
	uint8_t jumps[2 * (LZ_EXITS_MAX + 1)];

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct lz_entries e = {.n = 0};

		ck_assert(add_entries(code, sizeof(code), all[i].start, all[i].end, &e));
		/* nothing is found twice */
		ck_assert(add_entries(code, sizeof(code), all[i].start, all[i].end, &e));
		ck_assert_int_eq(e.n, all[i].n);
		for (int k = 0; k < all[i].n; k++)
			ck_assert_uint_eq(e.pc[k], BASE + all[i].from[k]);
	}
	ck_assert(!add_entries(no_code, 3, 0, 1, &(struct lz_entries){.n = 0}));
	for (size_t i = 0; i < sizeof(jumps); i += 2) /* jmp *%rax */
		jumps[i] = 0xff, jumps[i + 1] = 0xe0;
	ck_assert(!add_entries(jumps, sizeof(jumps), 0x1000, 0x1001, &(struct lz_entries){.n = 0}));
	ck_assert(
	    add_entries(jumps, sizeof(jumps) - 2, 0x1000, 0x1001, &(struct lz_entries){.n = 0}));
}
END_TEST

/* The same code as a piece of several ranges, [1, 5) and [0x18, 0x26): control stays in it from one to the other. */
START_TEST(ranges)
{
	static const struct lz_exit wanted[] = {{0x05, false}, {0x0a, false}, {0x18, true},
	                                        {0x20, true},  {0x25, true},  {0x26, false}};
	struct lz_piece_of_code piece = {
	    .range = {{BASE + 1, BASE + 5}, {BASE + 0x18, BASE + 0x26}}, .n_ranges = 2};
	uint8_t first[4], second[0x26 - 0x18], *bytes[] = {first, second};
	struct lz_exit found[LZ_EXITS_MAX];
	struct lz_entries e = {.n = 0};

	memcpy(first, code + 1, sizeof(first));
	memcpy(second, code + 0x18, sizeof(second));
	ck_assert_int_eq(lz_exits_find(&piece, bytes, found), 6);
	qsort(found, 6, sizeof(*found), by_pc);
	for (int i = 0; i < 6; i++) {
		ck_assert_uint_eq(found[i].pc, BASE + wanted[i].pc);
		ck_assert_int_eq(found[i].inside, wanted[i].inside);
	}

	/* jmp 1e to 01, of the other range, is no entry */
	ck_assert(lz_entries_add(code, BASE, BASE + sizeof(code), &piece, &e));
	ck_assert_int_eq(e.n, 3);
	ck_assert_uint_eq(e.pc[0], BASE + 0x00);
	ck_assert_uint_eq(e.pc[1], BASE + 0x0c);
	ck_assert_uint_eq(e.pc[2], BASE + 0x12);

	piece.hidden_starts = true; /* then it leads out */
	ck_assert_int_eq(lz_exits_find(&piece, bytes, found), 7);
}
END_TEST

/* [0, end) of the code and a part of it: is that got into at its beginning only? */
static bool enters(uint64_t end, uint64_t from, uint64_t to)
{
	struct lz_part part[2] = {{0, 0}, {BASE + from, BASE + to}};

	return lz_enters_at_start(code, BASE, BASE + end, part, 2);
}

START_TEST(parts)
{
	static const uint8_t indirect[] = {0xff, 0xe0}, call[] = {0xff, 0xd0, 0x90};
	struct lz_part behind = {BASE + 1, BASE + 3};

	ck_assert(enters(0x0c, 0x0a, 0x0c)); /* a jump's target */
	ck_assert(!enters(0x0c, 0x09, 0x0c));
	ck_assert(enters(0x0c, 0x0b, 0x0c));
	ck_assert(!enters(0x18, 0x01, 0x26)); /* 25, from two conditions */
	ck_assert(enters(0x18, 0x01, 0x0a));
	ck_assert(!enters(0x1a, 0x25, 0x26)); /* an indirect jump leads anywhere */
	ck_assert(!lz_enters_at_start(indirect, BASE, BASE + 2, NULL, 0));
	ck_assert(lz_enters_at_start(call, BASE, BASE + 3, &behind, 1));
	ck_assert(!enters(0x07, 0x25, 0x26)); /* cut off */
	ck_assert(!lz_has_calls(code, BASE, BASE + 5));
	ck_assert(lz_has_calls(code, BASE, BASE + 0x0a));
	ck_assert(lz_has_calls(call, BASE, BASE + 3));
}
END_TEST

START_TEST(leads)
{
	/* offset of the instruction in `code`, where it leads, whether it always does */
	static const struct {
		uint64_t at, to;
		bool always;
	} all[] = {
	    {0x00, 0x01, true},                                             /* an ordinary one */
	    {0x00, 0x02, false},  {0x01, 0x03, false}, {0x01, 0x0a, false}, /* a condition */
	    {0x05, 0x100a, true}, {0x05, 0x0a, false},                      /* a call */
	    {0x0a, 0x00, true},   {0x20, 0x125, true}, {0x20, 0x25, false}, /* a jump */
	    {0x18, 0x1a, false},                                            /* an indirect one */
	    {0x25, 0x26, false},                                            /* ret */
	};
	static const uint8_t syscall[] = {0x0f, 0x05}, rep_movsb[] = {0xf3, 0xa4},
	                     repne_scasb[] = {0xf2, 0xae}, movsb[] = {0xa4};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		ck_assert_int_eq(lz_always_leads(code + all[i].at, sizeof(code) - all[i].at,
		                                 BASE + all[i].at, BASE + all[i].to),
		                 all[i].always);
	ck_assert(!lz_always_leads(syscall, sizeof(syscall), BASE, BASE + 2));
	/* a step is one iteration */
	ck_assert(!lz_always_leads(rep_movsb, sizeof(rep_movsb), BASE, BASE + 2));
	ck_assert(!lz_always_leads(repne_scasb, sizeof(repne_scasb), BASE, BASE + 2));
	ck_assert(lz_always_leads(movsb, sizeof(movsb), BASE, BASE + 1));
	ck_assert(!lz_always_leads(code + 5, 3, BASE, BASE + 3)); /* cut off */
}
END_TEST

START_TEST(refused)
{
	struct lz_exit found[LZ_EXITS_MAX];
	static const uint8_t no_code[] = {0x90, 0x06, 0x90};
	uint8_t rets[LZ_EXITS_MAX + 1];

	/* In the middle of an instruction; what is no instruction; too many exits. */
	ck_assert_int_eq(exits_of(code, 7, false, found), -1);
	ck_assert_int_eq(exits_of(no_code, 3, false, found), -1);
	memset(rets, 0xc3, sizeof(rets));
	ck_assert_int_eq(exits_of(rets, LZ_EXITS_MAX - 1, false, found), LZ_EXITS_MAX);
	ck_assert_int_eq(exits_of(rets, LZ_EXITS_MAX, false, found), -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("exits");
	TCase *t = tcase_create("exits");

	tcase_add_test(t, exits);
	tcase_add_test(t, entries);
	tcase_add_test(t, ranges);
	tcase_add_test(t, parts);
	tcase_add_test(t, leads);
	tcase_add_test(t, refused);
	suite_add_tcase(s, t);
	return run_suite(s);
}
