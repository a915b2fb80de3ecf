/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes that events refer to: each is stored once, comes back as it was, and a reader takes nothing from outside of them. */
#include "tests/unit/suite.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <common/cfg/records.h>
#include <common/recording/frame.h>
#include "tests/unit/sample_events.h"

enum { SIZE = 5 << 20, ROUNDS = 400 };

static char rec[96], path[128];
static uint8_t *content;
static int fd;

static void begin(void)
{
	make_dir();
	content = malloc(SIZE);
	for (size_t i = 0; i < SIZE; i++)
		content[i] = (uint8_t)(i * i / 7 + i / 4096);
	snprintf(rec, sizeof(rec), "%s/rec", dir);
	snprintf(path, sizeof(path), "%s/file", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert(fd >= 0 && write(fd, content, SIZE) == SIZE);
}

static void end(void)
{
	close(fd);
	free(content);
	remove_dir();
}

/* What event I has read. */
static uint64_t from_of(uint64_t i)
{
	return i * 777777 % (SIZE - (300 << 10));
}

static uint64_t len_of(uint64_t i)
{
	return 1 + i * 99991 % (300 << 10);
}

static void put_read(struct lz_writer *w, struct lz_kept_file *f, uint64_t i)
{
	struct lz_write write = {.addr = 0x1000 + i, .len = len_of(i)};
	struct lz_event ev = {.kind = LZ_EV_SYSCALL,
	                      .tid = 77,
	                      .nr = SYS_read,
	                      .result = (int64_t)write.len,
	                      .writes = &write,
	                      .n_writes = 1};

	ck_assert_msg(lz_writer_keep(w, f, from_of(i), write.len, &write.kept, &write.n_kept) == 0,
	              "%s", lz_error());
	ck_assert_int_eq(lz_writer_event(w, &ev), 0);
}

static void record(unsigned n)
{
	struct lz_writer *w = lz_writer_create(rec, &meta);
	ck_assert_msg(w != NULL, "%s", lz_error());
	struct lz_kept_file *f = lz_kept_file_new(fd);

	for (unsigned i = 0; i < n; i++)
		put_read(w, f, i);
	struct lz_meta m = meta;
	ck_assert_msg(lz_writer_finish(w, &m) == 0, "%s", lz_error());
	lz_kept_file_free(f);
}

static bool is_right(const struct lz_event *ev, uint64_t i)
{
	return ev && ev->n_writes == 1 && ev->writes[0].len == len_of(i) &&
	       ev->writes[0].addr == 0x1000 + i &&
	       !memcmp(ev->writes[0].bytes, content + from_of(i), len_of(i));
}

/* ---- the frames of `events` ---- */

struct frames {
	int fd;
	uint64_t size, at; /* AT: of the header */
	struct lz_frame f;
};

static struct frames open_frames(void)
{
	char name[128];

	snprintf(name, sizeof(name), "%s/events", rec);
	struct frames s = {.fd = open(name, O_RDWR | O_CLOEXEC)};
	s.size = (uint64_t)lseek(s.fd, 0, SEEK_END);
	return s;
}

static bool next_frame(struct frames *s)
{
	s->at = s->f.payload + s->f.stored_len;
	return lz_frame_at(s->fd, s->at, s->size, &s->f) == 1;
}

static void put_header(struct frames *s)
{
	uint8_t header[LZ_FRAME_HEADER];

	lz_frame_pack(&s->f, header);
	ck_assert_int_eq(pwrite(s->fd, header, sizeof(header), (off_t)s->at), sizeof(header));
}

START_TEST(each_once)
{
	uint64_t stored = 0, most = 0;

	record(ROUNDS);
	struct frames s = open_frames();
	while (next_frame(&s))
		stored += s.f.type == LZ_FRAME_CHUNK ? s.f.raw_len : 0;
	close(s.fd);
	uint8_t *seen = calloc(1, SIZE);
	for (unsigned i = 0; i < ROUNDS; i++)
		memset(seen + from_of(i), 1, len_of(i));
	for (size_t i = 0; i < SIZE; i++)
		most += seen[i];
	free(seen);
	ck_assert_uint_eq(stored, most);

	struct lz_reader *r = lz_reader_open(rec);
	ck_assert_msg(r && !lz_reader_damage(r), "%s", lz_error());
	for (unsigned i = 0; i < ROUNDS; i++)
		ck_assert_msg(is_right(lz_reader_event(r, i), i), "event %u", i);
	for (unsigned i = ROUNDS; i-- > 0;)
		ck_assert_msg(is_right(lz_reader_event(r, i * 7919 % ROUNDS), i * 7919 % ROUNDS),
		              "event %u", i);
	lz_reader_close(r);
}
END_TEST

/* What was read backwards in small parts is kept once more, when a read of all has too many of these. */
START_TEST(many_pieces)
{
	enum { PART = 100, PARTS = 2 * LZ_KEPT_MOST };
	struct lz_writer *w = lz_writer_create(rec, &meta);
	struct lz_kept_file *f = lz_kept_file_new(fd);
	const struct lz_kept *kept;
	uint32_t n;

	for (unsigned i = PARTS; i-- > 0;)
		ck_assert_int_eq(lz_writer_keep(w, f, i * PART, PART, &kept, &n), 0);
	ck_assert_int_eq(lz_writer_keep(w, f, 0, LZ_KEPT_MOST * PART, &kept, &n), 0);
	ck_assert_uint_eq(n, LZ_KEPT_MOST);
	ck_assert_int_eq(lz_writer_keep(w, f, 0, PARTS * PART, &kept, &n), 0);
	ck_assert(n == 1 && kept->len == PARTS * PART);
	/* there it is found from now on, be it read in whole or in part, and so is what is beside it */
	const struct lz_kept all = *kept;
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(lz_writer_keep(w, f, i, PARTS * PART - 2 * i, &kept, &n), 0);
		ck_assert(n == 1 && kept->chunk == all.chunk && kept->at == all.at + i &&
		          kept->len == PARTS * PART - 2 * i);
	}
	lz_kept_file_free(f);
	lz_writer_abandon(w);
}
END_TEST

