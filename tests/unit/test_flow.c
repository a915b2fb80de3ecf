/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of markers of which only a checksum is kept: what the writer makes, what the reader says of them and takes, and
 * where blocks that were computed again are put. */
#include "tests/unit/suite.h"

#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>
#include <common/recording/flowsum.h>
#include <common/recording/frame.h>
#include <common/recording/writer.h>
#include <replayer/session/rebuild_store.h>
#include "tests/unit/sample_events.h"

enum { TID = 77, PIECE = 50000 };

/* PIECES blocks of PIECE bytes. */
static void record(enum lz_flow flow, uint64_t limit, unsigned pieces)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/rec", dir);
	struct lz_writer *w = lz_writer_create(path, &meta);
	ck_assert_msg(w != NULL, "%s", lz_error());
	lz_writer_flow(w, flow, limit);
	struct lz_event ev = {.kind = LZ_EV_EXIT, .tid = TID};
	ck_assert_int_eq(lz_writer_event(w, &ev), 0);
	for (unsigned i = 0; i < pieces; i++) {
		put_markers(w, (uint64_t)i * PIECE, (uint64_t)(i + 1) * PIECE);
		ck_assert_int_eq(lz_writer_drain(w), 0);
	}
	struct lz_meta m = meta;
	ck_assert_msg(lz_writer_finish(w, &m) == 0, "%s", lz_error());
}

static struct lz_reader *open_it(void)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/rec", dir);
	struct lz_reader *r = lz_reader_open(path);
	ck_assert_msg(r != NULL, "%s", lz_error());
	return r;
}

static uint64_t sum_of(uint64_t from, uint64_t len)
{
	struct lz_flow_sum s;

	lz_flow_sum_begin(&s, LZ_SUM_XXH3);
	for (uint64_t i = from; i < from + len; i++) {
		uint8_t byte = stream_byte(i);
		lz_flow_sum_add(&s, &byte, 1);
	}
	return lz_flow_sum_value(&s);
}

/* The values of others: zlib's, and what xxhsum(1) prints. */
START_TEST(sums_by_pieces)
{
	static const uint8_t text[] = "some bytes of markers";
	const size_t len = sizeof(text) - 1;
	const uint64_t want[] = {
	    [LZ_SUM_CRC_ADLER] = (uint64_t)adler32_z(1, text, len) << 32 | crc32_z(0, text, len),
	    [LZ_SUM_XXH64] = 0x6022ec5d8a765765u,
	    [LZ_SUM_XXH3] = 0x0ebb4a75f76358e2u,
	};

	for (enum lz_sum_kind kind = LZ_SUM_CRC_ADLER; kind <= LZ_SUM_XXH3; kind++) {
		struct lz_flow_sum a, b;

		lz_flow_sum_begin(&a, kind);
		lz_flow_sum_begin(&b, kind);
		lz_flow_sum_add(&a, text, len);
		lz_flow_sum_add(&b, text, 5);
		lz_flow_sum_add(&b, text + 5, len - 5);
		ck_assert_uint_eq(lz_flow_sum_value(&a), want[kind]);
		ck_assert_uint_eq(lz_flow_sum_value(&b), want[kind]);
	}
	ck_assert_uint_eq(lz_flow_sum_of(text, len), want[LZ_SUM_XXH3]);
}
END_TEST

