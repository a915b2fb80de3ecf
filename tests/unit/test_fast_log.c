/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log of calls that were made without a stop is memory of the program: each field may have any value. */
#include "tests/unit/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include "tracer/calls/fast.h"
#include "tracer/memory/objects.h"

enum { BYTES = 512, RECORD = sizeof(struct lz_call_record), MOST_EFFECTS = 1 << 20 };

static struct lz_tracer t;
static struct lz_thread thread, *threads[] = {&thread};
static uint8_t memory[4096]; /* the program's */
static uint8_t *ring;

/* Of the last event. */
static unsigned n_events;
static struct lz_event last;
static uint64_t n_written;
static uint8_t written[BYTES];

int __wrap_lz_writer_event(struct lz_writer *w, struct lz_event *ev);
int __wrap_lz_writer_event(struct lz_writer *w, struct lz_event *ev)
{
	last = *ev;
	n_written = 0;
	for (uint32_t i = 0; i < ev->n_writes; i++)
		for (uint64_t k = 0; ev->writes[i].bytes && k < ev->writes[i].len; k++, n_written++)
			if (n_written < BYTES)
				written[n_written] = ev->writes[i].bytes[k];
	ev->index = n_events++;
	return 0;
}

/* What was asked to be kept. */
static uint64_t kept_from, kept_len;

int __wrap_lz_writer_keep(struct lz_writer *w, struct lz_kept_file *f, uint64_t offset,
                          uint64_t len, const struct lz_kept **kept, uint32_t *n);
int __wrap_lz_writer_keep(struct lz_writer *w, struct lz_kept_file *f, uint64_t offset,
                          uint64_t len, const struct lz_kept **kept, uint32_t *n)
{
	static struct lz_kept where[2];
	const uint32_t first = len < 30000 ? (uint32_t)len : 15000;

	kept_from = offset;
	kept_len = len;
	where[0] = (struct lz_kept){1, 0, first};
	where[1] = (struct lz_kept){3, 100, (uint32_t)len - first};
	*kept = where;
	*n = 1 + (first < len);
	return 0;
}

/* Here is no recording that could have a copy of it. */
int __wrap_lz_writer_file_part(struct lz_writer *w, const char *path, int fd,
                               struct lz_extent *part, uint32_t *index);
int __wrap_lz_writer_file_part(struct lz_writer *w, const char *path, int fd,
                               struct lz_extent *part, uint32_t *index)
{
	return lz_fail("no copy of an event's file");
}

/* Behind the log nothing can be read. */
static struct lz_call_page *new_page(void)
{
	size_t len = (sizeof(struct lz_call_page) + 4095) & ~4095UL;
	uint8_t *at =
	    mmap(NULL, len + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert(at != MAP_FAILED && mprotect(at + len, 4096, PROT_NONE) == 0);
	ck_assert_uint_eq(offsetof(struct lz_call_page, log) + LZ_CALL_LOG, len);
	return (struct lz_call_page *)at;
}

static void begin(void)
{
	thread.tid = 7;
	t.thread = threads;
	t.n_threads = 1;
	t.cur = &thread;
	t.p = (struct lz_proc){.pid = getpid(), .mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC)};
	ck_assert_int_ge(t.p.mem, 0);
	const struct lz_area area = {.v = {.start = (uintptr_t)memory,
	                                   .end = (uintptr_t)memory + sizeof(memory),
	                                   .prot = PROT_READ | PROT_WRITE,
	                                   .flags = MAP_PRIVATE}};
	ck_assert_int_eq(lz_vmas_add(&t.vmas, &area), 0);
	t.fast.page = new_page();
	ring = calloc(1, LZ_RING_LEN);
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t)(i * 7);
}

/* Behind the record. */
static uint64_t behind[BYTES / 8];
static size_t n_behind; /* 0: a pattern */

/* The record, with BYTES bytes behind it, is the log's last one. */
static int drain(const struct lz_call_record *r)
{
	uint8_t *at = t.fast.page->log + LZ_CALL_LOG - RECORD - BYTES;

	memcpy(at, r, RECORD);
	for (unsigned i = 0; i < BYTES; i++)
		at[RECORD + i] = (uint8_t)(i * 3 + 1);
	memcpy(at + RECORD, behind, n_behind * 8);
	t.fast.page->head = LZ_CALL_LOG;
	t.fast.taken = LZ_CALL_LOG - RECORD - BYTES;
	t.fast.broken = false;
	t.fast.late.on = false;
	t.fast.n_files = 0;
	t.last_marker = 0;
	t.s.parsed = 0;
	n_events = 0;
	n_written = 0;
	memset(&last, 0, sizeof(last));
	return lz_fast_drain(&t);
}