/* The same where the ranges at both ends of that read have bytes outside of it. */
START_TEST(many_pieces_within)
{
	enum { PART = 100, PARTS = 2 * LZ_KEPT_MOST, LEN = (PARTS - 1) * PART };
	struct lz_writer *w = lz_writer_create(rec, &meta);
	struct lz_kept_file *f = lz_kept_file_new(fd);
	const struct lz_kept *kept;
	uint32_t n;

	for (unsigned i = PARTS; i-- > 0;)
		ck_assert_int_eq(lz_writer_keep(w, f, i * PART, PART, &kept, &n), 0);
	const uint32_t end = kept->at + kept->len;
	ck_assert_int_eq(lz_writer_keep(w, f, 30, LEN, &kept, &n), 0);
	ck_assert(n == 1 && kept->at == end && kept->len == LEN);
	ck_assert_int_eq(lz_writer_keep(w, f, 0, PARTS * PART, &kept, &n), 0);
	ck_assert_uint_eq(n, 3);
	/* the first part was stored last, the last one first */
	ck_assert(kept[0].at == end - PART && kept[0].len == 30);
	ck_assert(kept[1].at == end && kept[1].len == LEN);
	ck_assert(kept[2].at == 30 && kept[2].len == PART - 30);
	lz_kept_file_free(f);
	lz_writer_abandon(w);
}
END_TEST

/* A read that is longer than a chunk can be is kept in as few as can be. */
START_TEST(long_read)
{
	enum { LEN = 5 * LZ_CHUNK_MAX / 2, STEP = LEN / 100 };
	struct lz_writer *w = lz_writer_create(rec, &meta);
	const int large = memfd_create("large", MFD_CLOEXEC);
	struct lz_kept_file *f = lz_kept_file_new(large);
	const struct lz_kept *kept;
	uint32_t n;

	ck_assert_int_eq(ftruncate(large, LEN), 0);
	for (unsigned i = 100; i-- > 0;)
		ck_assert_int_eq(lz_writer_keep(w, f, i * STEP, 100, &kept, &n), 0);
	ck_assert_int_eq(lz_writer_keep(w, f, 0, LEN, &kept, &n), 0);
	ck_assert_uint_eq(n, 3);
	for (unsigned i = 0; i < n; i++)
		ck_assert_uint_eq(kept[i].len, i < 2 ? LZ_CHUNK_MAX : LZ_CHUNK_MAX / 2);
	lz_kept_file_free(f);
	lz_writer_abandon(w);
	close(large);
}
END_TEST