START_TEST(only_sums)
{
	record(LZ_FLOW_HASH, 0, 3);
	struct lz_reader *r = open_it();
	uint64_t start, len;
	struct lz_block_sum sum;
	uint8_t byte;

	ck_assert_ptr_null(lz_reader_damage(r));
	ck_assert_str_eq(lz_reader_meta(r)->hashed_from, "0");
	ck_assert_uint_eq(lz_reader_n_blocks(r, TID), 3);
	ck_assert_uint_eq(lz_reader_markers_len(r, TID), 3 * PIECE);
	ck_assert_uint_eq(lz_reader_markers_hashed(r, TID), 3 * PIECE);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_int_eq(lz_reader_block(r, TID, i, &start, &len), 0);
		ck_assert(lz_reader_block_hashed(r, TID, i, &sum));
		ck_assert_uint_eq(start, i * PIECE);
		ck_assert_uint_eq(len, PIECE);
		ck_assert_int_eq(sum.kind, LZ_SUM_XXH3);
		ck_assert_uint_eq(sum.value, sum_of(start, len));
	}
	ck_assert_int_eq(lz_reader_markers_kept(r, TID, 10, &byte, 1), 0);
	ck_assert_int_eq(lz_reader_markers(r, TID, 10, &byte, 1), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "checksum"));
	lz_reader_close(r);
}
END_TEST

START_TEST(switches_at_the_limit)
{
	record(LZ_FLOW_AUTO, 1, 3);
	struct lz_reader *r = open_it();
	uint8_t bytes[8];

	ck_assert_str_eq(lz_reader_meta(r)->hashed_from, "50000");
	ck_assert(!lz_reader_block_hashed(r, TID, 0, NULL));
	ck_assert(lz_reader_block_hashed(r, TID, 1, NULL));
	ck_assert(lz_reader_block_hashed(r, TID, 2, NULL));
	ck_assert_uint_eq(lz_reader_markers_hashed(r, TID), 2 * PIECE);
	/* what is at hand ends where the checksums begin */
	ck_assert_int_eq(lz_reader_markers_kept(r, TID, PIECE - 3, bytes, 8), 3);
	ck_assert_int_eq(bytes[2], stream_byte(PIECE - 1));
	ck_assert_int_eq(lz_reader_markers(r, TID, PIECE - 3, bytes, 8), -1);
	lz_reader_close(r);
}
END_TEST

START_TEST(below_the_limit)
{
	record(LZ_FLOW_AUTO, 1 << 30, 3);
	struct lz_reader *r = open_it();

	ck_assert_str_eq(lz_reader_meta(r)->hashed_from, "");
	ck_assert_uint_eq(lz_reader_markers_hashed(r, TID), 0);
	lz_reader_close(r);
}
END_TEST

enum { MIB = 1 << 20 };

static int wait_for(void *arg, bool go)
{
	return go ? sem_wait(arg) : -1;
}

/* Blocks FROM to UPTO, of a mebibyte each. */
static void put_blocks(struct lz_writer *w, uint64_t from, uint64_t upto)
{
	uint8_t *block = malloc(MIB);

	for (; from < upto; from++) {
		for (uint64_t i = 0; i < MIB; i++)
			block[i] = stream_byte(from * MIB + i);
		ck_assert_int_eq(lz_writer_markers(w, TID, block, MIB), 0);
	}
	free(block);
}

/* N blocks of which none is looked at before all are there. */
static struct lz_writer *record_at_once(bool crowded, uint32_t n)
{
	char path[96];
	static sem_t come; /* the thread may still be looking at it */

	snprintf(path, sizeof(path), "%s/rec", dir);
	struct lz_writer *w = lz_writer_create(path, &meta);
	ck_assert_msg(w != NULL, "%s", lz_error());
	lz_writer_crowded(w, crowded);
	struct lz_event ev = {.kind = LZ_EV_EXIT, .tid = TID};
	ck_assert_int_eq(lz_writer_event(w, &ev), 0);
	ck_assert_int_eq(sem_init(&come, 0, 0), 0);
	ck_assert_int_eq(lz_worker_call(w->worker, wait_for, &come), 0);
	put_blocks(w, 0, n);
	lz_writer_flow(w, LZ_FLOW_AUTO, 1 << 30);
	sem_post(&come);
	return w;
}