static struct lz_call_record record(uint16_t nr, int64_t result)
{
	return (struct lz_call_record){.len = RECORD + BYTES,
	                               .nr = nr,
	                               .ip = 0x401000,
	                               .args = {3, (uintptr_t)memory, BYTES},
	                               .result = result};
}

static void expect_broken(const struct lz_call_record *r, const char *what)
{
	ck_assert_int_eq(drain(r), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "the log of system calls is broken"));
	ck_assert_msg(strstr(lz_error(), what) != NULL, "%s, not: %s", lz_error(), what);
	ck_assert_uint_eq(n_events, 0);
}

START_TEST(good_ones)
{
	struct lz_call_record r = record(SYS_read, 100);

	ck_assert_int_eq(drain(&r), 0);
	ck_assert(n_events == 1 && last.kind == LZ_EV_SYSCALL && last.nr == SYS_read &&
	          last.result == 100);
	ck_assert(last.tid == 7 && last.ip == 0x401000 && !last.has_taken);
	ck_assert(n_written == 100 && written[0] == 1 && written[99] == (uint8_t)(99 * 3 + 1));
	r = record(SYS_write, 100);
	ck_assert_int_eq(drain(&r), 0);
	ck_assert(n_events == 1 && last.has_taken && n_written == 0);
	ck_assert_uint_eq(last.taken,
	                  (uint32_t)crc32_z(0, t.fast.page->log + LZ_CALL_LOG - BYTES, 100));
	/* of memory that is not the program's nothing is promised */
	r.args[1] = 4096;
	ck_assert(drain(&r) == 0 && n_events == 1 && !last.has_taken);
	r = record(SYS_fstat, 0);
	ck_assert(drain(&r) == 0 && n_written == 144);
	/* a number that tracers know as another one */
	r = record(SYS_lseek, -512);
	ck_assert(drain(&r) == 0 && n_events == 1 && last.result == -512);
	r = record(SYS_read, -EBADF);
	ck_assert(drain(&r) == 0 && n_events == 1 && n_written == 0);
	/* only the length was asked for, or more was there than room */
	r = record(SYS_getxattr, 100);
	r.args[3] = 0;
	ck_assert(drain(&r) == 0 && last.result == 100 && n_written == 0);
	r = record(SYS_read, 100);
	r.args[2] = 99;
	ck_assert(drain(&r) == 0 && last.result == 100 && n_written == 99);
	/* broken off: what it may have written is read from the program itself */
	r = record(SYS_read, -EFAULT);
	r.flags = LZ_CALL_UNREAD;
	ck_assert(drain(&r) == 0 && n_written == BYTES && !memcmp(written, memory, BYTES));
}
END_TEST

/* It is of a site that has been made of an rdtsc, and has all registers. */
START_TEST(bad_counters)
{
	struct lz_site site = {.at = 0x401000 - LZ_CALL_INSN, .len = LZ_CALL_INSN, .gone = true};
	struct lz_call_record r = record(LZ_CALL_RDTSC, LZ_CALL_INSN);

	expect_broken(&r, "an instruction's address");
	t.fast.sites.a = &site;
	t.fast.sites.n = 1;
	expect_broken(&r, "an instruction's address");
	site.counter = true;
	expect_broken(&r, "an instruction's length");
	/* of another length than the site's */
	r.result = LZ_RDTSCP_INSN;
	expect_broken(&r, "an instruction's address");
	site.at = 0x401000 - LZ_RDTSCP_INSN;
	expect_broken(&r, "an instruction's address");
	site.len = LZ_RDTSCP_INSN;
	expect_broken(&r, "an instruction's length");
	r.flags = LZ_CALL_UNREAD;
	expect_broken(&r, "an instruction's address");
	r = record(LZ_CALL_XSAVEC - 1, 0);
	expect_broken(&r, "a call's number");
	t.fast.sites = (struct lz_sites){0};
}
END_TEST

/* Of an xsavec's site; behind the registers are the header and the bytes of which it tells. */
START_TEST(xsavecs)
{
	enum { BEFORE = sizeof(struct lz_counter_entry), HEADER = 16, MXCSR = 8 };
	const uint32_t size = BYTES - BEFORE - HEADER - MXCSR - HEADER;
	struct lz_site site = {.at = 0x401000 - LZ_JUMP, .len = LZ_JUMP, .counter = true};
	struct lz_call_record r = record(LZ_CALL_XSAVEC, LZ_JUMP);
	uint64_t *header = behind + BEFORE / 8;

	memset(behind, 0, sizeof(behind));
	n_behind = BYTES / 8;
	header[0] = 1 << 5;
	header[1] = 2 | 1 << 5;
	t.fast.component[5] = (struct lz_xsave_component){size, 0};
	t.fast.sites.a = &site;
	t.fast.sites.n = 1;
	expect_broken(&r, "an instruction's address");
	site.counter = false;
	site.xsavec = true;
	ck_assert_int_eq(drain(&r), 0);
	ck_assert(n_events == 1 && last.kind == LZ_EV_INSN && last.insn == LZ_INSN_XSAVEC);
	ck_assert(last.ip == 0x401000 - LZ_JUMP && last.has_regs && last.regs.rip == 0x401000);
	ck_assert_uint_eq(n_written, MXCSR + HEADER + size);
	t.fast.component[5].size = size + 8;
	expect_broken(&r, "an instruction's length");
	t.fast.component[5].size = size - 8;
	expect_broken(&r, "an instruction's length");
	/* components that nobody has, and one that is larger than what is there */
	header[0] = header[1] = ~0ULL;
	t.fast.component[62] = (struct lz_xsave_component){UINT32_MAX, 1};
	expect_broken(&r, "an instruction's length");
	r.flags = LZ_CALL_UNREAD;
	expect_broken(&r, "an instruction's address");
	memset(t.fast.component, 0, sizeof(t.fast.component));
	t.fast.sites = (struct lz_sites){0};
	n_behind = 0;
}
END_TEST

