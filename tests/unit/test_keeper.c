/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks that were computed again and wait to be packed: they can be read, and none is lost when the keeper ends. */
#include "tests/unit/suite.h"

#include <common/recording/codec.h>
#include <common/recording/writer.h>
#include "replayer/session/rebuild_keep.h"
#include "tests/unit/sample_events.h"

enum { TID = 77, LEN = 50000, BLOCKS = 3 };
#define ALL (1ull << 40)

static char rec[96];
static struct lz_rebuild_sink sink;
static struct lz_reader *reader;

static void fill(uint8_t *bytes, unsigned block)
{
	for (unsigned k = 0; k < LEN; k++)
		bytes[k] = stream_byte((uint64_t)block * LEN + k);
}

static void set_up(void)
{
	make_dir();
	snprintf(rec, sizeof(rec), "%s/rec", dir);
	struct lz_writer *w = lz_writer_create(rec, &meta);
	ck_assert_msg(w != NULL, "%s", lz_error());
	lz_writer_flow(w, LZ_FLOW_HASH, 0);
	struct lz_event ev = {.kind = LZ_EV_EXIT, .tid = TID};
	ck_assert_int_eq(lz_writer_event(w, &ev), 0);
	for (unsigned i = 0; i < BLOCKS; i++) {
		put_markers(w, (uint64_t)i * LEN, (uint64_t)(i + 1) * LEN);
		ck_assert_int_eq(lz_writer_drain(w), 0);
	}
	struct lz_meta m = meta;
	ck_assert_msg(lz_writer_finish(w, &m) == 0, "%s", lz_error());
	reader = lz_reader_open(rec);
	ck_assert_msg(reader != NULL, "%s", lz_error());
	sink =
	    (struct lz_rebuild_sink){.codec = LZ_CODEC_LZ4, .store_limit = ALL, .index_limit = ALL};
	pthread_mutex_init(&sink.lock, NULL);
}

static void tear_down(void)
{
	lz_store_free(sink.store);
	free(sink.why_not);
	lz_reader_close(reader);
	remove_dir();
}

/* With N threads. */
static struct lz_keeper *keeper(unsigned n)
{
	struct lz_keeper *k = lz_keeper_new(&sink, reader, TID);

	ck_assert_msg(k != NULL, "%s", lz_error());
	lz_keeper_begin(k, n);
	return k;
}

static void put_all(struct lz_keeper *k)
{
	uint8_t *bytes = malloc(LZ_BLOCK_MAX);

	ck_assert_ptr_nonnull(bytes);
	for (unsigned i = 0; i < BLOCKS; i++) {
		fill(bytes, i);
		bytes = lz_keeper_put(k, i, bytes, LEN);
		ck_assert_ptr_nonnull(bytes);
	}
	free(bytes);
	lz_keeper_end(k);
}

static void assert_block(const uint8_t *got, unsigned block)
{
	static uint8_t want[LEN];

	fill(want, block);
	ck_assert(memcmp(got, want, LEN) == 0);
}

/* The one thread waits for the sink. */
START_TEST(read_while_it_waits)
{
	static uint8_t got[LEN];

	sink.index_limit = 0;
	struct lz_keeper *k = keeper(1);
	pthread_mutex_lock(&sink.lock);
	put_all(k);
	for (unsigned i = 0; i < BLOCKS; i++) {
		ck_assert(lz_keeper_has(k, i));
		memset(got, 0, LEN);
		ck_assert_int_eq(lz_keeper_get(k, i, got, LEN), 0);
		assert_block(got, i);
		ck_assert_int_eq(lz_keeper_get(k, i, got, LEN - 1), 1);
	}
	ck_assert(!lz_keeper_has(k, BLOCKS));
	ck_assert_int_eq(lz_keeper_get(k, BLOCKS, got, LEN), 1);
	pthread_mutex_unlock(&sink.lock);
	lz_keeper_free(k);
	for (unsigned i = 0; i < BLOCKS; i++) {
		ck_assert_int_eq(lz_store_get(sink.store, i, got, LEN), 0);
		assert_block(got, i);
	}
}
END_TEST

/* _i: how many threads. */
START_TEST(kept_when_it_ends)
{
	static uint8_t got[LEN];
	struct lz_keeper *k = keeper((unsigned)_i);

	put_all(k);
	lz_keeper_free(k);
	for (unsigned i = 0; i < BLOCKS; i++) {
		ck_assert_int_eq(lz_reader_markers_kept(reader, TID, (uint64_t)i * LEN, got, LEN),
		                 LEN);
		assert_block(got, i);
	}
}
END_TEST

/* What `lizard index` counts on: nothing waits behind the end. */
START_TEST(ahead)
{
	sink.ahead = true;
	struct lz_keeper *k = keeper(1);

	put_all(k);
	for (unsigned i = 0; i < BLOCKS; i++)
		ck_assert(!lz_keeper_has(k, i));
	ck_assert_uint_eq(lz_reader_markers_computed(reader, TID), (uint64_t)BLOCKS * LEN);
	lz_keeper_free(k);
}
END_TEST

/* It left the queue after the asking reader had looked at the recording. */
START_TEST(just_kept)
{
	static uint8_t got[LEN];

	sink.ahead = true;
	struct lz_keeper *k = keeper(2);

	put_all(k);
	for (unsigned i = 0; i < BLOCKS; i++) {
		ck_assert_int_eq(lz_keeper_get(k, i, got, LEN), 0);
		assert_block(got, i);
	}
	lz_keeper_free(k);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("keeper");
	TCase *t = tcase_create("keeper");

	suite_add_tcase(s, t);
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, read_while_it_waits);
	tcase_add_loop_test(t, kept_when_it_ends, 0, 3);
	tcase_add_test(t, ahead);
	tcase_add_test(t, just_kept);
	return run_suite(s);
}
