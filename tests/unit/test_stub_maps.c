/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stub, called as it is by a program, and calls that change mappings: which it makes, and when the tracer
 * is told. */
#include "tests/unit/suite.h"

#include <check.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <lizard/marker.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "tracer/calls/fast.h"
#include "tracer/stub/stub.h"

enum { PAGE_LEN = 4096, PAGES = 40, LINKER = 0x7000000, OTHER = 0x8000000 };
enum { FIXED = MAP_PRIVATE | MAP_FIXED, FILE_ = MAP_PRIVATE | MAP_DENYWRITE };

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
	page->linker = (struct lz_plain_range){LINKER, LINKER + PAGE_LEN};
	page->site = LINKER + 2;
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

static uint32_t map(uint64_t at, uint64_t pages, uint64_t prot, uint64_t flags, int fd)
{
	return call(SYS_mmap, at, pages * PAGE_LEN, prot, flags, fd, 0);
}

static uint64_t begin_library(void)
{
	ck_assert_uint_eq(map(0, PAGES, PROT_READ, FILE_, file), LZ_MADE);
	ck_assert(result > 0 && page->put_off);
	return (uint64_t)result;
}

/* As at a stop. */
static void tell(void)
{
	page->put_off = page->head = 0;
}

/* All of them are told of at once: before any other call, and no part is replaced twice. */
START_TEST(libraries)
{
	const uint64_t at = begin_library();
	const int other = new_file("\x7f"
	                           "ELF");

	ck_assert_uint_eq(
	    map(at + 2 * PAGE_LEN, 10, PROT_READ | PROT_EXEC, FIXED | MAP_DENYWRITE, file),
	    LZ_MADE);
	ck_assert_uint_eq(map(at + 12 * PAGE_LEN, 4, PROT_READ | PROT_WRITE, FIXED, file), LZ_MADE);
	const uint32_t n = page->head;
	ck_assert_uint_eq(n, 3 * sizeof(struct lz_call_record));
	/* what is there is another part's now, or nobody's, or of another file */
	ck_assert_uint_eq(map(at + 15 * PAGE_LEN, 1, PROT_READ, FIXED, file), LZ_STOP);
	ck_assert_uint_eq(map(at + 39 * PAGE_LEN, 2, PROT_READ, FIXED, file), LZ_STOP);
	ck_assert_uint_eq(map(at + 20 * PAGE_LEN, UINT64_MAX / PAGE_LEN, PROT_READ, FIXED, file),
	                  LZ_STOP);
	ck_assert_uint_eq(map(at + 20 * PAGE_LEN, 1, PROT_READ, FIXED, other), LZ_STOP);
	ck_assert_uint_eq(map(0, PAGES, PROT_READ, FILE_, other), LZ_STOP);
	ck_assert_uint_eq(map(0, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1), LZ_STOP);
	ck_assert_uint_eq(call(SYS_close, (uint64_t)file, 0, 0, 0, 0, 0), LZ_STOP);
	ck_assert_uint_eq(call(SYS_getpid, 0, 0, 0, 0, 0, 0), LZ_STOP);
	ck_assert_uint_eq(call(SYS_futex, (uintptr_t)&result, 129, 1, 0, 0, 0), LZ_STOP);
	page->site = OTHER;
	ck_assert_uint_eq(map(at + 20 * PAGE_LEN, 1, PROT_READ, FIXED, file), LZ_STOP);
	page->site = LINKER + 2;
	ck_assert_uint_eq(page->head, n);
	ck_assert_uint_eq(
	    map(at + 16 * PAGE_LEN, 24, PROT_READ | PROT_WRITE, FIXED | MAP_ANONYMOUS, -1),
	    LZ_MADE);
	ck_assert_uint_eq(map(at + 39 * PAGE_LEN, 1, PROT_READ, FIXED, file), LZ_STOP);
	tell();
	ck_assert_uint_eq(call(SYS_getpid, 0, 0, 0, 0, 0, 0), LZ_MADE);
	/* behind that nothing may be replaced that the tracer has not named */
	ck_assert_uint_eq(map(at + 16 * PAGE_LEN, 1, PROT_READ, FIXED, file), LZ_STOP);
	munmap((void *)at, (size_t)PAGES * PAGE_LEN);
}
END_TEST

/* As if a signal had come there: the tracer is told of all before this call, which is made in two halves. */
static void stop_within(int sig, siginfo_t *info, void *context)
{
	greg_t *const regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const long at = (long)regs[REG_RDI], half = (long)regs[REG_RSI] / 2;

	(void)sig, (void)info;
	page->put_off = 0;
	regs[REG_RAX] = syscall(SYS_mmap, at, half, regs[REG_RDX], regs[REG_R10], regs[REG_R8],
	                        (long)regs[REG_R9]);
	syscall(SYS_mmap, at + half, half, regs[REG_RDX], regs[REG_R10], regs[REG_R8],
	        (long)regs[REG_R9] + half);
}