START_TEST(bad_ones)
{
	struct lz_call_record r = record(SYS_read, BYTES + 1);

	r.args[2] = 1 << 20;
	expect_broken(&r, "an output's length");
	r = record(SYS_write, BYTES + 1);
	expect_broken(&r, "a result");
	r = record(SYS_execve, 0);
	expect_broken(&r, "a call's number");
	r = record(SYS_read, 100);
	r.flags = LZ_CALL_UNREAD;
	expect_broken(&r, "a flag");
	r = record(SYS_read, -EFAULT);
	expect_broken(&r, "a flag");
	r = record(SYS_read, 1);
	r.len = RECORD - 8;
	expect_broken(&r, "a length");
	r.len = RECORD + BYTES + 8;
	expect_broken(&r, "a length");
	r.len = RECORD + BYTES - 4;
	expect_broken(&r, "a length");
}
END_TEST

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
}
END_TEST

/* Whatever the calls are that change mappings: what is not plain memory stays as it is. */
START_TEST(random_mappings)
{
	static const uint16_t nr[] = {SYS_brk, SYS_madvise, SYS_mprotect, SYS_munmap, SYS_mmap};
	const unsigned rounds = getenv("LIZARD_LONG") && *getenv("LIZARD_LONG") ? 1000000 : 20000;
	unsigned good = 0;

	begin_heap();
	begin_mappings();
	t.meta.stub_addr = OTHER + 0x10000;
	t.meta.stub_len = 0x4000;
	srand(2);
	for (unsigned i = 0; i < rounds; i++) {
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
		ck_assert_uint_eq(prot_at(CODE), PROT_READ | PROT_EXEC);
		ck_assert_uint_eq(prot_at((uintptr_t)memory), PROT_READ | PROT_WRITE);
		for (uint64_t k = 0; k < t.meta.stub_len; k += 0x1000)
			ck_assert_uint_eq(prot_at(t.meta.stub_addr + k), 0x1000);
		for (size_t k = 1; k < t.vmas.n; k++)
			ck_assert(t.vmas.a[k - 1].v.end <= t.vmas.a[k].v.start &&
			          t.vmas.a[k].v.start < t.vmas.a[k].v.end);
	}
	ck_assert_uint_gt(good, rounds / 20);
	t.meta.stub_len = 0;
}
END_TEST

START_TEST(heads)
{
	static const uint32_t head[] = {
	    LZ_CALL_LOG + 1, LZ_CALL_LOG + RECORD, 0x7fffffff, 0x80000000, UINT32_MAX, 0, 7};
	struct lz_call_record r = record(SYS_read, 1);

	for (size_t i = 0; i < sizeof(head) / sizeof(*head); i++) {
		ck_assert_int_eq(drain(&r), 0);
		t.fast.page->head = head[i];
		ck_assert_int_eq(lz_fast_drain(&t), -1);
		ck_assert_ptr_nonnull(strstr(lz_error(), "its length"));
	}
	/* in the middle of a record */
	for (uint32_t left = 1; left < RECORD; left++) {
		ck_assert_int_eq(drain(&r), 0);
		t.fast.taken = LZ_CALL_LOG - left;
		ck_assert_int_eq(lz_fast_drain(&t), -1);
		/* what is behind it would come too early */
		ck_assert_int_eq(lz_fast_drain(&t), -1);
	}
}
END_TEST

static pid_t new_child(void)
{
	const pid_t pid = fork();

	if (pid == 0)
		_exit(7);
	return pid;
}

static void set_aside(const struct lz_call_record *r, unsigned n)
{
	static uint8_t bytes[2 * RECORD];

	for (unsigned i = 0; i < n; i++)
		memcpy(bytes + i * RECORD, r + i, RECORD);
	t.fast.page->head = t.fast.taken = 0;
	t.fast.aside = (struct lz_call_log){.bytes = bytes, .len = n * RECORD, .time = 5};
	n_events = 0;
}