/* The file is shorter than what was read. */
START_TEST(too_short)
{
	struct lz_writer *w = lz_writer_create(rec, &meta);
	struct lz_kept_file *f = lz_kept_file_new(fd);
	const struct lz_kept *kept;
	uint32_t n;

	ck_assert_int_eq(lz_writer_keep(w, f, SIZE - 10, 10, &kept, &n), 0);
	ck_assert(n == 1 && kept->len == 10);
	ck_assert_int_eq(lz_writer_keep(w, f, SIZE - 10, 11, &kept, &n), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "shorter"));
	ck_assert_int_eq(lz_writer_keep(w, f, INT64_MAX - 10, 5, &kept, &n), -1);
	lz_kept_file_free(f);
	lz_writer_abandon(w);
}
END_TEST

/* A damaged chunk is an error of the events that need it, and of no other. */
START_TEST(damaged)
{
	unsigned right = 0, wrong = 0;

	record(40);
	struct frames s = open_frames();
	while (next_frame(&s) && (s.f.type != LZ_FRAME_CHUNK || s.f.key0 != 2))
		;
	uint8_t byte;
	ck_assert(pread(s.fd, &byte, 1, (off_t)s.f.payload + 100) == 1);
	byte ^= 1;
	ck_assert(pwrite(s.fd, &byte, 1, (off_t)s.f.payload + 100) == 1);
	close(s.fd);
	struct lz_reader *r = lz_reader_open(rec);
	ck_assert_ptr_nonnull(r);
	for (unsigned i = 0; i < 40; i++) {
		const struct lz_event *ev = lz_reader_event(r, i);

		ck_assert(!ev || is_right(ev, i));
		ck_assert(ev || strstr(lz_error(), "chunk 2"));
		right += ev != NULL;
		wrong += ev == NULL;
	}
	ck_assert(right && wrong);
	lz_reader_close(r);
}
END_TEST

/* One that is missing, or comes twice: what is behind it is not used. */
START_TEST(out_of_order)
{
	record(40);
	struct frames s = open_frames();
	while (next_frame(&s) && (s.f.type != LZ_FRAME_CHUNK || s.f.key0 != 1))
		;
	s.f.key0 = (uint64_t)_i;
	put_header(&s);
	close(s.fd);
	struct lz_reader *r = lz_reader_open(rec);
	ck_assert_ptr_nonnull(r);
	ck_assert_ptr_nonnull(strstr(lz_reader_damage(r), "chunks are out of order"));
	lz_reader_close(r);
}
END_TEST

/* ---- one event ---- */

static const uint8_t *sample_chunk(void *arg, uint64_t chunk, uint32_t *len)
{
	*len = 1000;
	if (chunk < 3)
		return content + chunk * 1000;
	lz_fail("there is no chunk %llu", (unsigned long long)chunk);
	return NULL;
}

static int decode(const struct lz_kept *kept, uint32_t n, uint64_t len, struct lz_event *ev,
                  struct lz_event_room *room)
{
	static struct lz_buf b;
	struct lz_write w[2] = {{.addr = 1, .len = 4, .bytes = content},
	                        {.addr = 0x1000, .len = len, .kept = kept, .n_kept = n}};
	const struct lz_event from = {
	    .kind = LZ_EV_SYSCALL, .tid = 1, .nr = SYS_read, .writes = w, .n_writes = 2};

	b.len = 0;
	lz_event_put(&b, &from);
	room->chunk = sample_chunk;
	return lz_event_get(b.p + 4, (uint32_t)b.len - 4, ev, room);
}

