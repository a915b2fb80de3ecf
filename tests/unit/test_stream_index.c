/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call stacks at the starts of blocks, kept in the recording, and walks that several threads do at once. What they see is
 * what a walk from the beginning to the end sees. A file that is damaged, another recording's or forged does no harm. */
#include "tests/unit/made_threads.h"
#include "tests/unit/suite.h"

#include <common/recording/seal.h>
#include <replayer/stream/spread.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READERS = 3 };

/* What a walk has seen, in whichever order. */
struct seen {
	uint64_t sum, n;
};

static uint64_t mix(uint64_t x, uint64_t y)
{
	x = (x ^ y) * 0x9E3779B97F4A7C15u;
	return x ^ x >> 29;
}

static int see(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct seen *seen = arg;
	uint64_t one = mix(mix(m->offset, m->code), d->thread);

	one = mix(mix(mix(one, d->landed.act), d->landed.last), d->n_parked);
	for (size_t i = 0; i < d->n; i++)
		one = mix(mix(mix(mix(one, d->acts[i].enter), d->acts[i].last), d->acts[i].frame),
		          d->acts[i].tail);
	seen->sum += one;
	seen->n++;
	return 0;
}

/* The same of the activation only that a marker is of. */
static int see_running(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct seen *seen = arg;
	const struct lz_act *top = m->code == LZ_ENTER ? NULL : lz_decoder_top(d);
	uint64_t one = mix(mix(m->offset, m->code), d->thread);

	if (top)
		one = mix(mix(mix(mix(one, top->enter), top->last), top->frame), top->last_at);
	if (top && top->last == LZ_LAST_LANDING && d->landed.act == lz_act_id(top))
		one = mix(one, d->landed.last);
	seen->sum += one;
	seen->n++;
	return 0;
}

static struct lz_stream *anew(struct made *m)
{
	struct lz_stream *s = lz_stream_new(m->r, m->modules, &m->threads);

	ck_assert_msg(s != NULL, "%s", lz_error());
	return s;
}

static struct seen walked(struct made *m, lz_mark_fn *fn)
{
	struct lz_stream *s = anew(m);
	struct seen seen = {0};
	const struct lz_walk w = {.to = m->len, .fn = fn, .arg = &seen};

	ck_assert_int_eq(lz_stream_walk(s, &w), 0);
	ck_assert_uint_gt(seen.n, 1000);
	lz_stream_free(s);
	return seen;
}

static struct seen spread_on(struct lz_stream *s, unsigned n, lz_mark_fn *fn)
{
	struct seen each[READERS] = {0}, all = {0};
	void *arg[READERS] = {&each[0], &each[1], &each[2]};
	const struct lz_spread w = {.fn = fn, .inner = fn == see_running, .arg = arg, .n = n};

	ck_assert_msg(lz_stream_spread(s, &w) == 0, "%s", lz_error());
	for (int i = 0; i < READERS; i++) {
		all.sum += each[i].sum;
		all.n += each[i].n;
	}
	return all;
}

static struct seen spread(struct lz_stream *s)
{
	return spread_on(s, READERS, see);
}

static bool same(struct seen a, struct seen b)
{
	return a.n == b.n && a.sum == b.sum;
}

/* A stream that has what the recording keeps. */
static struct lz_stream *fetched(struct made *m)
{
	struct lz_stream *s = anew(m);

	lz_stream_index_fetch(s);
	return s;
}

static bool is_whole(const struct lz_stream *s)
{
	return lz_stream_indexed(s) == lz_stream_n_blocks(s) + 1;
}

static void keep(struct made *m)
{
	struct lz_stream *s = anew(m);

	spread(s);
	lz_stream_index_keep(s);
	lz_stream_free(s);
}

START_TEST(sees_all)
{
	static struct made m;

	make(&m, (unsigned)_i);
	const struct seen want = walked(&m, see);
	struct lz_stream *s = anew(&m);
	ck_assert(same(spread(s), want));
	ck_assert(is_whole(s) && same(spread(s), want));
	struct lz_stream *alone = anew(&m);
	ck_assert(same(spread_on(alone, 1, see), want));
	ck_assert(is_whole(alone) && same(spread_on(alone, 1, see), want));
	lz_stream_free(alone);
	struct lz_decoder *d = lz_stream_decoder(s);
	struct lz_decoder *end = lz_stream_stack(m.stream, m.len, d->thread);
	ck_assert_uint_eq(d->n, end->n);
	lz_stream_free(s);
	unmake(&m);
}
END_TEST

/* Blocks are looked at before their call stacks are known. */
START_TEST(sees_what_runs)
{
	static struct made m;

	make(&m, 500 + (unsigned)_i);
	const struct seen want = walked(&m, see_running), all = walked(&m, see);
	struct lz_stream *s = anew(&m);
	ck_assert(same(spread_on(s, READERS, see_running), want));
	ck_assert(is_whole(s) && same(spread_on(s, READERS, see_running), want));
	ck_assert(same(spread(s), all));
	lz_stream_free(s);
	unmake(&m);
}
END_TEST