static int wait_for_child(int flags)
{
	const pid_t pid = new_child();
	int status = 0;

	if (flags)
		ck_assert_int_ge(lz_full_waitpid(&t, pid, &status, flags), 0);
	else
		ck_assert_int_eq(lz_full_waitpid(&t, pid, &status, flags), pid);
	return flags ? 0 : WEXITSTATUS(status);
}

/* What was set aside is events when the wait is over, and at the next look at the latest. */
START_TEST(logs_set_aside)
{
	struct lz_call_record r[2] = {record(SYS_getppid, 11), record(SYS_getppid, 22)};

	r[0].len = r[1].len = RECORD;
	set_aside(r, 2);
	ck_assert_int_eq(wait_for_child(0), 7);
	ck_assert(n_events == 2 && last.result == 22 && last.time_ns == 5);
	ck_assert(lz_fast_drain(&t) == 0 && n_events == 2);
	/* without a wait, and before what is in the log */
	set_aside(r, 2);
	memcpy(t.fast.page->log, r, RECORD);
	t.fast.page->head = RECORD;
	ck_assert_int_eq(wait_for_child(WNOHANG), 0);
	ck_assert_uint_eq(n_events, 0);
	ck_assert(lz_fast_drain(&t) == 0 && n_events == 3 && last.result == 11);
	/* nobody hears of a broken one before the next look */
	r[0].nr = SYS_fork;
	set_aside(r, 2);
	ck_assert_int_eq(wait_for_child(0), 7);
	ck_assert_uint_eq(n_events, 0);
	ck_assert_int_eq(lz_fast_drain(&t), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "the log of system calls is broken: a call's"));
}
END_TEST

/* The program stands where it has mapped a file. */
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

START_TEST(markers)
{
	struct lz_call_record r = record(SYS_getpid, 1);

	t.s.mem = ring;
	t.s.base = 0x7f6800200000;
	t.s.start = 1000;
	r.marker = t.s.base + 20;
	ck_assert(drain(&r) == 0 && last.marker == 1020 && t.s.parsed == 20);
	r.marker = t.s.base - 1;
	expect_broken(&r, "a marker's offset");
	r.marker = t.s.base + LZ_BUFFER_GUARD + 1;
	expect_broken(&r, "a marker's offset");
	r.marker = 0;
	expect_broken(&r, "a marker's offset");
	/* before the last event */
	r.marker = t.s.base + 20;
	drain(&r);
	t.last_marker = 1021;
	t.fast.taken = LZ_CALL_LOG - RECORD - BYTES;
	ck_assert_int_eq(lz_fast_drain(&t), -1);
	t.s.mem = NULL;
	t.s.start = 0;
}
END_TEST

/* A call that was tried without waiting says where its output is, or what it has taken. */
static struct lz_call_record in_pieces(uint16_t nr, int64_t result, size_t n, const uint64_t *words)
{
	struct lz_call_record r = record(nr, result);