/* Of mappings with this length. */
static void stop_in_maps(uint32_t len)
{
	struct sock_filter f[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, len, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	const struct sock_fprog program = {sizeof(f) / sizeof(*f), f};
	const struct sigaction act = {.sa_sigaction = stop_within, .sa_flags = SA_SIGINFO};

	ck_assert(sigaction(SIGSYS, &act, NULL) == 0 &&
	          prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	          prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* What the tracer was told of at a stop within a call is not all: of that call it is told before any other,
 * too, and parts go on behind it. */
START_TEST(told_within)
{
	const uint64_t at = begin_library();

	stop_in_maps(4 * PAGE_LEN);
	ck_assert_uint_eq(map(at + 2 * PAGE_LEN, 4, PROT_READ | PROT_WRITE, FIXED, file), LZ_MADE);
	ck_assert(result == (int64_t)(at + 2 * PAGE_LEN) && page->put_off && !page->busy);
	ck_assert_uint_eq(call(SYS_close, (uint64_t)file, 0, 0, 0, 0, 0), LZ_STOP);
	ck_assert_uint_eq(map(at + 5 * PAGE_LEN, 1, PROT_READ, FIXED, file), LZ_STOP);
	ck_assert_uint_eq(map(at + 6 * PAGE_LEN, 1, PROT_READ, FIXED, file), LZ_MADE);
	ck_assert_uint_eq(page->head, 3 * sizeof(struct lz_call_record));
	munmap((void *)at, (size_t)PAGES * PAGE_LEN);
}
END_TEST

/* These are told of behind the call. */
START_TEST(at_once)
{
	/* what is known of the file already */
	begin_library();
	tell();
	ck_assert_uint_eq(map(0, PAGES, PROT_READ, FILE_, file), LZ_LOOK);
	memset(page->mapped, 0, sizeof(page->mapped));
	ck_assert_uint_eq(map(0, PAGES, PROT_READ | PROT_EXEC, FILE_, file), LZ_LOOK);
	page->fd[file] = 0;
	ck_assert_uint_eq(map(0, PAGES, PROT_READ, FILE_, file), LZ_LOOK);
	page->fd[file] = LZ_FD_READ;
	page->may_map = 0;
	ck_assert_uint_eq(map(0, PAGES, PROT_READ, FILE_, file), LZ_LOOK);
	page->may_map = 1;
	/* a failure */
	ck_assert_uint_eq(map(0, 1ULL << 40, PROT_READ, FILE_, file), LZ_LOOK);
	ck_assert(result < 0 && !page->put_off);
	memset(page->mapped, 0, sizeof(page->mapped));
	page->site = LINKER + PAGE_LEN;
	ck_assert_uint_eq(map(0, PAGES, PROT_READ, FILE_, file), LZ_LOOK);
	page->linker = (struct lz_plain_range){0};
	page->site = 0;
	memset(page->mapped, 0, sizeof(page->mapped));
	ck_assert_uint_eq(map(0, PAGES, PROT_READ, FILE_, file), LZ_LOOK);
	ck_assert(!page->put_off);
}
END_TEST

/* The linker's cache is a small file that is copied: the log has none of its bytes. */
START_TEST(linkers_cache)
{
	enum { BYTES = 3 * PAGE_LEN - 100 };
	const int cache = new_file("glibc-ld.so.cache1.1"), text = new_file("some text");

	ck_assert_int_eq(ftruncate(cache, BYTES), 0);
	ck_assert_uint_eq(call(SYS_mmap, 0, BYTES, PROT_READ, MAP_PRIVATE, cache, 0), LZ_MADE);
	ck_assert(page->put_off && !page->n_small && !page->has_small);
	ck_assert_uint_eq(page->head, sizeof(struct lz_call_record));
	tell();
	page->site = OTHER;
	ck_assert_uint_eq(call(SYS_mmap, 0, BYTES, PROT_READ, MAP_PRIVATE, cache, 0), LZ_LOOK);
	ck_assert(!page->n_small && page->head == sizeof(struct lz_call_record));
	tell();
	page->site = LINKER + 2;
	ck_assert_uint_eq(call(SYS_mmap, 0, BYTES, PROT_READ, MAP_PRIVATE, text, 0), LZ_MADE);
	ck_assert(!page->put_off && page->n_small == 1);
	ck_assert_uint_gt(page->head, BYTES);
}
END_TEST

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
	tcase_add_test(c, libraries);
	tcase_add_test(c, told_within);
	tcase_add_test(c, at_once);
	tcase_add_test(c, linkers_cache);
	tcase_add_test(c, unmapped);
	tcase_add_test(c, heaps_end);
	suite_add_tcase(s, c);
	return run_suite(s);
}