/* One letter for each block: s(tored), h(ashed). */
static void kinds(struct lz_writer *w, char *text)
{
	struct lz_meta m = meta;

	ck_assert_msg(lz_writer_finish(w, &m) == 0, "%s", lz_error());
	struct lz_reader *r = open_it();
	ck_assert_ptr_null(lz_reader_damage(r));
	uint32_t n = lz_reader_n_blocks(r, TID);
	for (uint32_t i = 0; i < n; i++)
		text[i] = lz_reader_block_hashed(r, TID, i, NULL) ? 'h' : 's';
	text[n] = 0;
	for (uint64_t at = 0; at < n * (uint64_t)MIB; at += MIB / 2 + 1) {
		uint8_t byte = 0;
		int64_t got = lz_reader_markers_kept(r, TID, at, &byte, 1);
		ck_assert_int_eq(got, text[at / MIB] == 's');
		ck_assert(!got || byte == stream_byte(at));
	}
	lz_reader_close(r);
}

/* What waits too long is not stored; nor is, where no CPU is idle, what is more than a little. */
START_TEST(stores_what_can_be_packed)
{
	const uint32_t n = _i ? 14 : 24;
	struct lz_writer *w = record_at_once(_i, n);
	char text[100];

	if (_i) {
		ck_assert_int_eq(lz_writer_drain(w), 0);
		ck_assert(!lz_writer_only_sums(w));
		put_blocks(w, n, n + 10);
		ck_assert(lz_writer_only_sums(w));
	}
	kinds(w, text);
	ck_assert_uint_eq(strlen(text), 24);
	ck_assert_int_eq(text[0], _i ? 's' : 'h');
	ck_assert_int_eq(text[23], 'h');
	ck_assert_ptr_null(strstr(text, _i ? "hs" : "sh"));
}
END_TEST

/* Once behind, so up to the next checkpoint, whatever waits. */
START_TEST(a_checkpoint_looks_anew)
{
	struct lz_writer *w = record_at_once(false, 24);
	struct lz_checkpoint ck = {.whole = true, .pos = {.tid = TID, .marker = 25 * MIB}};
	struct lz_thread_state t = {.tid = TID};
	char text[100];

	ck_assert_int_eq(lz_writer_drain(w), 0);
	put_blocks(w, 24, 25);
	ck_assert_int_eq(lz_writer_drain(w), 0);
	ck.threads = &t;
	ck.n_threads = 1;
	ck_assert_msg(lz_writer_checkpoint(w, &ck, NULL, NULL) == 0, "%s", lz_error());
	put_blocks(w, 25, 26);
	kinds(w, text);
	ck_assert_str_eq(text + 22, "hhhs");
}
END_TEST

/* What is held back when the recording ends is stored, the last 32 MiB at most. */
START_TEST(the_end_is_stored)
{
	struct lz_writer *w = record_at_once(false, 50);
	char text[100];

	lz_writer_ending(w);
	kinds(w, text);
	ck_assert_uint_eq(strlen(text), 50);
	ck_assert_int_eq(text[0], 'h');
	ck_assert_int_eq(text[49], 's');
	ck_assert_ptr_null(strstr(text, "sh"));
	ck_assert_uint_ge(strlen(strchr(text, 's')), 16);
	ck_assert_uint_le(strlen(strchr(text, 's')), 32);
}
END_TEST

/* Blocks that the recorder has summed itself lie between others in their order. */
START_TEST(summed_by_the_caller)
{
	struct lz_writer *w = record_at_once(false, 2);
	uint8_t block[PIECE], byte;
	char text[100];

	for (unsigned i = 0; i < PIECE; i++)
		block[i] = stream_byte(2 * MIB + i);
	ck_assert_int_eq(lz_writer_sum_markers(w, TID, block, PIECE), 0);
	for (unsigned i = 0; i < PIECE; i++)
		block[i] = stream_byte(2 * MIB + PIECE + i);
	ck_assert_int_eq(lz_writer_markers(w, TID, block, PIECE), 0);
	block[PIECE / 200] = 0;
	ck_assert_int_eq(lz_writer_sum_markers(w, TID, block, PIECE), -1);
	struct lz_meta m = meta;
	ck_assert_msg(lz_writer_finish(w, &m) == 0, "%s", lz_error());
	struct lz_reader *r = open_it();
	struct lz_block_sum sum;
	ck_assert_ptr_null(lz_reader_damage(r));
	ck_assert_uint_eq(lz_reader_n_blocks(r, TID), 4);
	for (uint32_t i = 0; i < 4; i++)
		text[i] = lz_reader_block_hashed(r, TID, i, &sum) ? 'h' : 's';
	ck_assert_mem_eq(text, "sshs", 4);
	lz_reader_block_hashed(r, TID, 2, &sum);
	ck_assert_uint_eq(sum.value, sum_of(2 * MIB, PIECE));
	ck_assert_int_eq(lz_reader_markers_kept(r, TID, 2 * MIB + PIECE, &byte, 1), 1);
	ck_assert_int_eq(byte, stream_byte(2 * MIB + PIECE));
	lz_reader_close(r);
}
END_TEST