	r.flags = LZ_CALL_PIECES;
	n_behind = n;
	memcpy(behind, words, n * 8);
	return r;
}
#define PIECES(nr, result, ...)                                                                    \
	in_pieces(nr, result, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

START_TEST(good_pieces)
{
	const uint64_t at = (uintptr_t)memory;
	struct lz_call_record r = PIECES(SYS_recvmsg, 30, 2, at, 10, at + 100, 20);

	ck_assert_int_eq(drain(&r), 0);
	ck_assert(n_events == 1 && last.result == 30 && n_written == 30 && !last.has_taken);
	ck_assert(written[0] == (uint8_t)(40 * 3 + 1) && written[29] == (uint8_t)(69 * 3 + 1));
	/* the vector is not in the record, but must be the program's, too */
	r = PIECES(SYS_writev, 30, 3, at + 200, 32, at, 10, at + 100, 20);
	ck_assert(drain(&r) == 0 && n_written == 0 && last.has_taken);
	ck_assert_uint_eq(last.taken,
	                  (uint32_t)crc32_z(0, t.fast.page->log + LZ_CALL_LOG - BYTES + 56, 30));
	behind[1] = 4096;
	ck_assert(drain(&r) == 0 && !last.has_taken);
	r = PIECES(SYS_futex, 1, 0);
	ck_assert(drain(&r) == 0 && n_written == 0);
	r = PIECES(SYS_recvfrom, -EAGAIN, 0);
	ck_assert(drain(&r) == 0 && last.result == -EAGAIN && n_written == 0);
	n_behind = 0;
}
END_TEST

START_TEST(bad_pieces)
{
	const uint64_t at = (uintptr_t)memory;
	struct lz_call_record r = PIECES(SYS_recvmsg, 30, 1, at, BYTES - 24 + 1);

	expect_broken(&r, "an output's length");
	r = PIECES(SYS_recvmsg, 30, 2, at, 8, at, UINT64_MAX);
	expect_broken(&r, "an output's length");
	r = PIECES(SYS_recvmsg, 30, BYTES / 16);
	expect_broken(&r, "a count");
	r = PIECES(SYS_recvmsg, 30, 1ULL << 60);
	expect_broken(&r, "a count");
	r = PIECES(SYS_sendto, 30, 1, at, BYTES - 24 + 1);
	expect_broken(&r, "a piece's length");
	r = PIECES(SYS_sendto, 30, 1, at, 29);
	expect_broken(&r, "a result");
	r = PIECES(SYS_getpid, 30, 0);
	expect_broken(&r, "a flag");
	r = PIECES(SYS_poll, 1, 0);
	r.flags = 0;
	expect_broken(&r, "a flag");
	n_behind = 0;
}
END_TEST

/* A file that nobody has open for writing. */
static int leased_file(void)
{
	static int fd = -1;

	if (fd < 0) {
		char path[] = "/tmp/test_fast_log.XXXXXX";

		close(mkstemp(path));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		ck_assert_int_eq(fcntl(fd, F_SETLEASE, F_RDLCK), 0);
		unlink(path);
	}
	return fd;
}

static struct lz_call_record leased(uint16_t nr, int64_t result, uint64_t lease, uint64_t from)
{
	struct lz_call_record r = record(nr, result);

	r.flags = LZ_CALL_LEASED;
	r.args[2] = LZ_LEASED_MOST;
	n_behind = 2;
	behind[0] = lease;
	behind[1] = from;
	static struct lz_kept_file *kept;
	if (!kept)
		kept = lz_kept_file_new(-1);
	t.fast.leases.a[0] = (struct lz_lease){.id = 5, .fd = leased_file(), .kept = kept};
	t.fast.leases.n = 1;
	return r;
}

/* Instead of what was read it says from where. */
START_TEST(leases)
{
	static const uint16_t other[] = {SYS_readv, SYS_write, SYS_getrandom, SYS_close};
	struct lz_call_record r = leased(SYS_pread64, 20000, 5, 300);

	ck_assert_int_eq(drain(&r), 0);
	ck_assert(n_events == 1 && last.result == 20000 && last.n_writes == 1 && n_written == 0);
	ck_assert(last.writes[0].len == 20000 && last.writes[0].addr == (uintptr_t)memory &&
	          last.writes[0].n_kept == 1 && kept_from == 300 && kept_len == 20000);
	r = leased(SYS_read, LZ_LEASED_MOST, 5, INT64_MAX - LZ_LEASED_MOST);
	ck_assert(drain(&r) == 0 && kept_len == LZ_LEASED_MOST);
	r = leased(SYS_read, LZ_LEASED_MOST, 5, INT64_MAX - LZ_LEASED_MOST + 1);
	expect_broken(&r, "from where a file was read");
	r = leased(SYS_read, 20000, 5, UINT64_MAX);
	expect_broken(&r, "from where a file was read");
	/* one that was given back, or has never been there */
	r = leased(SYS_read, 20000, 4, 0);
	expect_broken(&r, "from where a file was read");
	r = leased(SYS_read, LZ_LEASED_MOST + 1, 5, 0);
	r.args[2]++;
	expect_broken(&r, "a read of a file");
	r = leased(SYS_read, -EBADF, 5, 0);
	expect_broken(&r, "a read of a file");
	r = leased(SYS_read, 0, 5, 0);
	expect_broken(&r, "a read of a file");
	r = leased(SYS_read, 20000, 5, 0);
	r.args[2] = 19999;
	expect_broken(&r, "a read of a file");
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++) {
		r = leased(other[i], 20000, 5, 0);
		expect_broken(&r, "a read of a file");
	}
	r = leased(SYS_read, 20000, 5, 0);
	r.flags |= LZ_CALL_PIECES;
	expect_broken(&r, "a read of a file");
	t.fast.leases.n = 0;
	n_behind = 0;
}
END_TEST

