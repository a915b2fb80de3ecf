/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same of calls that change mappings: of the heap, of plain memory, of small files. */
#include "tests/unit/fast_log.h"

/* Between the heap's beginning and another mapping. */
enum { HEAP = 0x600000, HEAP_END = 0x610000, OTHER = 0x700000 };

static void begin_heap(void)
{
	const struct lz_area heap = {.v = {.start = HEAP,
	                                   .end = HEAP_END,
	                                   .prot = PROT_READ | PROT_WRITE,
	                                   .flags = MAP_PRIVATE,
	                                   .file = LZ_NO_FILE,
	                                   .role = LZ_VMA_HEAP}};
	const struct lz_area other = {.v = {.start = OTHER, .end = OTHER + 0x1000}};

	ck_assert(lz_vmas_add(&t.vmas, &heap) == 0 && lz_vmas_add(&t.vmas, &other) == 0);
	t.brk = HEAP_END;
}

static struct lz_call_record heap_call(uint64_t wanted, uint64_t got)
{
	struct lz_call_record r = record(SYS_brk, (int64_t)got);

	r.args[0] = wanted;
	return r;
}

static void expect_heap(uint64_t wanted, enum lz_map_opcode op, uint64_t start, uint64_t end)
{
	struct lz_call_record r = heap_call(wanted, wanted);

	ck_assert_int_eq(drain(&r), 0);
	ck_assert(n_events == 1 && t.brk == wanted && last.n_ops == 1);
	ck_assert(last.ops[0].op == op && last.ops[0].addr == start &&
	          last.ops[0].len == end - start);
}

START_TEST(heap)
{
	struct lz_call_record r;

	begin_heap();
	expect_heap(HEAP_END + 0x2345, LZ_MAP, HEAP_END, HEAP_END + 0x3000);
	expect_heap(HEAP + 0x1001, LZ_UNMAP, HEAP + 0x2000, HEAP_END + 0x3000);
	expect_heap(OTHER, LZ_MAP, HEAP + 0x2000, OTHER);
	expect_heap(HEAP, LZ_UNMAP, HEAP, OTHER);
	expect_heap(HEAP_END, LZ_MAP, HEAP, HEAP_END);
	/* a question, and one by which a program with markers asks for more */
	r = heap_call(0, HEAP_END);
	ck_assert(drain(&r) == 0 && n_events == 1 && !last.n_ops && t.brk == HEAP_END);
	r.args[5] = LZ_HELLO_MAGIC << 16 | LZ_HELLO_VERSION << 8;
	expect_broken(&r, "the heap's end");
	/* refused */
	r = heap_call(OTHER + 1, HEAP_END);
	ck_assert(drain(&r) == 0 && n_events == 1 && !last.n_ops && t.brk == HEAP_END);
	static const uint64_t bad[][2] = {
	    {OTHER + 1, OTHER + 1},       {HEAP - 1, HEAP - 1},     {0, 0},
	    {HEAP_END + 1, HEAP_END + 2}, {OTHER, HEAP_END - 1},    {UINT64_MAX, UINT64_MAX},
	    {1ULL << 47, 1ULL << 47},     {HEAP, (uint64_t)-ENOMEM}};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		r = heap_call(bad[i][0], bad[i][1]);
		expect_broken(&r, "the heap's end");
		ck_assert_uint_eq(t.brk, HEAP_END);
	}
	lz_vmas_remove(&t.vmas, OTHER, OTHER + 0x1000);
	r = heap_call(1ULL << 47, 1ULL << 47);
	expect_broken(&r, "the heap's end");
	/* the recorder's is there */
	t.meta.stub_addr = OTHER;
	t.meta.stub_len = 0x1000;
	r = heap_call(OTHER + 1, OTHER + 1);
	expect_broken(&r, "the heap's end");
	expect_heap(OTHER, LZ_MAP, HEAP_END, OTHER);
	t.meta.stub_len = 0;
}
END_TEST