struct asked {
	unsigned times;
	bool at_hand, fails;
};

static int rebuild(void *arg, uint32_t tid, uint32_t block, uint8_t *buf)
{
	struct asked *a = arg;

	ck_assert_uint_eq(tid, TID);
	if (!buf)
		return !a->at_hand;
	a->times++;
	for (uint64_t i = 0; i < PIECE; i++)
		buf[i] = stream_byte(block * (uint64_t)PIECE + i);
	return a->fails ? lz_fail("cannot") : 0;
}

START_TEST(is_computed_again)
{
	record(LZ_FLOW_HASH, 0, 3);
	struct lz_reader *r = open_it();
	struct asked a = {0};
	uint8_t bytes[8];

	lz_reader_on_rebuild(r, rebuild, &a);
	ck_assert_int_eq(lz_reader_markers_kept(r, TID, PIECE - 4, bytes, 8), 0);
	ck_assert_uint_eq(a.times, 0);
	ck_assert_int_eq(lz_reader_markers(r, TID, PIECE - 4, bytes, 8), 8);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(bytes[i], stream_byte((uint64_t)(PIECE - 4 + i)));
	ck_assert_uint_eq(a.times, 2);
	ck_assert_int_eq(lz_reader_markers_kept(r, TID, 5, bytes, 1), 1);
	ck_assert_uint_eq(a.times, 2);
	a.fails = true;
	ck_assert_int_eq(lz_reader_markers(r, TID, 2 * PIECE, bytes, 1), -1);
	a.fails = false;
	a.at_hand = true;
	ck_assert_int_eq(lz_reader_markers_kept(r, TID, 2 * PIECE, bytes, 1), 1);
	lz_reader_close(r);
}
END_TEST

/* Puts FRAME in the place of block 1, which is hashed. */
static void replace(const struct lz_frame *f)
{
	uint8_t header[LZ_FRAME_HEADER];
	char path[96];

	snprintf(path, sizeof(path), "%s/rec/markers-77", dir);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	lz_frame_pack(f, header);
	ck_assert_int_eq(pwrite(fd, header, sizeof(header), LZ_FRAME_HEADER), sizeof(header));
	close(fd);
}

START_TEST(not_believed)
{
	static const struct lz_frame bad[] = {
	    {.type = LZ_FRAME_HASHED, .key0 = PIECE, .count = 0},
	    {.type = LZ_FRAME_HASHED, .flags = 6, .key0 = PIECE, .count = PIECE},
	    {.type = LZ_FRAME_HASHED, .key0 = PIECE, .count = LZ_BLOCK_MAX + 1},
	    {.type = LZ_FRAME_HASHED, .key0 = PIECE, .count = UINT32_MAX},
	    {.type = LZ_FRAME_HASHED, .key0 = PIECE + 1, .count = PIECE},
	    {.type = LZ_FRAME_HASHED, .key0 = PIECE, .count = PIECE, .raw_len = 1, .stored_len = 1},
	    /* longer, so that the last mark of a consistent position lies inside */
	    {.type = LZ_FRAME_HASHED, .key0 = PIECE, .count = 3 * PIECE},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		record(LZ_FLOW_HASH, 0, 3);
		replace(&bad[i]);
		struct lz_reader *r = open_it();
		ck_assert_msg(lz_reader_damage(r) != NULL, "case %u", i);
		ck_assert_msg(lz_reader_markers_len(r, TID) == PIECE, "case %u: %u", i,
		              (unsigned)lz_reader_markers_len(r, TID));
		lz_reader_close(r);
		remove_dir();
		make_dir();
	}
}
END_TEST