/* The same into several places. */
START_TEST(leased_pieces)
{
	const uint64_t at = (uintptr_t)memory;
	struct lz_call_record r = leased(SYS_read, 0, 5, 300);

	r = PIECES(SYS_preadv, 40000, 4, at, 10000, at + 4, 0, at + 8, 15000, at + 9, 15000, 5,
	           300);
	r.flags |= LZ_CALL_LEASED;
	ck_assert_int_eq(drain(&r), 0);
	ck_assert(n_events == 1 && last.n_writes == 3 && n_written == 0);
	ck_assert(kept_from == 300 && kept_len == 40000);
	/* 15000 bytes are in one place, and the others in another one */
	const struct lz_write *w = last.writes;
	ck_assert(w[0].addr == at && w[0].len == 10000 && w[0].n_kept == 1);
	ck_assert(w[0].kept[0].chunk == 1 && w[0].kept[0].at == 0 && w[0].kept[0].len == 10000);
	ck_assert(w[1].addr == at + 8 && w[1].len == 15000 && w[1].n_kept == 2);
	ck_assert(w[1].kept[0].chunk == 1 && w[1].kept[0].at == 10000 && w[1].kept[0].len == 5000);
	ck_assert(w[1].kept[1].chunk == 3 && w[1].kept[1].at == 100 && w[1].kept[1].len == 10000);
	ck_assert(w[2].kept[0].chunk == 3 && w[2].kept[0].at == 10100 && w[2].kept[0].len == 15000);
	r.result = 40001;
	expect_broken(&r, "a read of a file");
	r.result = 40000;
	r.flags = LZ_CALL_LEASED;
	expect_broken(&r, "a read of a file");
	r.flags = LZ_CALL_LEASED | LZ_CALL_PIECES | LZ_CALL_UNREAD;
	expect_broken(&r, "a flag");
	r.flags = LZ_CALL_LEASED | LZ_CALL_PIECES;
	behind[0] = LZ_CALL_PIECES_MAX + 1;
	expect_broken(&r, "a count");
	behind[0] = 4;
	behind[10] = INT64_MAX;
	expect_broken(&r, "from where a file was read");
	/* lengths whose sum goes round */
	r = PIECES(SYS_preadv, 20000, 2, at, 1ULL << 63, at, (1ULL << 63) + 20000, 5, 300);
	r.flags |= LZ_CALL_LEASED;
	expect_broken(&r, "a read of a file");
	/* pieces, and nothing behind them */
	r = PIECES(SYS_readv, 20000, 31, at, 20000);
	r.flags |= LZ_CALL_LEASED;
	expect_broken(&r, "a read of a file");
	t.fast.leases.n = 0;
	n_behind = 0;
}
END_TEST

/* Others that wait to open what is mapped go on when the stub makes no call, or waits before one. */
START_TEST(guards)
{
	static struct lz_object objects[2];
	static struct lz_shared shared = {.object = objects, .n_objects = 2};
	struct lz_call_page *page = t.fast.page;
	char path[] = "/tmp/test_fast_log.XXXXXX";

	signal(SIGIO, SIG_IGN);
	close(mkstemp(path));
	objects[1] =
	    (struct lz_object){.guard = LZ_GUARD_LEASE, .fd = open(path, O_RDONLY | O_CLOEXEC)};
	ck_assert_int_eq(fcntl(objects[1].fd, F_SETLEASE, F_RDLCK), 0);
	t.shared = &shared;
	page->go = page->busy = 1;
	ck_assert(lz_leases_look(&t) == 0 && objects[1].guard == LZ_GUARD_LEASE && page->go);
	ck_assert(open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC) < 0 && errno == EWOULDBLOCK);
	ck_assert(lz_leases_look(&t) == 0 && objects[1].guard == LZ_GUARD_LEASE && !page->go);
	ck_assert(lz_lease_wanted);
	page->waits = LZ_WAITS_INSIDE;
	ck_assert(lz_leases_look(&t) == 0 && objects[1].guard == LZ_GUARD_LEASE && lz_lease_wanted);
	page->waits = LZ_WAITS_BEFORE;
	ck_assert(lz_leases_look(&t) == 0 && objects[1].guard == LZ_GUARD_REFUSED);
	ck_assert(!lz_lease_wanted);
	const int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	close(fd);
	close(objects[1].fd);
	unlink(path);
	page->busy = page->waits = 0;
	t.shared = NULL;
}
END_TEST

/* What is too long for the log is still in memory. */
START_TEST(unread)
{
	const uint64_t at = (uintptr_t)memory;
	struct lz_call_record r = record(SYS_read, LZ_LONG_LOGGED + 1);

	r.flags = LZ_CALL_UNREAD;
	r.args[2] = LZ_LEASED_MOST;
	ck_assert(drain(&r) == 0 && n_written >= BYTES && !memcmp(written, memory, BYTES));
	r.result = LZ_LEASED_MOST + 1;
	expect_broken(&r, "a flag");
	r = record(SYS_getrandom, LZ_LONG_LOGGED + 1);
	r.flags = LZ_CALL_UNREAD;
	expect_broken(&r, "a flag");
	/* of a vector the pieces are in the record, as they were before the call */
	r = PIECES(SYS_readv, LZ_LONG_LOGGED + 1, 2, at, 100, at + 200, LZ_LONG_LOGGED - 99);
	r.flags = LZ_CALL_UNREAD;
	ck_assert(drain(&r) == 0 && last.n_writes == 2 && n_written > 100);
	ck_assert(!memcmp(written, memory, 100) && !memcmp(written + 100, memory + 200, 100));
	r.result++;
	expect_broken(&r, "a read of a file");
	behind[2] = UINT64_MAX;
	expect_broken(&r, "a read of a file");
	n_behind = 0;
}
END_TEST

