/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Buffers, varints, run lengths, zlib, zstd and LZ4; and what they do with garbage. */
#include "tests/unit/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <common/recording/codec.h>
#include <common/process/pagemap.h>
#include <lizard/recording.h>

START_TEST(varints)
{
	static const uint64_t v[] = {0,     1,          127,        128,       16383,
	                             16384, UINT32_MAX, 1ull << 63, UINT64_MAX};
	struct lz_buf b = {0};
	struct lz_cur c;

	for (unsigned i = 0; i < 9; i++)
		lz_put_var(&b, v[i]);
	c = (struct lz_cur){.p = b.p, .end = b.p + b.len};
	for (unsigned i = 0; i < 9; i++)
		ck_assert_uint_eq(lz_get_var(&c), v[i]);
	ck_assert(!c.bad && c.p == c.end);
	ck_assert_uint_eq(lz_get_var(&c), 0);
	ck_assert(c.bad);
	lz_buf_free(&b);
}
END_TEST

START_TEST(bad_varints)
{
	static const uint8_t endless[11] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	                                    0xff, 0xff, 0xff, 0xff, 0};
	static const uint8_t too_big[10] = {0xff, 0xff, 0xff, 0xff, 0xff,
	                                    0xff, 0xff, 0xff, 0xff, 2};
	struct lz_cur c = {.p = endless, .end = endless + 11};

	lz_get_var(&c);
	ck_assert(c.bad);
	c = (struct lz_cur){.p = too_big, .end = too_big + 10};
	lz_get_var(&c);
	ck_assert(c.bad);
	c = (struct lz_cur){.p = endless, .end = endless + 3};
	lz_get_var(&c);
	ck_assert(c.bad);
}
END_TEST

START_TEST(texts)
{
	struct lz_buf b = {0};
	struct lz_cur c;
	char *s;

	lz_put_text(&b, "hello");
	lz_put_text(&b, "");
	lz_put_var(&b, 3);
	lz_put(&b, "a\0b", 3);
	c = (struct lz_cur){.p = b.p, .end = b.p + b.len};
	s = lz_get_text(&c, 5);
	ck_assert_str_eq(s, "hello");
	free(s);
	s = lz_get_text(&c, 5);
	ck_assert_str_eq(s, "");
	free(s);
	ck_assert_ptr_null(lz_get_text(&c, 5));
	ck_assert(c.bad);
	c = (struct lz_cur){.p = b.p, .end = b.p + b.len};
	ck_assert_ptr_null(lz_get_text(&c, 4));
	lz_buf_free(&b);
}
END_TEST

/* A page with runs of every kind; the kinds of page follow from the seed. */
static void make_page(uint8_t *page, unsigned seed)
{
	srand(seed);
	memset(page, 0, LZ_PAGE);
	for (unsigned i = 0; i < LZ_PAGE;) {
		unsigned n = (unsigned)rand() % (seed % 3 ? 12 : 900) + 1;

		for (; n && i < LZ_PAGE; n--, i++)
			page[i] =
			    seed % 4 == 3 ? (uint8_t)(rand() >> 4) : (uint8_t)(rand() % 255 + 1);
		i += (unsigned)rand() % (seed % 5 ? 10 : 2000);
	}
}

START_TEST(run_lengths)
{
	uint8_t page[LZ_PAGE], back[LZ_PAGE];

	for (unsigned seed = 0; seed < 500; seed++) {
		struct lz_buf b = {0};
		struct lz_cur c;

		make_page(page, seed);
		if (seed == 0)
			memset(page, 0, LZ_PAGE);
		if (seed == 1)
			memset(page, 1, LZ_PAGE);
		lz_rle_put(&b, page);
		ck_assert_uint_le(b.len, LZ_PAGE + LZ_PAGE / 2);
		if (seed == 0)
			ck_assert_uint_le(b.len, 3);
		c = (struct lz_cur){.p = b.p, .end = b.p + b.len};
		memset(back, 0xee, LZ_PAGE);
		ck_assert_int_eq(lz_rle_get(&c, back), 0);
		ck_assert(c.p == c.end);
		ck_assert_mem_eq(page, back, LZ_PAGE);
		/* Cut anywhere it is refused, not read beyond. */
		for (size_t cut = 0; cut < b.len; cut += 1 + b.len / 7) {
			uint8_t *copy = malloc(cut + 1);

			memcpy(copy, b.p, cut);
			c = (struct lz_cur){.p = copy, .end = copy + cut};
			ck_assert_int_eq(lz_rle_get(&c, back), -1);
			free(copy);
		}
		lz_buf_free(&b);
	}
}
END_TEST

