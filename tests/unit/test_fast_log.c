/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log of calls that were made without a stop is memory of the program: each field may have any value. */
#include "tests/unit/fast_log.h"

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
	r = record(LZ_CALL_HAND - 1, 0);
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
	tcase_add_test(c, heads);
	tcase_add_test(c, logs_set_aside);
	tcase_add_test(c, markers);
	tcase_add_test(c, worst_values);
	tcase_add_test(c, random_bytes);
	suite_add_tcase(s, c);
	return run_suite(s);
}
