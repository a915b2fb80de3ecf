/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-made marker streams: calls, tail calls, landings, coroutines, and what decoding does with garbage. */
#include "tests/unit/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <replayer/stream/decode.h>

/* Function n has the entry address 0x1000 + n, for n below 16. */
static uint32_t resolve(void *arg, uint32_t entry, uint64_t offset)
{
	return entry >= 0x1000 && entry < 0x1010 ? entry - 0x1000 : LZ_FN_NONE;
}

static uint32_t n_markers(void *arg, uint32_t fn)
{
	return 100;
}

/* Functions 5 and 6 have calls in tail position that return, and either kind. */
static enum lz_tail tail(void *arg, uint32_t fn)
{
	return fn == 5 ? LZ_TAIL_RETURNS : fn == 6 ? LZ_TAIL_EITHER : LZ_TAIL_GONE;
}

static void init(struct lz_decoder *d)
{
	lz_decoder_init(d);
	d->resolve = resolve;
	d->n_markers = n_markers;
	d->tail = tail;
}

struct text {
	uint8_t b[4096];
	size_t n;
};

static void word(struct text *t, uint32_t v)
{
	memcpy(t->b + t->n, &v, 4);
	t->n += 4;
}

static void enter(struct text *t, uint32_t fn)
{
	t->b[t->n++] = LZ_ENTER;
	word(t, 0x1000 + fn);
}

static void landing(struct text *t, uint32_t fn, uint32_t frame)
{
	t->b[t->n++] = LZ_LANDING;
	word(t, 0x1000 + fn);
	word(t, frame);
}

static void byte(struct text *t, uint8_t b)
{
	t->b[t->n++] = b;
}

static void feed(struct lz_decoder *d, const struct text *t)
{
	ck_assert_int_eq(lz_decoder_feed(d, t->b, t->n, 0, NULL, NULL, NULL), (int64_t)t->n);
}

