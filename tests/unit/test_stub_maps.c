/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stub, called as it is by a program, and calls that change mappings: which it makes. */
#include "tests/unit/suite.h"

#include <check.h>
#include <fcntl.h>
#include <lizard/marker.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tracer/calls/fast.h"
#include "tracer/stub/stub.h"

enum { PAGE_LEN = 4096, PAGES = 40 };

static struct lz_call_page *page;
static int file; /* of PAGES pages */

static int new_file(const char *first)
{
	const int fd = (int)syscall(SYS_memfd_create, "library", 0U);
	struct stat st;

	ck_assert(fd >= 0 && ftruncate(fd, (off_t)PAGES * PAGE_LEN) == 0);
	ck_assert_int_eq(pwrite(fd, first, strlen(first), 0), (ssize_t)strlen(first));
	ck_assert(fstat(fd, &st) == 0);
	page->local[0] = st.st_dev;
	page->fd[fd] = LZ_FD_READ | LZ_FD_CLOSE;
	return fd;
}

static void begin(void)
{
	page =
	    mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(page != MAP_FAILED);
	lz_fast_calls(page);
	page->go = 1;
	file = new_file("\x7f"
	                "ELF");
}

/* What the call has given, if it has been made. */
static int64_t result;

static uint32_t call(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, int64_t e,
                     uint64_t f)
{
	uint64_t regs[] = {nr, a, b, c, d, (uint64_t)e, f};
	const uint32_t ret = lz_stub_call(page, regs, 0);

	result = (int64_t)regs[0];
	return ret;
}

/* What a library was loaded by is unmapped like plain memory, and only once. */
START_TEST(unmapped)
{
	const uint64_t at = (uintptr_t)mmap(NULL, 8 * PAGE_LEN, PROT_READ, MAP_PRIVATE, file, 0);

	page->n_files = 2;
	page->file[0] = (struct lz_plain_range){at, at + 6 * PAGE_LEN};
	page->file[1] = (struct lz_plain_range){at + 7 * PAGE_LEN, at + 8 * PAGE_LEN};
	ck_assert_uint_eq(call(SYS_munmap, at + 5 * PAGE_LEN, 3 * PAGE_LEN, 0, 0, 0, 0), LZ_STOP);
	ck_assert_uint_eq(call(SYS_munmap, at + PAGE_LEN, 2 * PAGE_LEN - 9, 0, 0, 0, 0), LZ_MADE);
	ck_assert_uint_eq(result, 0);
	ck_assert_uint_eq(call(SYS_munmap, at + 2 * PAGE_LEN, PAGE_LEN, 0, 0, 0, 0), LZ_STOP);
	ck_assert_uint_eq(call(SYS_munmap, at, PAGE_LEN, 0, 0, 0, 0), LZ_MADE);
	ck_assert_uint_eq(call(SYS_munmap, at + 7 * PAGE_LEN, PAGE_LEN, 0, 0, 0, 0), LZ_MADE);
	ck_assert_uint_eq(page->n_files, 1);
	ck_assert(page->file[0].start == at + 3 * PAGE_LEN &&
	          page->file[0].end == at + 6 * PAGE_LEN);
}
END_TEST

START_TEST(heaps_end)
{
	page->brk_least = (uint64_t)(uintptr_t)sbrk(0);
	ck_assert_uint_eq(call(SYS_brk, 0, 0, 0, 0, 0, 0), LZ_MADE);
	ck_assert_int_eq(result, (int64_t)(uintptr_t)sbrk(0));
	ck_assert_uint_eq(call(SYS_brk, page->brk_least - 1, 0, 0, 0, 0, 0), LZ_STOP);
	/* a program's hello */
	ck_assert_uint_eq(call(SYS_brk, 0, 1, 2, 3, 4, LZ_HELLO_MAGIC << 16 | 0x200), LZ_STOP);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stub_maps");
	TCase *c = tcase_create("calls");

	tcase_add_checked_fixture(c, begin, NULL);
	tcase_add_test(c, unmapped);
	tcase_add_test(c, heaps_end);
	suite_add_tcase(s, c);
	return run_suite(s);
}