/* Memory of the program's own, among what is not: a file's, code, memory of the recorder. */
enum { PLAIN = 0x800000, PLAIN_END = 0x804000, CODE = 0x805000, FILE_AT = 0x806000 };

static void add_area(uint64_t start, uint64_t end, uint32_t prot, uint32_t file)
{
	const struct lz_area area = {
	    .v = {.start = start, .end = end, .prot = prot, .flags = MAP_PRIVATE, .file = file}};

	ck_assert_int_eq(lz_vmas_add(&t.vmas, &area), 0);
}

static void begin_mappings(void)
{
	add_area(PLAIN, PLAIN_END - 0x1000, PROT_READ | PROT_WRITE, LZ_NO_FILE);
	add_area(PLAIN_END - 0x1000, PLAIN_END, PROT_READ, LZ_NO_FILE);
	add_area(CODE, CODE + 0x1000, PROT_READ | PROT_EXEC, LZ_NO_FILE);
	add_area(FILE_AT, FILE_AT + 0x1000, PROT_READ | PROT_WRITE, 0);
}

static struct lz_call_record advice_of(uint64_t start, uint64_t len, uint64_t advice)
{
	struct lz_call_record r = record(SYS_madvise, 0);

	r.args[0] = start;
	r.args[1] = len;
	r.args[2] = advice;
	return r;
}

START_TEST(advice)
{
	struct lz_call_record r = advice_of(PLAIN + 0x1000, 0x2001, MADV_DONTNEED);

	begin_mappings();
	ck_assert_int_eq(drain(&r), 0);
	ck_assert(n_events == 1 && last.n_ops == 2 && last.ops[0].op == LZ_ZERO);
	ck_assert(last.ops[0].addr == PLAIN + 0x1000 && last.ops[0].len == 0x2000);
	ck_assert(last.ops[1].addr == PLAIN_END - 0x1000 && last.ops[1].len == 0x1000);
	r = advice_of(PLAIN, 0x1000, MADV_WILLNEED);
	ck_assert(drain(&r) == 0 && n_events == 1 && !last.n_ops);
	static const uint64_t bad[][3] = {
	    {PLAIN, 0x1000, MADV_FREE},         {PLAIN, 0x1000, MADV_REMOVE},
	    {PLAIN, 0x1000, UINT64_MAX},        {PLAIN, 0x4001, MADV_DONTNEED},
	    {PLAIN + 1, 1, MADV_DONTNEED},      {PLAIN, 0, MADV_DONTNEED},
	    {PLAIN, UINT64_MAX, MADV_DONTNEED}, {PLAIN, 1ULL << 47, MADV_DONTNEED},
	    {CODE, 0x1000, MADV_DONTNEED},      {FILE_AT, 0x1000, MADV_DONTNEED},
	    {PLAIN - 0x1000, 0x2000, 0},        {UINT64_MAX - 0xfff, 0x1000, 0}};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		r = advice_of(bad[i][0], bad[i][1], bad[i][2]);
		expect_broken(&r, "a mapping");
	}
	t.meta.stub_addr = PLAIN + 0x1000;
	t.meta.stub_len = 0x1000;
	r = advice_of(PLAIN, 0x2000, MADV_DONTNEED);
	expect_broken(&r, "a mapping");
	r = advice_of(PLAIN, 0x1000, MADV_DONTNEED);
	ck_assert_int_eq(drain(&r), 0);
	t.meta.stub_len = 0;
}
END_TEST

static struct lz_call_record mapping_of(uint64_t at, uint64_t len, uint64_t prot, uint64_t flags)
{
	struct lz_call_record r = record(SYS_mmap, (int64_t)at);

	r.args[0] = 0;
	r.args[1] = len;
	r.args[2] = prot;
	r.args[3] = flags;
	return r;
}