START_TEST(of_an_event)
{
	static const struct lz_kept good[] = {{0, 10, 100}, {2, 0, 1000}, {1, 999, 1}};
	static const struct lz_kept bad[] = {
	    {3, 0, 10},         {UINT64_MAX, 0, 10},   {0, 991, 10},
	    {0, 1000, 10},      {0, LZ_CHUNK_MAX, 10}, {0, LZ_CHUNK_MAX - 5, 10},
	    {0, UINT32_MAX, 10}};
	struct lz_event_room room = {0};
	struct lz_event ev;

	ck_assert_int_eq(decode(good, 3, 1101, &ev, &room), 0);
	ck_assert(ev.n_writes == 2 && !memcmp(ev.writes[0].bytes, content, 4));
	const uint8_t *b = ev.writes[1].bytes;
	ck_assert(!memcmp(b, content + 10, 100) && !memcmp(b + 100, content + 2000, 1000) &&
	          b[1100] == content[1999]);
	/* of one place it is not copied */
	ck_assert(decode(good, 1, 100, &ev, &room) == 0 && ev.writes[1].bytes == content + 10);
	/* together they are as many as are written */
	ck_assert_int_eq(decode(good, 3, 1100, &ev, &room), -1);
	ck_assert_int_eq(decode(good, 3, 1102, &ev, &room), -1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_int_eq(decode(&bad[i], 1, 10, &ev, &room), -1);
		const struct lz_kept two[] = {{0, 0, 5}, bad[i]};
		ck_assert_int_eq(decode(two, 2, 15, &ev, &room), -1);
	}
	/* none is empty, and there are not many */
	const struct lz_kept empty[] = {{0, 0, 5}, {1, 5, 0}};
	ck_assert_int_eq(decode(empty, 2, 5, &ev, &room), -1);
	struct lz_kept many[LZ_KEPT_MOST + 1];
	for (unsigned i = 0; i < LZ_KEPT_MOST + 1; i++)
		many[i] = (struct lz_kept){i % 3, i, 1};
	ck_assert_int_eq(decode(many, LZ_KEPT_MOST, LZ_KEPT_MOST, &ev, &room), 0);
	ck_assert_int_eq(decode(many, LZ_KEPT_MOST + 1, LZ_KEPT_MOST + 1, &ev, &room), -1);
	lz_event_room_free(&room);
}
END_TEST

/* Any bytes: what is taken is inside. */
START_TEST(any_bytes)
{
	static const struct lz_kept kept[] = {{0, 10, 100}, {2, 0, 1000}, {1, 999, 1}};
	struct lz_write w = {.addr = 0x1000, .len = 1101, .kept = kept, .n_kept = 3};
	const struct lz_event from = {
	    .kind = LZ_EV_SYSCALL, .tid = 1, .nr = SYS_read, .writes = &w, .n_writes = 1};
	struct lz_event_room room = {.chunk = sample_chunk};
	volatile uint64_t sum = 0;

	srand(1);
	for (unsigned i = 0; i < 200000; i++) {
		struct lz_buf b = {0};
		struct lz_event ev;

		lz_event_put(&b, &from);
		uint8_t *copy = malloc(b.len - 4);
		memcpy(copy, b.p + 4, b.len - 4);
		for (int k = rand() % 4; k >= 0; k--)
			copy[(size_t)rand() % (b.len - 4)] = (uint8_t)rand();
		if (lz_event_get(copy, (uint32_t)b.len - 4, &ev, &room) == 0)
			for (uint32_t n = 0; n < ev.n_writes; n++)
				for (uint64_t k = 0; k < ev.writes[n].len; k++)
					sum += ev.writes[n].bytes[k];
		free(copy);
		lz_buf_free(&b);
	}
	(void)sum;
	lz_event_room_free(&room);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("chunks");
	TCase *c = tcase_create("chunks");

	tcase_add_checked_fixture(c, begin, end);
	tcase_add_test(c, each_once);
	tcase_add_test(c, many_pieces);
	tcase_add_test(c, many_pieces_within);
	tcase_add_test(c, long_read);
	tcase_add_test(c, too_short);
	tcase_add_test(c, damaged);
	tcase_add_loop_test(c, out_of_order, 2, 4);
	tcase_add_test(c, of_an_event);
	tcase_add_test(c, any_bytes);
	tcase_set_timeout(c, 120);
	suite_add_tcase(s, c);
	return run_suite(s);
}
