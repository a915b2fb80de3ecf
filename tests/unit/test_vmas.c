/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tracer/state/vmas.h>

enum { PAGES = 64 };

/* The definition: one entry for each page. */
struct page {
	bool mapped;
	uint32_t prot, file, flags;
	uint64_t offset;
};

static uint64_t at(int page)
{
	return 0x10000 + (uint64_t)page * LZ_PAGE;
}

static void compare(const struct lz_vmas *m, const struct page *plain)
{
	for (size_t i = 0; i < m->n; i++) {
		ck_assert(m->a[i].v.start < m->a[i].v.end);
		ck_assert(!i || m->a[i - 1].v.end <= m->a[i].v.start);
	}
	for (int p = 0; p < PAGES; p++) {
		ptrdiff_t i = lz_vmas_find(m, at(p) + 5);
		ck_assert_int_eq(i >= 0, plain[p].mapped);
		if (i < 0)
			continue;
		const struct lz_vma *v = &m->a[i].v;
		ck_assert_uint_eq(v->prot, plain[p].prot);
		ck_assert_uint_eq(v->file, plain[p].file);
		ck_assert_uint_eq(v->flags, plain[p].flags);
		if (lz_vma_has_offset(v))
			ck_assert_uint_eq(v->offset + (at(p) - v->start), plain[p].offset);
	}
}

static void change(struct lz_vmas *m, struct page *plain, int from, int to)
{
	struct lz_area a = {.v = {.start = at(from),
	                          .end = at(to),
	                          .prot = (uint32_t)random() % 8,
	                          .flags = MAP_PRIVATE,
	                          .file = random() % 2 ? LZ_NO_FILE : (uint32_t)random() % 3}};

	/* a file, memory of its own, or an object's */
	if (a.v.file == LZ_NO_FILE)
		a.v.flags = MAP_SHARED | (uint32_t)(random() % 3) << LZ_OBJECT_SHIFT;
	a.v.offset = lz_vma_has_offset(&a.v) ? (uint64_t)(random() % 4 + from) * LZ_PAGE : 0;
	switch (random() % 3) {
	case 0:
		ck_assert_int_eq(lz_vmas_add(m, &a), 0);
		for (int p = from; p < to; p++)
			plain[p] = (struct page){true, a.v.prot, a.v.file, a.v.flags,
			                         a.v.offset + (uint64_t)(p - from) * LZ_PAGE};
		break;
	case 1:
		ck_assert_int_eq(lz_vmas_remove(m, at(from), at(to)), 0);
		for (int p = from; p < to; p++)
			plain[p].mapped = false;
		break;
	case 2:
		ck_assert_int_eq(lz_vmas_protect(m, at(from), at(to), a.v.prot), 0);
		for (int p = from; p < to; p++)
			plain[p].prot = a.v.prot;
		break;
	}
}

START_TEST(as_page_by_page)
{
	srandom(7);
	for (int round = 0; round < 30; round++) {
		struct lz_vmas m = {0};
		struct page plain[PAGES] = {{0}};
		for (int i = 0; i < 100; i++) {
			int from = (int)(random() % PAGES);
			change(&m, plain, from, from + 1 + (int)(random() % (PAGES - from)));
			compare(&m, plain);
		}
		lz_vmas_clear(&m);
	}
}
END_TEST

/* What is known of code is known of nothing that comes to it, or is protected anew. */
START_TEST(knows_only_code_that_was_looked_at)
{
	struct lz_vmas m = {0};
	struct lz_area a = {.v = {.start = at(0),
	                          .end = at(2),
	                          .prot = PROT_READ | PROT_EXEC,
	                          .flags = MAP_PRIVATE,
	                          .file = 1}};

	ck_assert_int_eq(lz_vmas_add(&m, &a), 0);
	m.a[0].counters = true;
	struct lz_area more = m.a[0];
	more.v.start = at(2);
	more.v.end = at(3);
	more.v.offset = 2 * LZ_PAGE;
	const uint64_t before = m.changes_of_code;
	ck_assert_int_eq(lz_vmas_add(&m, &more), 0);
	ck_assert_uint_eq(m.n, 1);
	ck_assert(!m.a[0].counters);
	ck_assert_uint_gt(m.changes_of_code, before);

	m.a[0].counters = true;
	ck_assert_int_eq(lz_vmas_protect(&m, at(1), at(2), PROT_READ), 0);
	ck_assert_uint_eq(m.n, 3);
	ck_assert(m.a[0].counters && m.a[2].counters);
	const uint64_t now = m.changes_of_code;
	ck_assert_int_eq(lz_vmas_protect(&m, at(1), at(2), PROT_READ | PROT_EXEC), 0);
	ck_assert_uint_eq(m.n, 1);
	ck_assert(!m.a[0].counters);
	ck_assert_uint_gt(m.changes_of_code, now);
	lz_vmas_clear(&m);
}
END_TEST

START_TEST(joins_what_belongs_together)
{
	struct lz_vmas m = {0};

	for (int p = 0; p < 10; p += 2) {
		struct lz_area a = {.v = {at(p), at(p + 1), 3, MAP_PRIVATE, 1, 0, at(p)}};
		ck_assert_int_eq(lz_vmas_add(&m, &a), 0);
	}
	ck_assert_uint_eq(m.n, 5);
	for (int p = 1; p < 9; p += 2) {
		struct lz_area a = {.v = {at(p), at(p + 1), 3, MAP_PRIVATE, 1, 0, at(p)}};
		ck_assert_int_eq(lz_vmas_add(&m, &a), 0);
	}
	ck_assert_uint_eq(m.n, 1);
	lz_vmas_clear(&m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vmas");
	TCase *c = tcase_create("vmas");

	tcase_add_test(c, as_page_by_page);
	tcase_add_test(c, knows_only_code_that_was_looked_at);
	tcase_add_test(c, joins_what_belongs_together);
	suite_add_tcase(s, c);
	return run_suite(s);
}