START_TEST(is_kept)
{
	static struct made m;

	make(&m, 1000 + (unsigned)_i);
	const struct seen want = walked(&m, see);
	struct lz_stream *s = fetched(&m);
	ck_assert(!is_whole(s));
	lz_stream_free(s);
	keep(&m);
	s = fetched(&m);
	ck_assert(is_whole(s) && same(spread(s), want));
	lz_stream_free(s);
	unmake(&m);
}
END_TEST

/* ---- a file that is wrong ---- */

static char path[128];

static uint8_t *read_file(size_t *len)
{
	FILE *f;
	struct stat st;

	snprintf(path, sizeof(path), "%s/index/stacks-%d", dir, FIRST_TID);
	ck_assert_int_eq(stat(path, &st), 0);
	*len = (size_t)st.st_size;
	uint8_t *bytes = malloc(*len);
	ck_assert_ptr_nonnull(f = fopen(path, "r"));
	ck_assert_uint_eq(fread(bytes, 1, *len, f), *len);
	fclose(f);
	return bytes;
}

static void write_file(const uint8_t *bytes, size_t len)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

/* What is not as it was written is not taken. */
START_TEST(damaged)
{
	static struct made m;
	size_t len;

	make(&m, 2000);
	const struct seen want = walked(&m, see);
	keep(&m);
	uint8_t *bytes = read_file(&len);
	for (int i = 0; i < 300; i++) {
		const size_t at = (size_t)random() % len;

		bytes[at] ^= (uint8_t)(1 << i % 8);
		write_file(bytes, i % 3 ? len : (size_t)random() % len);
		bytes[at] ^= (uint8_t)(1 << i % 8);
		struct lz_stream *s = fetched(&m);
		ck_assert(!is_whole(s));
		if (i % 50 == 0)
			ck_assert(same(spread(s), want));
		lz_stream_free(s);
	}
	/* it is made anew */
	keep(&m);
	struct lz_stream *s = fetched(&m);
	ck_assert(is_whole(s));
	lz_stream_free(s);
	free(bytes);
	unmake(&m);
}
END_TEST

START_TEST(of_another_recording)
{
	static struct made m;
	size_t len;

	make(&m, 2001);
	keep(&m);
	uint8_t *bytes = read_file(&len);
	unmake(&m);
	make(&m, 2002);
	const struct seen want = walked(&m, see);
	keep(&m);
	free(read_file(&(size_t){0}));
	write_file(bytes, len);
	struct lz_stream *s = fetched(&m);
	ck_assert(!is_whole(s) && same(spread(s), want));
	lz_stream_free(s);
	free(bytes);
	unmake(&m);
}
END_TEST

/* A user's file is no other user's. */
START_TEST(of_another_user)
{
	static struct made m;
	char state[80];

	make(&m, 2003);
	snprintf(state, sizeof(state), "%s/state", dir);
	keep(&m);
	ck_assert_int_eq(setenv("XDG_STATE_HOME", state, 1), 0);
	struct lz_stream *s = fetched(&m);
	ck_assert(!is_whole(s));
	lz_stream_free(s);
	keep(&m);
	s = fetched(&m);
	ck_assert(is_whole(s));
	lz_stream_free(s);
	unmake(&m);
}
END_TEST

/* Numbers with a right seal: nothing is believed that would be an index out of bounds. */
START_TEST(forged)
{
	static struct made m;
	size_t len;
	int taken = 0;

	make(&m, 3000 + (unsigned)_i);
	keep(&m);
	uint8_t *right = read_file(&len), *bytes = malloc(len);
	const size_t all = len - LZ_SEAL_LEN;
	for (int i = 0; i < 600; i++) {
		static const uint32_t values[] = {0,    1,    2,          63,        65,
		                                  4096, 5000, 0x7fffffff, 0xffffffff};
		uint32_t value = i % 2 ? values[(size_t)random() % 9] : (uint32_t)random() % 40;

		memcpy(bytes, right, len);
		memcpy(bytes + (size_t)random() % (all / 4) * 4, &value, 4);
		ck_assert_int_eq(lz_seal(strrchr(path, '/') + 1, bytes, all, bytes + all), 0);
		write_file(bytes, len);
		struct lz_stream *s = fetched(&m);
		taken += is_whole(s);
		spread(s);
		lz_stream_free(s);
	}
	ck_assert_int_gt(taken, 100);
	ck_assert_int_lt(taken, 600);
	free(right);
	free(bytes);
	unmake(&m);
}
END_TEST

/* The key. */
static char state_home[64] = "/tmp/lizard-test-XXXXXX";

static void make_home(void)
{
	ck_assert_ptr_nonnull(mkdtemp(state_home));
	setenv("XDG_STATE_HOME", state_home, 1);
}

static void remove_home(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", state_home);
	ck_assert_int_eq(system(cmd), 0);
}

int main(void)
{
	Suite *s = suite_create("stream_index");
	TCase *t = tcase_create("index");

	tcase_add_unchecked_fixture(t, make_home, remove_home);

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, sees_all, 0, 20);
	tcase_add_loop_test(t, sees_what_runs, 0, 100);
	tcase_add_loop_test(t, is_kept, 0, 20);
	tcase_add_test(t, damaged);
	tcase_add_test(t, of_another_recording);
	tcase_add_test(t, of_another_user);
	tcase_add_loop_test(t, forged, 0, 4);
	suite_add_tcase(s, t);
	return run_suite(s);
}