enum { BLOCKS = 64, LEN = 4096, FITS = 20 };

static void allow_files_of(rlim_t size)
{
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){size, RLIM_INFINITY}), 0);
}

/* What limits it: the number that it is given, or each file. */
START_TEST(store_keeps_the_latest)
{
	struct lz_store *s = lz_store_new(dir, BLOCKS, _i ? 1 << 30 : FITS * LEN);
	uint8_t buf[LEN], back[LEN];
	unsigned kept = 0;

	ck_assert_msg(s != NULL, "%s", lz_error());
	allow_files_of(_i ? FITS / 2 * LEN + 100 * FITS : RLIM_INFINITY);
	srand(1);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		for (int k = 0; k < LEN; k++)
			buf[k] = (uint8_t)(rand() >> 7); /* does not compress */
		buf[0] = (uint8_t)i;
		ck_assert_int_eq(lz_store_put(s, i, LZ_CODEC_RAW, buf, LEN), 0);
		ck_assert_int_eq(lz_store_get(s, i, back, LEN), 0);
		ck_assert_mem_eq(buf, back, LEN);
	}
	for (uint32_t i = 0; i < BLOCKS; i++) {
		ck_assert_int_eq(lz_store_get(s, i, back, LEN), !lz_store_has(s, i));
		kept += lz_store_has(s, i);
		ck_assert(!lz_store_has(s, i) || back[0] == i);
	}
	/* at most the limit, at least half of it, without the last ones that are missing */
	ck_assert_uint_ge(kept, _i ? 4 : 8);
	ck_assert_uint_le(kept, FITS);
	ck_assert(lz_store_has(s, BLOCKS - 1));
	ck_assert(!lz_store_has(s, 0));
	ck_assert(!lz_store_has(s, BLOCKS));
	ck_assert_int_eq(lz_store_get(s, BLOCKS, back, LEN), 1);
	lz_store_free(s);
	allow_files_of(RLIM_INFINITY);
}
END_TEST

START_TEST(store_without_any_room)
{
	struct lz_store *s = lz_store_new(dir, BLOCKS, 1 << 30);
	uint8_t buf[LEN] = {1};

	ck_assert_msg(s != NULL, "%s", lz_error());
	allow_files_of(4);
	ck_assert_int_eq(lz_store_put(s, 1, LZ_CODEC_RAW, buf, LEN), -1);
	ck_assert_msg(strstr(lz_error(), dir), "%s", lz_error());
	ck_assert(!lz_store_has(s, 1));
	lz_store_free(s);
	allow_files_of(RLIM_INFINITY);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("flow");
	TCase *t = tcase_create("flow");

	suite_add_tcase(s, t);
	tcase_add_checked_fixture(t, make_dir, remove_dir);
	tcase_add_test(t, sums_by_pieces);
	tcase_add_test(t, only_sums);
	tcase_add_test(t, switches_at_the_limit);
	tcase_add_test(t, below_the_limit);
	tcase_add_loop_test(t, stores_what_can_be_packed, 0, 2);
	tcase_add_test(t, a_checkpoint_looks_anew);
	tcase_add_test(t, the_end_is_stored);
	tcase_add_test(t, summed_by_the_caller);
	tcase_add_test(t, is_computed_again);
	tcase_add_test(t, not_believed);
	tcase_add_loop_test(t, store_keeps_the_latest, 0, 2);
	tcase_add_test(t, store_without_any_room);
	return run_suite(s);
}