/* The plain areas have this protection; 0x1000: there is nothing. */
static uint32_t prot_at(uint64_t addr)
{
	const ptrdiff_t i = lz_vmas_find(&t.vmas, addr);

	return i < 0 ? 0x1000 : t.vmas.a[i].v.prot;
}

/* As dynamic linkers map a library: over plain memory, or the file's. */
START_TEST(mappings_at_once)
{
	enum { FIXED = MAP_PRIVATE | MAP_FIXED, ALL = PROT_READ | PROT_WRITE | PROT_EXEC };
	static const uint64_t good[][4] = {{OTHER, 0x5000, ALL, MAP_PRIVATE | MAP_DENYWRITE},
	                                   {FILE_AT, 0x1000, PROT_READ, FIXED | MAP_DENYWRITE},
	                                   {PLAIN, 0x2000, PROT_READ, FIXED | MAP_ANONYMOUS}};

	begin_mappings();
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct lz_call_record r =
		    mapping_of(good[i][0], good[i][1], good[i][2], good[i][3]);

		r.args[4] = UINT32_MAX;
		ck_assert_int_eq(drain(&r), 0);
		ck_assert(n_events == 1 && last.ops[last.n_ops - 1].op == LZ_MAP);
		ck_assert(last.ops[last.n_ops - 1].addr == good[i][0]);
		ck_assert_uint_eq(prot_at(good[i][0]), good[i][2]);
	}
}
END_TEST

/* What the descriptor was at the stop before is not what it is. */
START_TEST(other_file_by_same_number)
{
	const int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC), other = memfd_create("file", 0);
	struct lz_call_record r = mapping_of(OTHER, 0x1000, PROT_READ, MAP_PRIVATE | MAP_DENYWRITE);

	ck_assert(fd >= 0 && other >= 0);
	r.args[4] = (uint64_t)fd;
	ck_assert_int_eq(drain(&r), 0);
	ck_assert(n_events == 1 && last.n_ops == 1 && !last.n_writes);
	ck_assert_int_eq(dup2(other, fd), fd);
	r.result = OTHER + 0x1000;
	ck_assert_int_eq(drain(&r), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "no copy of an event's file"));
	close(fd);
	close(other);
}
END_TEST

START_TEST(new_mappings)
{
	enum { ANON = MAP_PRIVATE | MAP_ANONYMOUS, RW = PROT_READ | PROT_WRITE };
	const uint64_t end = 1ULL << 47;
	struct lz_call_record r = mapping_of(OTHER, 0x1001, RW, ANON | MAP_NORESERVE);

	begin_mappings();
	ck_assert_int_eq(drain(&r), 0);
	ck_assert(n_events == 1 && last.n_ops == 1 && last.ops[0].op == LZ_MAP);
	ck_assert(last.ops[0].addr == OTHER && last.ops[0].len == 0x2000 && last.ops[0].prot == RW);
	ck_assert_int_ge(lz_vmas_find(&t.vmas, OTHER + 0x1fff), 0);
	r = mapping_of((uint64_t)-ENOMEM, 0x1000, RW, ANON);
	ck_assert(drain(&r) == 0 && n_events == 1 && !last.n_ops);
	static const uint64_t bad[][4] = {{OTHER, 0x1000, RW | PROT_EXEC, ANON},
	                                  {CODE, 0x1000, RW, ANON | MAP_FIXED},
	                                  {CODE, 0x1000, RW, MAP_PRIVATE | MAP_DENYWRITE},
	                                  {PLAIN, 0x8000, RW, ANON | MAP_FIXED},
	                                  {OTHER, 0x1000, 0x10, MAP_PRIVATE | MAP_DENYWRITE},
	                                  {OTHER, 0x1000, RW, MAP_SHARED | MAP_ANONYMOUS},
	                                  {OTHER, 0x1000, RW, ANON | MAP_HUGETLB},
	                                  {OTHER, 0x1000, RW, ANON | MAP_GROWSDOWN},
	                                  {OTHER + 1, 0x1000, RW, ANON},
	                                  {OTHER, 0, RW, ANON},
	                                  {OTHER, UINT64_MAX, RW, ANON},
	                                  {end, 0x1000, RW, ANON},
	                                  {end - 0x1000, 0x2000, RW, ANON},
	                                  {(uint64_t)-4096, 0x1000, RW, ANON},
	                                  {CODE, 0x1000, RW, ANON},
	                                  {FILE_AT - 0x1000, 0x2000, RW, ANON}};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		r = mapping_of(bad[i][0], bad[i][1], bad[i][2], bad[i][3]);
		expect_broken(&r, "a mapping");
	}
}
END_TEST