/* They end with an error when a part has been stored, maybe over their own vectors and headers: what the
 * pieces say is read from the program. */
START_TEST(broken_off)
{
	const uint64_t at = (uintptr_t)memory;
	static const struct {
		uint16_t nr;
		int16_t result;
		bool may;
		uint64_t name;
	} all[] = {{SYS_readv, -EFAULT, true, 0},     {SYS_preadv, -EFAULT, true, 0},
	           {SYS_recvmsg, -EFAULT, true, 0},   {SYS_recvmsg, -EINVAL, true, 0},
	           {SYS_readv, -EINVAL, false, 0},    {SYS_recvmsg, -EAGAIN, false, 0},
	           {SYS_sendmsg, -EINVAL, false, 0},  {SYS_recvfrom, -EINVAL, true, 4096},
	           {SYS_recvfrom, -EINVAL, false, 0}, {SYS_recvfrom, -EFAULT, true, 0}};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct lz_call_record r =
		    PIECES(all[i].nr, all[i].result, 2, at, 100, at + 200, 50);

		r.args[4] = all[i].name;
		if (all[i].may)
			expect_broken(&r, "a flag");
		r.flags = LZ_CALL_UNREAD;
		if (!all[i].may) {
			expect_broken(&r, "a flag");
			continue;
		}
		ck_assert(drain(&r) == 0 && last.n_writes == 2 && n_written == 150);
		ck_assert(!memcmp(written, memory, 100) &&
		          !memcmp(written + 100, memory + 200, 50));
		behind[2] = LZ_LEASED_MOST;
		expect_broken(&r, "a read of a file");
		behind[2] = UINT64_MAX - 49;
		expect_broken(&r, "a read of a file");
		behind[0] = LZ_CALL_PIECES_MAX + 1;
		expect_broken(&r, "a count");
	}
	n_behind = 0;
}
END_TEST

/* The record of a call that the stub has made is not whole, but has its pieces. */
START_TEST(noted_pieces)
{
	const uint64_t at = (uintptr_t)memory, head = LZ_CALL_LOG - RECORD - BYTES;
	struct lz_call_record r =
	    PIECES(SYS_recvmsg, 0, 5, 1, 56, at, 8, at + 8, 16, at + 100, 10, at + 200, 20);
	const struct lz_vectors *v = &thread.vectors;

	r.flags = LZ_CALL_UNREAD;
	drain(&r);
	thread.call =
	    (struct lz_call){.nr = SYS_recvmsg, .args = {3, at}, .row = lz_syscall(SYS_recvmsg)};
	t.fast.page->head = (uint32_t)head;
	ck_assert(lz_fast_note_pieces(&t) == 0 && v->n_messages == 1 && v->n_io == 2);
	ck_assert(v->message[0].name == at && v->message[0].name_len == 8);
	ck_assert(v->message[0].control == at + 8 && v->message[0].control_len == 16);
	ck_assert((uintptr_t)v->io[1].iov_base == at + 200 && v->io[1].iov_len == 20);
	thread.call.nr = SYS_readv;
	ck_assert(lz_fast_note_pieces(&t) == 0 && v->n_io == 5 && v->io[0].iov_len == 56);
	for (uint32_t at_head = LZ_CALL_LOG - 200; at_head <= LZ_CALL_LOG; at_head += 8) {
		memset(t.fast.page->log + head, 0xff, LZ_CALL_LOG - head);
		t.fast.page->head = at_head;
		ck_assert_int_eq(lz_fast_note_pieces(&t), -1);
	}
	t.fast.page->head = UINT32_MAX;
	ck_assert_int_eq(lz_fast_note_pieces(&t), -1);
	/* where it writes is told by its arguments */
	thread.call.nr = SYS_read;
	ck_assert_int_eq(lz_fast_note_pieces(&t), 0);
	thread.call = (struct lz_call){0};
	n_behind = 0;
}
END_TEST

/* Whatever is in the record: it is broken, or has an event that is not larger than it may be. */
static void any(const struct lz_call_record *r)
{
	int ret = drain(r);

	ck_assert(ret == 0 || strstr(lz_error(), "broken") || strstr(lz_error(), "event"));
	ck_assert_uint_le(n_written, MOST_EFFECTS);
	if (ret == 0 && !(r->flags & LZ_CALL_UNREAD))
		ck_assert_uint_le(n_written, (uint64_t)n_events * BYTES);
}

