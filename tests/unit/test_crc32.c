/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sum is zlib's, wherever the bytes are, however many, and in however many parts. */
#include "suite.h"

#include <common/base/crc32.h>

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

enum { MOST = 1200, LONG = 1 << 20 };

static uint8_t bytes[LONG + 64];

static void begin(void)
{
	srand(3);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(rand() >> 7);
}

START_TEST(lengths)
{
	for (size_t n = 0; n < MOST; n++)
		for (size_t off = 0; off < 20; off++) {
			const uint32_t first = n % 3 ? (uint32_t)rand() * 2654435761u : 0;
			ck_assert_uint_eq(lz_crc32(first, bytes + off, n),
			                  (uint32_t)crc32_z(first, bytes + off, n));
		}
	ck_assert_uint_eq(lz_crc32(0, bytes, LONG), (uint32_t)crc32_z(0, bytes, LONG));
}
END_TEST

START_TEST(parts)
{
	for (int i = 0; i < 300; i++) {
		const size_t a = (size_t)rand() % LONG, b = (size_t)rand() % LONG;
		const size_t from = a < b ? a : b, to = a < b ? b : a;
		uint32_t crc = lz_crc32(0, bytes, from);

		crc = lz_crc32(crc, bytes + from, to - from);
		ck_assert_uint_eq(lz_crc32(crc, bytes + to, LONG - to),
		                  (uint32_t)crc32_z(0, bytes, LONG));
	}
}
END_TEST

/* Each bit of a message is in its sum. */
START_TEST(bits)
{
	const uint32_t sum = lz_crc32(0, bytes, MOST);

	for (size_t i = 0; i < (size_t)MOST * 8; i++) {
		bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		ck_assert_uint_ne(lz_crc32(0, bytes, MOST), sum);
		bytes[i / 8] ^= (uint8_t)(1 << i % 8);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("crc32");
	TCase *c = tcase_create("crc32");

	tcase_add_checked_fixture(c, begin, NULL);
	tcase_add_test(c, lengths);
	tcase_add_test(c, parts);
	tcase_add_test(c, bits);
	suite_add_tcase(s, c);
	return run_suite(s);
}
