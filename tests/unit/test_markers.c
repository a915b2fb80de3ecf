/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/suite.h"

#include <check.h>
#include <common/recording/markers.h>
#include <lizard/marker.h>
#include <stdlib.h>
#include <string.h>

/* The definition, byte by byte. */
static uint32_t plain_end(const uint8_t *mem, uint32_t from, uint32_t limit)
{
	unsigned size;

	while (from < limit && (size = lz_marker_size(mem[from])) && size <= limit - from)
		from += size;
	return from;
}

START_TEST(as_byte_by_byte)
{
	uint8_t mem[256 + 8];

	srandom(1);
	for (int round = 0; round < 20000; round++) {
		uint32_t limit = (uint32_t)random() % 256;
		uint32_t from = limit ? (uint32_t)random() % limit : 0;
		int rare = 1 + (int)(random() % 64);
		for (size_t i = 0; i < sizeof(mem); i++)
			mem[i] = random() % rare ? 1 + (uint8_t)(random() % LZ_EDGE_MAX)
			                         : (uint8_t)random();
		ck_assert_uint_eq(lz_markers_end(mem, from, limit), plain_end(mem, from, limit));
	}
}
END_TEST

START_TEST(bounds)
{
	uint8_t mem[16];

	memset(mem, 1, sizeof(mem));
	ck_assert_uint_eq(lz_markers_end(mem, 0, 0), 0);
	ck_assert_uint_eq(lz_markers_end(mem, 5, 5), 5);
	ck_assert_uint_eq(lz_markers_end(mem, 0, 16), 16);
	mem[9] = 0;
	ck_assert_uint_eq(lz_markers_end(mem, 0, 16), 9);
	mem[9] = LZ_LANDING;
	ck_assert_uint_eq(lz_markers_end(mem, 0, 16), 9);
	mem[7] = LZ_LANDING;
	ck_assert_uint_eq(lz_markers_end(mem, 0, 16), 16);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("markers");
	TCase *t = tcase_create("end");

	tcase_add_test(t, as_byte_by_byte);
	tcase_add_test(t, bounds);
	suite_add_tcase(s, t);
	return run_suite(s);
}