START_TEST(worst_values)
{
	static const uint16_t nr[] = {SYS_read,       SYS_write,  SYS_pwrite64, SYS_fstat,
	                              SYS_getcwd,     SYS_getcpu, SYS_close,    SYS_gettimeofday,
	                              SYS_readlinkat, SYS_statx,  SYS_getpid,   SYS_recvmsg,
	                              SYS_writev,     SYS_sendmsg};
	static const uint64_t value[] = {0,
	                                 1,
	                                 2,
	                                 7,
	                                 8,
	                                 0x47,
	                                 0x48,
	                                 0x50,
	                                 BYTES,
	                                 BYTES + 1,
	                                 RECORD + BYTES,
	                                 0x7fff,
	                                 0x8000,
	                                 0xffff,
	                                 0x10000,
	                                 1 << 20,
	                                 (1 << 20) + 1,
	                                 0x7fffffff,
	                                 0x80000000,
	                                 0xffffffff,
	                                 1ULL << 32,
	                                 1ULL << 40,
	                                 INT64_MAX,
	                                 1ULL << 63,
	                                 (uint64_t)-EFAULT,
	                                 (uint64_t)-4096,
	                                 UINT64_MAX - 7,
	                                 UINT64_MAX};
	static const size_t field[][2] = {{offsetof(struct lz_call_record, len), 4},
	                                  {offsetof(struct lz_call_record, nr), 2},
	                                  {offsetof(struct lz_call_record, flags), 2},
	                                  {offsetof(struct lz_call_record, ip), 8},
	                                  {offsetof(struct lz_call_record, marker), 8},
	                                  {offsetof(struct lz_call_record, args), 8},
	                                  {offsetof(struct lz_call_record, args) + 8, 8},
	                                  {offsetof(struct lz_call_record, args) + 16, 8},
	                                  {offsetof(struct lz_call_record, args) + 24, 8},
	                                  {offsetof(struct lz_call_record, args) + 40, 8},
	                                  {offsetof(struct lz_call_record, result), 8}};
	enum { FIELDS = sizeof(field) / sizeof(*field), VALUES = sizeof(value) / sizeof(*value) };

	/* with each value of the fields by which lengths are limited, too */
	for (size_t n = 0; n < sizeof(nr) / sizeof(*nr); n++)
		for (size_t i = 0; i < FIELDS * VALUES; i++)
			for (size_t k = 0; k < 2 * VALUES; k++) {
				struct lz_call_record r = record(nr[n], 100);

				*(k < VALUES ? (uint64_t *)&r.result : &r.args[2]) =
				    value[k % VALUES];
				memcpy((uint8_t *)&r + field[i / VALUES][0], &value[i % VALUES],
				       field[i / VALUES][1]);
				any(&r);
			}
}
END_TEST

START_TEST(random_bytes)
{
	unsigned rounds = getenv("LIZARD_LONG") && *getenv("LIZARD_LONG") ? 5000000 : 100000;

	srand(1);
	for (unsigned i = 0; i < rounds; i++) {
		struct lz_call_record r =
		    record((uint16_t)(rand() % 450), rand() % 3 ? rand() % 600 : -EFAULT);

		for (int k = rand() % 4; k; k--)
			((uint8_t *)&r)[rand() % RECORD] = (uint8_t)rand();
		r.flags |= rand() % 3 ? 0 : rand() % 3 ? LZ_CALL_PIECES : LZ_CALL_LEASED;
		n_behind = rand() % 2 ? BYTES / 8 : 0;
		for (size_t k = 0; k < n_behind; k++)
			behind[k] = (uint64_t)rand() % (k ? BYTES / 4 : 8)
			            << (rand() % 16 ? 0 : 56);
		any(&r);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast_log");
	TCase *c = tcase_create("log");

	tcase_add_checked_fixture(c, begin, NULL);
	/* random ones take seconds on a busy machine */
	tcase_set_timeout(c, 60);
	tcase_add_test(c, good_ones);
	tcase_add_test(c, bad_ones);
	tcase_add_test(c, good_pieces);
	tcase_add_test(c, bad_pieces);
	tcase_add_test(c, leases);
	tcase_add_test(c, guards);
	tcase_add_test(c, leased_pieces);
	tcase_add_test(c, unread);
	tcase_add_test(c, broken_off);
	tcase_add_test(c, noted_pieces);
	tcase_add_test(c, bad_counters);
	tcase_add_test(c, xsavecs);
	tcase_add_test(c, heap);
	tcase_add_test(c, advice);
	tcase_add_test(c, new_mappings);
	tcase_add_test(c, mappings_at_once);
	tcase_add_test(c, changed_mappings);
	tcase_add_test(c, small_files);
	tcase_add_test(c, random_mappings);
	tcase_add_test(c, heads);
	tcase_add_test(c, logs_set_aside);
	tcase_add_test(c, files_set_aside);
	tcase_add_test(c, markers);
	tcase_add_test(c, worst_values);
	tcase_add_test(c, random_bytes);
	suite_add_tcase(s, c);
	return run_suite(s);
}