static struct lz_call_record file_of(uint64_t at, uint64_t len, uint64_t count)
{
	struct lz_call_record r = mapping_of(at, len, PROT_READ, MAP_PRIVATE);

	r.args[4] = 3;
	r.args[5] = 0;
	n_behind = 1;
	behind[0] = count;
	return r;
}

/* A small file: its bytes are behind a count. */
START_TEST(small_files)
{
	struct lz_call_record r = file_of(OTHER, 100, 77);

	begin_mappings();
	ck_assert_int_eq(drain(&r), 0);
	ck_assert(n_events == 1 && last.n_ops == 1 && last.ops[0].op == LZ_MAP);
	ck_assert(last.ops[0].file == LZ_NO_FILE && last.ops[0].len == 0x1000);
	ck_assert(last.n_writes == 1 && last.writes[0].addr == OTHER && n_written == 77);
	ck_assert(written[0] == (uint8_t)(8 * 3 + 1) && written[76] == (uint8_t)(84 * 3 + 1));
	static const uint64_t counts[] = {0, BYTES - 7, 1 << 20, UINT64_MAX, UINT64_MAX - 7};
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		r = file_of(OTHER + 0x1000, 100, counts[i]);
		ck_assert_int_eq(drain(&r), -1);
		ck_assert_ptr_nonnull(strstr(lz_error(), "broken: a file's length"));
	}
	r = file_of(CODE, LZ_SMALL_FILE + 1, 77);
	expect_broken(&r, "a mapping");
	r = file_of(CODE, 100, 77);
	expect_broken(&r, "a mapping");
	r = file_of(CODE, 100, 77);
	r.args[2] |= PROT_EXEC;
	expect_broken(&r, "a mapping");
	r = file_of(CODE, 100, 77);
	r.args[3] |= MAP_FIXED;
	expect_broken(&r, "a mapping");
	/* it is unmapped, but not changed, as plain memory would be */
	n_behind = 0;
	r = advice_of(OTHER, 0x1000, MADV_DONTNEED);
	expect_broken(&r, "a mapping");
	r = record(SYS_munmap, 0);
	r.args[0] = OTHER;
	r.args[1] = 100;
	ck_assert(drain(&r) == 0 && last.n_ops == 1 && last.ops[0].op == LZ_UNMAP);
}
END_TEST

