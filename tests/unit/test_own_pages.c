/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which pages of a process are its own. */
#include "tests/unit/suite.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <common/base/cleanup.h>
#include <common/process/own_pages.h>
#include <lizard/error.h>
#include <lizard/recording.h>

enum { MOST = 8 };

struct seen {
	uint64_t addr[MOST];
	size_t n, stop_at;
};

static int see(void *arg, uint64_t addr)
{
	struct seen *s = arg;

	ck_assert_uint_lt(s->n, MOST);
	s->addr[s->n++] = addr;
	return s->n == s->stop_at ? 7 : 0;
}

static char *map(size_t len, int prot, int fd)
{
	int flags = MAP_PRIVATE | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0);
	char *p = mmap(NULL, len, prot, flags, fd, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

static int find(const char *p, size_t len, struct seen *s)
{
	lz_auto_close int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return lz_own_pages(fd, (uint64_t)(uintptr_t)p, (uint64_t)(uintptr_t)p + len, NULL, see, s);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A forged recording maps that much. */
START_TEST(a_large_mapping_costs_what_is_in_it)
{
	const size_t len = 1ul << 45;
	const double start = now();
	char *p = map(len, PROT_READ | PROT_WRITE, -1);
	struct seen s = {0};

	p[5 * LZ_PAGE] = 1;
	p[6 * LZ_PAGE + 9] = 1;
	p[len - 1] = 1;
	ck_assert_int_eq(find(p, len, &s), 0);
	ck_assert_uint_eq(s.n, 3);
	ck_assert_uint_eq(s.addr[0], (uintptr_t)p + 5 * LZ_PAGE);
	ck_assert_uint_eq(s.addr[1], (uintptr_t)p + 6 * LZ_PAGE);
	ck_assert_uint_eq(s.addr[2], (uintptr_t)p + len - LZ_PAGE);
	ck_assert_double_lt(now() - start, 1);
	munmap(p, len);
}
END_TEST

START_TEST(a_page_of_a_file_is_own_when_written)
{
	lz_auto_close int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *p = map(4 * LZ_PAGE, PROT_READ | PROT_WRITE, fd);
	struct seen s = {0};

	ck_assert_int_eq(p[0], 0x7f);
	ck_assert_int_eq(find(p, 4 * LZ_PAGE, &s), 0);
	ck_assert_uint_eq(s.n, 0);
	p[2 * LZ_PAGE] ^= 1;
	ck_assert_int_eq(find(p, 4 * LZ_PAGE, &s), 0);
	ck_assert_uint_eq(s.n, 1);
	ck_assert_uint_eq(s.addr[0], (uintptr_t)p + 2 * LZ_PAGE);
	munmap(p, 4 * LZ_PAGE);
}
END_TEST

START_TEST(more_pages_than_one_answer_holds)
{
	const size_t n = 2000, len = 2 * n * LZ_PAGE;
	char *p = map(len, PROT_READ | PROT_WRITE, -1);
	struct seen s = {.stop_at = 2};

	for (size_t i = 0; i < n; i++)
		p[2 * i * LZ_PAGE] = 1;
	ck_assert_int_eq(find(p, len, &s), 7);
	s = (struct seen){0};
	ck_assert_int_eq(munmap(p, (2 * n - 3) * LZ_PAGE), 0);
	ck_assert_int_eq(find(p, len, &s), 0);
	ck_assert_uint_eq(s.n, 1);
	ck_assert_uint_eq(s.addr[0], (uintptr_t)p + (2 * n - 2) * LZ_PAGE);
	munmap(p, len);
}
END_TEST

/* Entries of a page map in a plain file, which knows no PAGEMAP_SCAN, as older kernels do not. */
static int entries(size_t n)
{
	const uint64_t present = 1ull << 63, swapped = 1ull << 62, file = 1ull << 61;
	uint64_t entry[1000] = {[3] = present,
	                        [4] = present | file,
	                        [600] = swapped,
	                        [601] = swapped | file,
	                        [999] = present};
	int fd = memfd_create("entries", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, entry, n * sizeof(*entry)), (ssize_t)(n * sizeof(*entry)));
	return fd;
}

START_TEST(older_kernels)
{
	lz_auto_close int fd = entries(1000);
	struct seen s = {0};

	ck_assert_int_eq(lz_own_pages(fd, 0, 1000 * LZ_PAGE, NULL, see, &s), 0);
	ck_assert_uint_eq(s.n, 3);
	ck_assert_uint_eq(s.addr[0], 3 * LZ_PAGE);
	ck_assert_uint_eq(s.addr[1], 600 * LZ_PAGE);
	ck_assert_uint_eq(s.addr[2], 999 * LZ_PAGE);
}
END_TEST

START_TEST(older_kernels_stop_and_fail)
{
	const _Atomic bool stop = true;
	lz_auto_close int fd = entries(10);
	struct seen s = {0};

	ck_assert_int_eq(lz_own_pages(fd, 0, 10 * LZ_PAGE, &stop, see, &s), -1);
	ck_assert_str_eq(lz_error(), "interrupted");
	ck_assert_uint_eq(s.n, 0);
	ck_assert_int_eq(lz_own_pages(fd, 0, 20 * LZ_PAGE, NULL, see, &s), -1);
	ck_assert_uint_eq(s.n, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("own_pages");
	TCase *tc = tcase_create("own_pages");

	tcase_add_test(tc, a_large_mapping_costs_what_is_in_it);
	tcase_add_test(tc, a_page_of_a_file_is_own_when_written);
	tcase_add_test(tc, more_pages_than_one_answer_holds);
	tcase_add_test(tc, older_kernels);
	tcase_add_test(tc, older_kernels_stop_and_fail);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