static void check_stack(struct lz_decoder *d, size_t n, const uint32_t *fns)
{
	ck_assert_uint_eq(d->n, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(d->acts[i].fn, fns[i]);
}
#define STACK(d, ...)                                                                              \
	check_stack(d, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

START_TEST(calls)
{
	struct lz_decoder d;
	struct text t = {0};

	init(&d);
	enter(&t, 0);
	byte(&t, 7);
	enter(&t, 1);
	enter(&t, 1); /* recursion */
	byte(&t, 3);
	feed(&d, &t);
	STACK(&d, 0, 1, 1);
	ck_assert_uint_eq(d.acts[0].last, 7);
	ck_assert_uint_eq(d.acts[0].last_at, 6);
	ck_assert_uint_eq(d.acts[1].last, LZ_SET_ENTER);
	ck_assert_uint_eq(d.acts[2].last, 3);
	t.n = 0;
	byte(&t, LZ_EXIT);
	byte(&t, LZ_WIDE);
	byte(&t, 44);
	byte(&t, 0);
	feed(&d, &t);
	STACK(&d, 0, 1);
	ck_assert_uint_eq(d.acts[1].last, 44);
	ck_assert_uint_eq(d.oddities, 0);
	lz_decoder_free(&d);
}
END_TEST

START_TEST(tail_calls)
{
	struct lz_decoder d;
	struct text t = {0};

	init(&d);
	enter(&t, 0);
	for (int i = 0; i < 300; i++) {
		enter(&t, 1 + i % 2);
		byte(&t, LZ_TAIL);
	}
	enter(&t, 3);
	feed(&d, &t);
	STACK(&d, 0, 3); /* three hundred mutual tail calls are one activation */
	t.n = 0;
	byte(&t, LZ_EXIT);
	enter(&t, 5); /* its tail call returns and it exits by itself */
	byte(&t, LZ_TAIL);
	enter(&t, 1);
	byte(&t, LZ_EXIT);
	feed(&d, &t);
	STACK(&d, 0, 5);
	t.n = 0;
	byte(&t, LZ_EXIT);
	enter(&t, 6); /* a true one of a function that has both kinds */
	byte(&t, LZ_TAIL);
	enter(&t, 1);
	byte(&t, LZ_EXIT);
	byte(&t, 9); /* the first function goes on */
	feed(&d, &t);
	STACK(&d, 0);
	ck_assert_uint_eq(d.acts[0].last, 9);
	ck_assert_uint_eq(d.oddities, 0);
	lz_decoder_free(&d);
}
END_TEST

/* Markers of activations that were never entered: each counts once, and nothing is made up. */
START_TEST(nothing_entered)
{
	static const uint8_t codes[] = {LZ_EXIT, LZ_TAIL, 7};
	struct lz_decoder d;

	init(&d);
	for (uint64_t i = 0; i < sizeof(codes); i++) {
		struct text t = {0};

		byte(&t, codes[i]);
		feed(&d, &t);
		ck_assert_uint_eq(d.n, 0);
		ck_assert_uint_eq(d.oddities, i + 1);
	}
	lz_decoder_free(&d);
}
END_TEST

START_TEST(longjmp_out_of_recursion)
{
	struct lz_decoder d;
	struct text t = {0};

	init(&d);
	for (uint32_t i = 0; i < 4; i++) {
		enter(&t, 2);
		landing(&t, 2, 0x100 - 0x10 * i);
	}
	enter(&t, 3);
	feed(&d, &t);
	STACK(&d, 2, 2, 2, 2, 3);
	t.n = 0;
	landing(&t, 2, 0xF0); /* the second one again */
	feed(&d, &t);
	STACK(&d, 2, 2);
	ck_assert_uint_eq(d.acts[1].last, LZ_LAST_LANDING);
	ck_assert_uint_eq(d.oddities, 0);
	lz_decoder_free(&d);
}
END_TEST

START_TEST(coroutines)
{
	struct lz_decoder d;
	struct text t = {0};

	init(&d);
	enter(&t, 0);
	landing(&t, 0, 0x900);
	enter(&t, 1); /* the coroutine, on a stack of its own */
	landing(&t, 1, 0x500);
	enter(&t, 2);
	landing(&t, 2, 0x480);
	feed(&d, &t);
	for (size_t i = 0; i < d.n; i++)
		d.acts[i].node = 77; /* saved */
	t.n = 0;
	landing(&t, 0, 0x900); /* switches back */
	feed(&d, &t);
	STACK(&d, 0);
	ck_assert_uint_eq(d.n_parked, 1);
	for (size_t i = 0; i < d.parked[0].n; i++)
		ck_assert_uint_eq(d.parked[0].acts[i].node, 0); /* not as it is now */
	t.n = 0;
	landing(&t, 2, 0x480); /* and in again, where it left off */
	feed(&d, &t);
	STACK(&d, 0, 1, 2);
	t.n = 0;
	byte(&t, LZ_EXIT);
	byte(&t, 4);
	feed(&d, &t);
	STACK(&d, 0, 1);
	ck_assert_uint_eq(d.oddities, 0);
	lz_decoder_free(&d);
}
END_TEST

static int count(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	(*(int *)arg)++;
	return 0;
}

START_TEST(watching)
{
	static const uint8_t watch[16] = {[1] = 1};
	struct lz_decoder d;
	struct text t = {0};
	int n = 0;

	init(&d);
	enter(&t, 0);
	byte(&t, 1);
	byte(&t, 2);
	enter(&t, 1); /* seen */
	byte(&t, 3);  /* seen */
	enter(&t, 2); /* seen: closes a gap of 1 */
	byte(&t, 4);
	byte(&t, LZ_EXIT);
	byte(&t, LZ_EXIT); /* seen */
	byte(&t, 5);
	ck_assert_int_eq(lz_decoder_feed(&d, t.b, t.n, 0, watch, count, &n), (int64_t)t.n);
	ck_assert_int_eq(n, 4);
	STACK(&d, 0);
	ck_assert_uint_eq(d.acts[0].last, 5);
	lz_decoder_free(&d);
}
END_TEST

/* Garbage: no crash, no endless loop, and the same whether it comes in one piece or in many. */
static int look_at_first(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	unsigned *n = arg;

	ck_assert_uint_eq(m->offset, 0);
	++*n;
	return 0;
}

/* Nobody is told of what a counted function calls, if that is not watched. */
START_TEST(counted_pairs)
{
	enum { ROUNDS = 20 };
	const uint8_t watch[16] = {LZ_WATCH_ALL};
	struct lz_pairs pairs[16] = {0};
	size_t room = 1 << 20;
	struct lz_decoder d;
	struct text t = {0};
	unsigned told = 0;

	init(&d);
	ck_assert_int_eq(lz_pairs_make(&pairs[0], 100, &room), 0);
	d.pairs = pairs;
	enter(&t, 0);
	for (int i = 0; i < ROUNDS; i++) {
		byte(&t, 3);
		enter(&t, 1);
		byte(&t, 3);
		byte(&t, 5);
		byte(&t, LZ_EXIT);
		byte(&t, 5);
	}
	ck_assert_int_eq(lz_decoder_feed(&d, t.b, t.n, 0, watch, look_at_first, &told),
	                 (int64_t)t.n);
	ck_assert_uint_eq(told, 1);
	STACK(&d, 0);
	const uint64_t *square = pairs[0].square;
	ck_assert_uint_eq(square[3], 1);
	ck_assert_uint_eq(square[3 * pairs[0].side + 5], ROUNDS);
	ck_assert_uint_eq(square[5 * pairs[0].side + 3], ROUNDS - 1);
	ck_assert_uint_eq(d.oddities, 0);
	free(pairs[0].square);
	lz_decoder_free(&d);
}
END_TEST

START_TEST(garbage)
{
	srandom(_i);
	for (int round = 0; round < 200; round++) {
		struct lz_decoder a, b;
		struct text t = {0};
		size_t used = 0, len;

		init(&a);
		init(&b);
		while (t.n < 2000) {
			switch (random() % 12) {
			case 0:
			case 1:
			case 2: enter(&t, random() % 18); break;
			case 3: landing(&t, random() % 8, 1 + random() % 4); break;
			case 4:
			case 5: byte(&t, LZ_EXIT); break;
			case 6: byte(&t, LZ_TAIL); break;
			case 7: byte(&t, random()); break;
			default: byte(&t, 1 + random() % 120);
			}
		}
		len = lz_decoder_feed(&a, t.b, t.n, 0, NULL, NULL, NULL);
		ck_assert_uint_le(len, t.n);
		while (used < len) {
			size_t piece = 1 + random() % 40;

			if (piece > len - used)
				piece = len - used;
			int64_t n = lz_decoder_feed(&b, t.b + used, piece, used, NULL, NULL, NULL);
			if (n == 0 && piece < len - used && piece < LZ_MARKER_MAX_SIZE)
				continue;
			ck_assert_int_ge(n, 0);
			used += n;
		}
		ck_assert_uint_eq(a.n, b.n);
		for (size_t i = 0; i < a.n; i++) {
			ck_assert_uint_eq(a.acts[i].enter, b.acts[i].enter);
			ck_assert_uint_eq(a.acts[i].last, b.acts[i].last);
			ck_assert_uint_eq(a.acts[i].last_at, b.acts[i].last_at);
		}
		lz_decoder_free(&a);
		lz_decoder_free(&b);
	}
}
END_TEST

/* Fast enough to index a recording on first use. */
START_TEST(speed)
{
	enum { SIZE = 8 << 20 };
	uint8_t *buf = malloc(SIZE);
	struct lz_decoder d;
	struct timespec t0, t1;
	size_t n = 0;
	double s;

	init(&d);
	while (n + 32 < SIZE) {
		struct text t = {0};

		enter(&t, n % 16);
		for (int i = 0; i < 16; i++)
			byte(&t, 1 + i);
		byte(&t, LZ_EXIT);
		memcpy(buf + n, t.b, t.n);
		n += t.n;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
	ck_assert_int_eq(lz_decoder_feed(&d, buf, n, 0, NULL, NULL, NULL), (int64_t)n);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
	s = (t1.tv_sec - t0.tv_sec) + (t1.tv_nsec - t0.tv_nsec) * 1e-9;
	fprintf(stderr, "# decoded %.0f MB/s\n", n / s / 1e6);
#ifndef __SANITIZE_ADDRESS__
	ck_assert(n / s > 20e6);
#endif
	lz_decoder_free(&d);
	free(buf);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("decode");
	TCase *t = tcase_create("decode");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, calls);
	tcase_add_test(t, tail_calls);
	tcase_add_test(t, nothing_entered);
	tcase_add_test(t, longjmp_out_of_recursion);
	tcase_add_test(t, coroutines);
	tcase_add_test(t, watching);
	tcase_add_test(t, counted_pairs);
	tcase_add_loop_test(t, garbage, 0, 5);
	tcase_add_test(t, speed);
	suite_add_tcase(s, t);
	return run_suite(s);
}