START_TEST(changed_mappings)
{
	struct lz_call_record r = record(SYS_mprotect, 0);

	begin_mappings();
	r.args[0] = PLAIN;
	r.args[1] = 0x1800;
	r.args[2] = PROT_NONE;
	ck_assert(drain(&r) == 0 && n_events == 1 && last.ops[0].op == LZ_PROTECT);
	ck_assert(last.ops[0].len == 0x2000 && prot_at(PLAIN + 0x1000) == PROT_NONE);
	r.args[2] = PROT_EXEC;
	expect_broken(&r, "a mapping");
	r.args[0] = CODE;
	r.args[2] = PROT_READ | PROT_WRITE;
	expect_broken(&r, "a mapping");
	/* a file's data may become read-only, and nothing else */
	r.args[0] = FILE_AT;
	r.args[1] = 0x1000;
	expect_broken(&r, "a mapping");
	r.args[2] = PROT_READ;
	ck_assert(drain(&r) == 0 && n_events == 1 && last.ops[0].op == LZ_PROTECT);
	ck_assert_uint_eq(prot_at(FILE_AT), PROT_READ);
	r.args[0] = CODE;
	expect_broken(&r, "a mapping");
	r = record(SYS_munmap, 0);
	r.args[0] = PLAIN + 0x1000;
	r.args[1] = 0x1000;
	ck_assert(drain(&r) == 0 && n_events == 1 && last.ops[0].op == LZ_UNMAP);
	ck_assert(prot_at(PLAIN + 0x1000) == 0x1000 && prot_at(PLAIN) == PROT_NONE);
	/* where there is a hole now */
	r.args[0] = PLAIN;
	r.args[1] = 0x3000;
	expect_broken(&r, "a mapping");
	r.args[0] = CODE;
	r.args[1] = 0x1000;
	expect_broken(&r, "a mapping");
	/* a file's data, but not where markers are looked for */
	r.args[0] = FILE_AT;
	t.s.mem = ring;
	expect_broken(&r, "a mapping");
	t.s.mem = NULL;
	ck_assert(drain(&r) == 0 && n_events == 1 && last.ops[0].op == LZ_UNMAP);
	ck_assert_uint_eq(prot_at(FILE_AT), 0x1000);
	expect_broken(&r, "a mapping");
}
END_TEST

/* Without a ck_assert: each writes to a pipe, and here are millions. */
static bool others_are_whole(void)
{
	bool whole = prot_at(CODE) == (PROT_READ | PROT_EXEC) &&
	             prot_at((uintptr_t)memory) == (PROT_READ | PROT_WRITE);

	for (uint64_t k = 0; k < t.meta.stub_len; k += 0x1000)
		whole = whole && prot_at(t.meta.stub_addr + k) == 0x1000;
	for (size_t k = 1; k < t.vmas.n; k++)
		whole = whole && t.vmas.a[k - 1].v.end <= t.vmas.a[k].v.start &&
		        t.vmas.a[k].v.start < t.vmas.a[k].v.end;
	return whole;
}

/* Whatever the calls are that change mappings: what is not plain memory stays as it is. */
START_TEST(random_mappings)
{
	static const uint16_t nr[] = {SYS_brk, SYS_madvise, SYS_mprotect, SYS_munmap, SYS_mmap};
	const unsigned rounds = getenv("LIZARD_LONG") && *getenv("LIZARD_LONG") ? 1000000 : 20000;
	unsigned good = 0;

	t.meta.stub_addr = OTHER + 0x10000;
	t.meta.stub_len = 0x4000;
	/* the fixture's area is a file's data, which a mapping may replace */
	t.vmas.a[lz_vmas_find(&t.vmas, (uintptr_t)memory)].v.role = LZ_VMA_STACK;
	srand(2);
	for (unsigned i = 0; i < rounds; i++) {
		/* anew, before nearly all of it is in pieces that no call can change */
		if (i % 10000 == 0) {
			lz_vmas_remove(&t.vmas, HEAP, (uintptr_t)memory & ~4095UL);
			begin_heap();
			begin_mappings();
		}
		const uint64_t at = HEAP + (uint64_t)(rand() % 0x210) * 0x1000;
		struct lz_call_record r = record(nr[rand() % 5], 0);

		r.args[0] = at;
		r.args[1] = (uint64_t)(rand() % 8) << (rand() % 64);
		r.args[2] = (uint64_t)(rand() % 30 ? rand() % 5 : rand());
		r.args[3] = MAP_PRIVATE | MAP_ANONYMOUS;
		if (r.nr == SYS_mmap || r.nr == SYS_brk)
			r.result = (int64_t)at;
		if (rand() % 4 == 0)
			((uint8_t *)&r)[rand() % RECORD] = (uint8_t)rand();
		n_behind = 1;
		behind[0] = (uint64_t)(rand() % 600);
		if (rand() % 4 == 0)
			r.args[3] = MAP_PRIVATE;
		good += drain(&r) == 0;
		if (!others_are_whole())
			ck_abort_msg("round %u", i);
	}
	ck_assert_uint_gt(good, rounds / 20);
	t.meta.stub_len = 0;
}
END_TEST

