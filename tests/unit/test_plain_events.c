/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames of plain events are passed over by whoever looks for mappings, threads and signals; a frame that claims to be
 * plain and is not is not believed. */
#include "tests/unit/suite.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <common/recording/frame.h>
#include "tests/unit/sample_events.h"

/* A frame is closed behind 256 KiB. */
enum { SIZE = 40000, FRAMES = 9, EACH = 7, N = FRAMES * EACH };

static char rec[96];
static uint8_t data[SIZE];

/* Event TELLING, of N, maps something. */
static void record(uint64_t telling)
{
	struct lz_write write = {.addr = 0x1000, .len = SIZE, .bytes = data};
	struct lz_map_op op = {
	    .op = LZ_UNMAP, .addr = 0x100000, .len = LZ_PAGE, .file = LZ_NO_FILE};

	for (size_t i = 0; i < SIZE; i++)
		data[i] = (uint8_t)(i * 7 >> 2);
	snprintf(rec, sizeof(rec), "%s/rec", dir);
	struct lz_writer *w = lz_writer_create(rec, &meta);
	ck_assert_msg(w != NULL, "%s", lz_error());
	for (uint64_t i = 0; i < N; i++) {
		struct lz_event ev = {.kind = LZ_EV_SYSCALL,
		                      .tid = 77,
		                      .nr = SYS_read,
		                      .result = SIZE,
		                      .writes = &write,
		                      .n_writes = 1};

		if (i == telling) {
			ev.ops = &op;
			ev.n_ops = 1;
		}
		ck_assert_int_eq(lz_writer_event(w, &ev), 0);
	}
	struct lz_meta m = meta;
	ck_assert_msg(lz_writer_finish(w, &m) == 0, "%s", lz_error());
}

static struct lz_reader *open_it(void)
{
	struct lz_reader *r = lz_reader_open(rec);
	ck_assert_msg(r != NULL, "%s", lz_error());
	ck_assert_uint_eq(lz_reader_n_events(r), N);
	return r;
}

/* What is looked at: the frame of the event, and those beside it. */
START_TEST(passed_over)
{
	static const uint64_t telling[] = {0, EACH, 4 * EACH, 5 * EACH - 1, N - 1, N};
	const uint64_t t = telling[_i];

	record(t);
	struct lz_reader *r = open_it();
	for (uint64_t i = 0; i < N; i++) {
		uint64_t frame = i / EACH, of = t / EACH;
		bool near = t < N && frame + 1 >= of && frame <= of + 1;
		uint64_t got = lz_reader_event_telling(r, i);

		ck_assert_uint_ge(got, i);
		ck_assert_msg((got == i) == near, "event %lu of %lu: %lu", (unsigned long)i,
		              (unsigned long)t, (unsigned long)got);
		ck_assert(got == i || got == N || got % EACH == 0);
	}
	ck_assert_uint_eq(lz_reader_event_telling(r, N), N);
	ck_assert_uint_eq(lz_reader_event_telling(r, N + 5), N);
	lz_reader_close(r);
}
END_TEST

/* The flag of the frame that event I is in. */
static void claim_plain(uint64_t i)
{
	char path[128];
	struct lz_frame f;
	uint8_t header[LZ_FRAME_HEADER];
	uint64_t at = 0, seen = 0;

	snprintf(path, sizeof(path), "%s/events", rec);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	off_t size = lseek(fd, 0, SEEK_END);
	for (;; at = f.payload + f.stored_len) {
		ck_assert_int_eq(lz_frame_at(fd, at, (uint64_t)size, &f), 1);
		seen += f.type == LZ_FRAME_EVENTS ? f.count : 0;
		if (seen > i)
			break;
	}
	ck_assert(!(f.flags & LZ_EVENTS_PLAIN));
	f.flags |= LZ_EVENTS_PLAIN;
	lz_frame_pack(&f, header);
	ck_assert_int_eq(pwrite(fd, header, sizeof(header), (off_t)at), sizeof(header));
	close(fd);
}

START_TEST(not_believed)
{
	const uint64_t t = 4 * EACH + 2;

	record(t);
	claim_plain(t);
	struct lz_reader *r = open_it();
	ck_assert_uint_eq(lz_reader_event_telling(r, 0), N);
	ck_assert_ptr_nonnull(lz_reader_event(r, t - 1));
	ck_assert_ptr_null(lz_reader_event(r, t));
	ck_assert_msg(strstr(lz_error(), "frame says"), "%s", lz_error());
	ck_assert_ptr_nonnull(lz_reader_event(r, t + 1));
	lz_reader_close(r);
}
END_TEST

START_TEST(what_is_plain)
{
	struct lz_write write = {.addr = 1, .len = 1, .bytes = data};
	const struct lz_event plain[] = {
	    {.kind = LZ_EV_SYSCALL, .nr = SYS_read, .n_writes = 1, .writes = &write},
	    {.kind = LZ_EV_SYSCALL, .nr = SYS_openat},
	    {.kind = LZ_EV_SYSCALL, .nr = SYS_write},
	    {.kind = LZ_EV_INSN, .insn = LZ_INSN_RDTSC},
	};
	const struct lz_event other[] = {
	    {.kind = LZ_EV_SIGNAL},
	    {.kind = LZ_EV_SWITCH},
	    {.kind = LZ_EV_EXIT},
	    {.kind = LZ_EV_SHARED},
	    {.kind = LZ_EV_SYSCALL, .nr = SYS_mmap, .n_ops = 1},
	    {.kind = LZ_EV_SYSCALL, .nr = SYS_execve, .flags = LZ_EVF_REBASE},
	    {.kind = LZ_EV_SYSCALL, .nr = SYS_exit, .flags = LZ_EVF_THREAD_END},
	    {.kind = LZ_EV_SYSCALL, .nr = SYS_clone},
	    {.kind = LZ_EV_SYSCALL, .nr = SYS_clone3, .flags = LZ_EVF_THREAD_BORN},
	    {.kind = LZ_EV_SYSCALL, .nr = SYS_prctl},
	    {.kind = LZ_EV_SYSCALL, .nr = SYS_openat, .n_writes = 1, .writes = &write},
	    {.kind = LZ_EV_SYSCALL, .nr = SYS_write, .n_writes = 1, .writes = &write},
	};

	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		ck_assert_msg(lz_event_plain(&plain[i]), "%zu", i);
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		ck_assert_msg(!lz_event_plain(&other[i]), "%zu", i);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plain_events");
	TCase *t = tcase_create("plain_events");

	suite_add_tcase(s, t);
	tcase_add_checked_fixture(t, make_dir, remove_dir);
	tcase_add_loop_test(t, passed_over, 0, 6);
	tcase_add_test(t, not_believed);
	tcase_add_test(t, what_is_plain);
	return run_suite(s);
}
