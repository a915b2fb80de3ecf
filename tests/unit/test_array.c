/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growing arrays and binary search, and values that their scope gives back. */
#include "tests/unit/suite.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <common/base/array.h>
#include <common/base/cleanup.h>
#include <lizard/error.h>

START_TEST(reserve_keeps_what_is_there)
{
	uint64_t *v = NULL;
	size_t room = 0;

	for (size_t n = 0; n < 1000; n++) {
		ck_assert_int_eq(lz_reserve(v, room, n + 1), 0);
		ck_assert_uint_gt(room, n);
		v[n] = n * n;
	}
	for (size_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(v[i], i * i);
	ck_assert_int_eq(lz_reserve(v, room, 5000), 0);
	ck_assert_uint_ge(room, 5000);
	memset(v, 1, 5000 * sizeof(*v));
	free(v);
}
END_TEST

START_TEST(reserve_is_called_seldom)
{
	uint32_t *v = NULL, room = 0, last = 0, changes = 0;

	for (uint32_t n = 0; n < 100000; n++, last = room) {
		ck_assert_int_eq(lz_reserve(v, room, n + 1), 0);
		changes += room != last;
	}
	ck_assert_uint_lt(changes, 20);
	ck_assert_int_eq(lz_reserve(v, room, 0), 0);
	ck_assert_uint_eq(room, last);
	free(v);
}
END_TEST

/* The capacity's type bounds it, rather than being cut off. */
START_TEST(reserve_within_the_type_of_room)
{
	uint64_t *v = NULL;
	uint8_t room = 0;

	for (unsigned n = 0; n < 255; n++) {
		ck_assert_int_eq(lz_reserve(v, room, n + 1), 0);
		v[n] = n;
	}
	ck_assert_uint_eq(room, 255);
	ck_assert_int_eq(lz_reserve(v, room, 256), -1);
	ck_assert_str_eq(lz_error(), "out of memory");
	ck_assert_uint_eq(room, 255);
	ck_assert_uint_eq(v[254], 254);
	free(v);
}
END_TEST

/* The sanitizer ends a program that asks for too much, if it is not told to refuse. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

START_TEST(reserve_fails)
{
	uint64_t *v = NULL, *old;
	size_t room = 0;

	ck_assert_int_eq(lz_reserve(v, room, SIZE_MAX / 8 + 2),
	                 -1); /* more bytes than there can be */
	ck_assert_ptr_null(v);
	ck_assert_uint_eq(room, 0);
	ck_assert_int_eq(lz_reserve(v, room, 3), 0);
	v[2] = 7;
	old = v;
	ck_assert_int_eq(lz_reserve(v, room, SIZE_MAX), -1);
	ck_assert_ptr_eq(v, old);
	ck_assert_uint_ge(room, 3);
	ck_assert_uint_lt(room, 1000);
	ck_assert_uint_eq(v[2], 7);
	free(v);
}
END_TEST

START_TEST(extend_by_one)
{
	lz_auto_free uint32_t *v = NULL;
	uint32_t n = 0;

	for (; n < 1000; n++) {
		ck_assert_int_eq(lz_extend(v, n), 0);
		v[n] = 3 * n;
	}
	for (n = 500; n < 1000; n++) { /* it may fall */
		ck_assert_int_eq(lz_extend(v, n), 0);
		v[n] = 3 * n;
	}
	for (uint32_t i = 0; i < n; i++)
		ck_assert_uint_eq(v[i], 3 * i);
}
END_TEST

START_TEST(extend_a_list)
{
	lz_auto_free const char **list = NULL;

	for (size_t n = 0; n < 100; n++) {
		ck_assert_int_eq(lz_extend(list, n + 1), 0);
		list[n] = "name";
		list[n + 1] = NULL;
	}
	for (size_t i = 0; i < 100; i++)
		ck_assert_str_eq(list[i], "name");
	ck_assert_ptr_null(list[100]);
}
END_TEST

/* All arrays of up to 8 elements from 0 to 3. */
START_TEST(lower_bound)
{
	for (uint32_t n = 0; n <= 8; n++)
		for (uint32_t bounds = 0; bounds < 9 * 9 * 9; bounds++) {
			uint8_t v[8];
			uint32_t c[] = {bounds % 9, bounds / 9 % 9, bounds / 81};

			for (uint32_t k = 0; k < n; k++)
				v[k] = (uint8_t)((k >= c[0]) + (k >= c[1]) + (k >= c[2]));
			for (uint8_t x = 0; x < 5; x++) {
				uint32_t below = 0, up_to = 0;

				for (uint32_t k = 0; k < n; k++) {
					below += v[k] < x;
					up_to += v[k] <= x;
				}
				ck_assert_uint_eq(lz_lower_bound(i, n, v[i] < x), below);
				ck_assert_uint_eq(lz_lower_bound(i, n, v[i] <= x), up_to);
			}
		}
}
END_TEST

START_TEST(lower_bound_of_very_many)
{
	uint32_t calls = 0;
	uint64_t n = UINT64_MAX, x = UINT64_MAX - 5;

	ck_assert_uint_eq(lz_lower_bound(i, n, (calls++, i < x)), x);
	ck_assert_uint_le(calls, 64);
	ck_assert_uint_eq(lz_lower_bound(i, UINT32_MAX, i < UINT32_MAX - 1), UINT32_MAX - 1);
	ck_assert_uint_eq(lz_lower_bound(i, n, true), n);
	ck_assert_uint_eq(lz_lower_bound(i, n, false), 0);
}
END_TEST

static int open_in_scope(void)
{
	lz_auto_close int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	lz_auto_close int none = -1;

	ck_assert_int_ge(fd, 0);
	return fd + 0 * none;
}

static char *keep_in_scope(void)
{
	lz_auto_free char *text = strdup("kept"), *gone = strdup("gone");

	ck_assert_ptr_nonnull(gone);
	return lz_keep(text);
}

START_TEST(cleanup)
{
	int fd = open_in_scope();

	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	ck_assert_int_eq(open_in_scope(), fd);
	lz_auto_free char *text = keep_in_scope();
	ck_assert_str_eq(text, "kept");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("array");
	TCase *tc = tcase_create("array");

	tcase_add_test(tc, reserve_keeps_what_is_there);
	tcase_add_test(tc, reserve_is_called_seldom);
	tcase_add_test(tc, reserve_within_the_type_of_room);
	tcase_add_test(tc, reserve_fails);
	tcase_add_test(tc, extend_by_one);
	tcase_add_test(tc, extend_a_list);
	tcase_add_test(tc, lower_bound);
	tcase_add_test(tc, lower_bound_of_very_many);
	tcase_add_test(tc, cleanup);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