START_TEST(files_set_aside)
{
	struct lz_call_record r = mapping_of(OTHER, 0x1000, PROT_READ, MAP_PRIVATE | MAP_DENYWRITE);

	begin_mappings();
	r.len = RECORD;
	set_aside(&r, 1);
	ck_assert_int_eq(lz_fast_drain(&t), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "the log of system calls is broken: a mapping"));
}
END_TEST

/* These and nothing else. */
static int drain_all(const struct lz_call_record *r, uint32_t n)
{
	memcpy(t.fast.page->log, r, n * RECORD);
	t.fast.page->head = n * RECORD;
	t.fast.taken = n_events = 0;
	t.fast.broken = t.fast.late.on = false;
	return lz_fast_drain(&t);
}

/* A small file of which the log has no bytes is one for linkers: it is copied while the program has it open, and
 * nothing else can be. */
START_TEST(linkers_files)
{
	struct lz_call_record r = mapping_of(OTHER, 100, PROT_READ, MAP_PRIVATE);

	begin_mappings();
	r.len = RECORD;
	r.args[4] = UINT32_MAX;
	ck_assert_int_eq(drain_all(&r, 1), 0);
	ck_assert(n_events == 1 && last.n_ops == 1 && last.ops[0].op == LZ_MAP);
	ck_assert(last.ops[0].addr == OTHER && last.ops[0].len == 0x1000);
	ck_assert_uint_eq(t.fast.n_files, 0);
	r.result = CODE;
	ck_assert_int_eq(drain_all(&r, 1), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "the log of system calls is broken: a mapping"));
	r.result = OTHER + 0x1000;
	t.fast.broken = false;
	set_aside(&r, 1);
	ck_assert_int_eq(lz_fast_drain(&t), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "the log of system calls is broken: a mapping"));
}
END_TEST

/* Nobody knows any more what has been mapped: what a killed program has done since is not told. */
START_TEST(killed_between)
{
	struct lz_call_record r[3] = {
	    record(SYS_getpid, 7),
	    mapping_of(OTHER, 0x5000, PROT_READ, MAP_PRIVATE | MAP_DENYWRITE),
	    mapping_of(OTHER + 0x1000, 0x1000, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED)};

	begin_mappings();
	r[0].len = r[1].len = r[2].len = RECORD;
	t.p.pid = fork();
	if (!t.p.pid)
		_exit(0);
	waitpid(t.p.pid, NULL, 0);
	ck_assert_int_eq(drain_all(r, 3), 0);
	ck_assert(n_events == 1 && last.nr == SYS_getpid && t.fast.gone);
	ck_assert_int_eq(lz_fast_drain(&t), 0);
	ck_assert_uint_eq(n_events, 1);
	t.p.pid = getpid();
	t.fast.gone = false;
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast_maps");
	TCase *c = tcase_create("log");

	tcase_add_checked_fixture(c, begin, NULL);
	/* random ones take seconds on a busy machine */
	tcase_set_timeout(c, 60);
	tcase_add_test(c, heap);
	tcase_add_test(c, advice);
	tcase_add_test(c, new_mappings);
	tcase_add_test(c, mappings_at_once);
	tcase_add_test(c, other_file_by_same_number);
	tcase_add_test(c, changed_mappings);
	tcase_add_test(c, small_files);
	tcase_add_test(c, random_mappings);
	tcase_add_test(c, files_set_aside);
	tcase_add_test(c, linkers_files);
	tcase_add_test(c, killed_between);
	suite_add_tcase(s, c);
	return run_suite(s);
}