START_TEST(run_lengths_of_nothing)
{
	static const uint8_t empty_runs[] = {0, 0, 0, 0, 0, 0};
	uint8_t page[LZ_PAGE];
	struct lz_cur c = {.p = empty_runs, .end = empty_runs + 6};

	ck_assert_int_eq(lz_rle_get(&c, page), -1);
}
END_TEST

START_TEST(xor_twice)
{
	uint8_t a[LZ_PAGE + 1], b[LZ_PAGE], was[LZ_PAGE];

	make_page(a + 1, 7);
	make_page(b, 8);
	memcpy(was, a + 1, LZ_PAGE);
	lz_xor_pages(a + 1, a + 1, b);
	ck_assert_uint_eq(a[5], was[4] ^ b[4]);
	lz_xor_pages(a + 1, a + 1, b);
	ck_assert_mem_eq(a + 1, was, LZ_PAGE);
}
END_TEST

START_TEST(packing)
{
	enum { N = 100000 };
	struct lz_packer p = {0};
	uint8_t *in = malloc(N), *back = malloc(N);

	for (size_t i = 0; i < N; i++)
		in[i] = (uint8_t)(i * i >> 10);
	for (int codec = 0; codec < LZ_CODECS; codec++) {
		struct lz_buf b = {0};

		ck_assert_int_eq(lz_pack(&p, codec, in, N, &b), 0);
		ck_assert_int_eq(lz_unpack(codec, b.p, b.len, back, N), 0);
		ck_assert_mem_eq(in, back, N);
		/* Faster, and larger where it is LZ4. */
		struct lz_packer hasty = {.haste = 64};
		struct lz_buf larger = {0};

		ck_assert_int_eq(lz_pack(&hasty, codec, in, N, &larger), 0);
		ck_assert(codec == LZ_CODEC_LZ4 ? larger.len > b.len : larger.len == b.len);
		ck_assert_int_eq(lz_unpack(codec, larger.p, larger.len, back, N), 0);
		ck_assert_mem_eq(in, back, N);
		lz_buf_free(&larger);
		lz_packer_free(&hasty);
		/* Neither more nor less than announced, and no garbage. */
		ck_assert_int_eq(lz_unpack(codec, b.p, b.len, back, N - 1), -1);
		ck_assert_int_eq(lz_unpack(codec, b.p, b.len - 1, back, N), -1);
		b.len = 0;
		ck_assert_int_eq(lz_pack(&p, codec, in, 10, &b), 0);
		ck_assert_int_eq(lz_unpack(codec, b.p, b.len, back, N), -1);
		lz_buf_free(&b);
	}
	ck_assert_int_eq(lz_unpack(LZ_CODECS, in, N, back, N), -1);
	lz_packer_free(&p);
	free(in);
	free(back);
}
END_TEST

START_TEST(page_map)
{
	struct lz_pagemap m = {0};
	static uint8_t what[3];

	ck_assert_ptr_null(lz_pagemap_get(&m, 0));
	for (uint64_t i = 0; i < 10000; i++)
		*lz_pagemap_at(&m, i * i * LZ_PAGE) = &what[i % 3];
	for (uint64_t i = 0; i < 10000; i += 2)
		*lz_pagemap_at(&m, i * i * LZ_PAGE) = NULL;
	for (uint64_t i = 0; i < 10000; i++)
		ck_assert_ptr_eq(lz_pagemap_get(&m, i * i * LZ_PAGE), i % 2 ? &what[i % 3] : NULL);
	ck_assert_ptr_null(lz_pagemap_get(&m, 2 * LZ_PAGE));
	*lz_pagemap_at(&m, UINT64_MAX - LZ_PAGE + 1) = what;
	ck_assert_ptr_eq(lz_pagemap_get(&m, UINT64_MAX - LZ_PAGE + 1), what);
	lz_pagemap_free(&m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("codec");
	TCase *t = tcase_create("all");

	tcase_add_test(t, varints);
	tcase_add_test(t, bad_varints);
	tcase_add_test(t, texts);
	tcase_add_test(t, run_lengths);
	tcase_add_test(t, run_lengths_of_nothing);
	tcase_add_test(t, xor_twice);
	tcase_add_test(t, packing);
	tcase_add_test(t, page_map);
	suite_add_tcase(s, t);
	return run_suite(s);
}
