/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events and checkpoints from bytes that nobody wrote: refused or read, never believed. */
#include "tests/unit/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <common/cfg/records.h>
#include <lizard/error.h>
#include <lizard/format.h>

static uint64_t state;

static uint32_t rnd(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

static void damage(uint8_t *p, size_t n)
{
	for (uint32_t k = rnd() % 4 + 1; n && k--;) {
		size_t i = rnd() % n;

		switch (rnd() % 3) {
		case 0: p[i] ^= (uint8_t)(1 << rnd() % 8); break;
		case 1: p[i] = (uint8_t)rnd(); break;
		default: memset(p + i, 0xff, n - i < 9 ? n - i : 9);
		}
	}
}

static void touch(const struct lz_event *ev)
{
	volatile uint8_t sum = 0;

	for (uint32_t i = 0; i < ev->n_writes; i++)
		for (uint64_t k = 0; k < ev->writes[i].len; k++)
			sum += ev->writes[i].bytes[k];
	for (uint32_t i = 0; i < ev->xstate_len; i++)
		sum += ev->xstate[i];
	for (uint32_t i = 0; i < ev->n_ops; i++)
		sum += ev->ops[i].op;
	(void)sum;
}

static void put_rich_event(struct lz_buf *b, unsigned kind)
{
	static uint8_t bytes[500];
	struct lz_write w[3] = {{.addr = 1, .len = 500, .bytes = bytes},
	                        {.addr = 1ull << 40, .len = 3, .bytes = bytes},
	                        {.addr = 9, .bytes = bytes}};
	struct lz_map_op ops[2] = {{.op = LZ_MAP, .len = 4096},
	                           {.op = LZ_REMAP, .old_len = 1 << 30}};
	struct lz_event ev = {.kind = (uint8_t)kind,
	                      .tid = 1,
	                      .has_regs = true,
	                      .xstate = bytes,
	                      .xstate_len = 300,
	                      .writes = w,
	                      .n_writes = 3,
	                      .ops = ops,
	                      .n_ops = 2,
	                      .signo = 11};

	lz_event_put(b, &ev);
}

START_TEST(events)
{
	struct lz_event_room room = {0};

	for (unsigned seed = 0; seed < 20000; seed++) {
		struct lz_buf b = {0};
		struct lz_event ev;
		uint8_t *copy;

		state = seed;
		put_rich_event(&b, 1 + seed % 6);
		/* An exact copy, so that the address sanitizer sees the end. */
		copy = malloc(b.len - 4);
		memcpy(copy, b.p + 4, b.len - 4);
		ck_assert_int_eq(lz_event_get(copy, (uint32_t)b.len - 4, &ev, &room), 0);
		damage(copy, b.len - 4 < 80 || seed & 1 ? b.len - 4 : 80);
		if (lz_event_get(copy, (uint32_t)b.len - 4, &ev, &room) == 0)
			touch(&ev);
		free(copy);
		lz_buf_free(&b);
	}
	lz_event_room_free(&room);
}
END_TEST

START_TEST(events_cut)
{
	struct lz_event_room room = {0};
	struct lz_buf b = {0};
	struct lz_event ev;

	put_rich_event(&b, LZ_EV_SYSCALL);
	for (uint32_t n = 0; n < b.len - 4; n++) {
		uint8_t *copy = malloc(n + !n);

		memcpy(copy, b.p + 4, n);
		ck_assert_int_eq(lz_event_get(copy, n, &ev, &room), -1);
		free(copy);
	}
	lz_buf_free(&b);
	lz_event_room_free(&room);
}
END_TEST

static int comes_back(const struct lz_event *ev)
{
	struct lz_event_room room = {0};
	struct lz_event back;
	struct lz_buf b = {0};

	lz_event_put(&b, ev);
	int rc = lz_event_get(b.p + 4, (uint32_t)b.len - 4, &back, &room);
	lz_buf_free(&b);
	lz_event_room_free(&room);
	return rc;
}

/* A debugger takes numbers of threads for positive ones. */
START_TEST(numbers_of_threads)
{
	struct lz_event ev = {.kind = LZ_EV_SWITCH, .tid = LZ_MAX_TID, .next = LZ_MAX_TID};

	ck_assert_int_eq(comes_back(&ev), 0);
	ev.tid++;
	ck_assert_int_eq(comes_back(&ev), -1);
	ev.tid = 1;
	ev.next = UINT32_MAX;
	ck_assert_int_eq(comes_back(&ev), -1);
	ev = (struct lz_event){
	    .kind = LZ_EV_SYSCALL, .flags = LZ_EVF_THREAD_BORN, .next = LZ_MAX_TID};
	ck_assert_int_eq(comes_back(&ev), 0);
	ev.next++;
	ck_assert_int_eq(comes_back(&ev), -1);
}
END_TEST

/* The highest value of each, and the one above. */
START_TEST(event_limits)
{
	static uint8_t bytes[LZ_MAX_XSTATE + 1];
	struct lz_write w = {.addr = UINT64_MAX - 5, .len = 5, .bytes = bytes};
	struct lz_map_op op = {.op = LZ_ZERO, .addr = UINT64_MAX - 5, .len = 5};
	struct lz_event ev = {.kind = LZ_EV_SIGNAL, .signo = 64};

	ck_assert_int_eq(comes_back(&ev), 0);
	ev.signo++;
	ck_assert_int_eq(comes_back(&ev), -1);
	ev = (struct lz_event){.kind = LZ_EV_SHARED, .writes = &w, .n_writes = 1};
	ck_assert_int_eq(comes_back(&ev), 0);
	w.addr++;
	ck_assert_int_eq(comes_back(&ev), -1);
	ev = (struct lz_event){.kind = LZ_EV_SHARED, .ops = &op, .n_ops = 1};
	ck_assert_int_eq(comes_back(&ev), 0);
	op.addr++;
	ck_assert_int_eq(comes_back(&ev), -1);
	op.addr--;
	op.op++;
	ck_assert_int_eq(comes_back(&ev), -1);
	op.op = LZ_MAP - 1;
	ck_assert_int_eq(comes_back(&ev), -1);
	op = (struct lz_map_op){.op = LZ_REMAP, .old_addr = UINT64_MAX, .old_len = 1};
	ck_assert_int_eq(comes_back(&ev), -1);
	ev = (struct lz_event){.kind = LZ_EV_SHARED, .xstate = bytes, .xstate_len = LZ_MAX_XSTATE};
	ck_assert_int_eq(comes_back(&ev), 0);
	ev.xstate_len++;
	ck_assert_int_eq(comes_back(&ev), -1);
	ev = (struct lz_event){.kind = LZ_EV_SHARED + 1};
	ck_assert_int_eq(comes_back(&ev), -1);
}
END_TEST

static bool head_comes_back(uint32_t tid, uint32_t n_threads, uint32_t n_vmas)
{
	struct lz_thread_state *t = calloc(n_threads, sizeof(*t));
	struct lz_vma *v = calloc(n_vmas, sizeof(*v));
	struct lz_checkpoint ck = {
	    .threads = t, .n_threads = n_threads, .vmas = v, .n_vmas = n_vmas};
	struct lz_buf b = {0};

	t[0].tid = tid;
	for (uint32_t i = 0; i < n_vmas; i++)
		v[i] = (struct lz_vma){.start = i * 0x1000ull, .end = (i + 1) * 0x1000ull};
	lz_head_put(&b, &ck);
	struct lz_checkpoint *back = lz_head_get(&b, 0);
	lz_checkpoint_free(back);
	lz_buf_free(&b);
	free(t);
	free(v);
	return back;
}

/* More would only cost time. */
START_TEST(head_limits)
{
	ck_assert(head_comes_back(LZ_MAX_TID, LZ_MAX_THREADS, 1));
	ck_assert(!head_comes_back(LZ_MAX_TID + 1, 1, 1));
	ck_assert(!head_comes_back(1, LZ_MAX_THREADS + 1, 1));
	ck_assert(head_comes_back(1, 1, LZ_MAX_VMAS));
	ck_assert(!head_comes_back(1, 1, LZ_MAX_VMAS + 1));
}
END_TEST

START_TEST(empty_mapping)
{
	struct lz_thread_state t = {.tid = 1};
	struct lz_vma v = {.start = 0x1000, .end = 0x2000};
	struct lz_checkpoint ck = {.threads = &t, .n_threads = 1, .vmas = &v, .n_vmas = 1}, *back;

	for (unsigned pages = 0; pages < 2; pages++) {
		struct lz_buf b = {0};

		v.end = v.start + pages * 0x1000;
		lz_head_put(&b, &ck);
		back = lz_head_get(&b, 0);
		ck_assert_int_eq(back != NULL, pages);
		lz_checkpoint_free(back);
		lz_buf_free(&b);
	}
}
END_TEST

static void put_rich_head(struct lz_buf *b)
{
	static uint8_t xstate[400];
	struct lz_thread_state t[2] = {{.tid = 5, .xstate = xstate, .xstate_len = 400},
	                               {.tid = 6, .flags = LZ_THREAD_IN_CALL | LZ_THREAD_FRESH}};
	struct lz_vma v[2] = {{0x1000, 0x3000, 3, 2, 0, 1, 0}, {0x4000, 0x10000, 3, 2, 0, 2, 0}};
	uint64_t dirty[4] = {0, 0x1000, 0x5000, 0xfffffffffffff000};
	struct lz_checkpoint ck = {.index = 3,
	                           .exact = true,
	                           .threads = t,
	                           .n_threads = 2,
	                           .vmas = v,
	                           .n_vmas = 2,
	                           .dirty = dirty,
	                           .n_dirty = 4};

	lz_head_put(b, &ck);
}

START_TEST(heads)
{
	for (unsigned seed = 0; seed < 20000; seed++) {
		struct lz_buf b = {0}, exact = {0};
		struct lz_checkpoint *ck;

		state = seed;
		put_rich_head(&b);
		exact.p = malloc(b.len);
		exact.len = b.len;
		memcpy(exact.p, b.p, b.len);
		ck = lz_head_get(&exact, 4);
		ck_assert_msg(ck, "%s", lz_error());
		ck_assert_uint_eq(ck->dirty[3], 0xfffffffffffff000);
		ck_assert_uint_eq(ck->vmas[1].start, 0x4000);
		ck_assert_uint_eq(ck->threads[0].xstate_len, 400);
		ck_assert(ck->exact && !ck->whole);
		ck_assert_uint_eq(ck->threads[0].flags, 0);
		ck_assert_uint_eq(ck->threads[1].flags, LZ_THREAD_IN_CALL | LZ_THREAD_FRESH);
		lz_checkpoint_free(ck);
		damage(exact.p, exact.len);
		ck = lz_head_get(&exact, seed % 7 ? 4 : rnd());
		for (uint32_t i = 1; ck && i < ck->n_dirty; i++)
			ck_assert_uint_gt(ck->dirty[i], ck->dirty[i - 1]);
		for (uint32_t i = 0; ck && i < ck->n_vmas; i++)
			ck_assert_uint_gt(ck->vmas[i].end, ck->vmas[i].start);
		lz_checkpoint_free(ck);
		exact.len = rnd() % b.len;
		ck_assert_ptr_null(
		    ck = lz_head_get(&(struct lz_buf){.p = b.p, .len = exact.len}, 4));
		lz_buf_free(&b);
		lz_buf_free(&exact);
	}
}
END_TEST

START_TEST(file_names)
{
	static const char *const bad[] = {
	    "../../etc/passwd", "/etc/passwd", "..", ".", ".x", "a/b"};

	for (unsigned i = 0; i < 6; i++) {
		struct lz_file f = {.path = (char *)"/x",
		                    .copy = (char *)bad[i],
		                    .build_id = (char *)""},
		               back;
		struct lz_buf b = {0};

		lz_file_put(&b, &f);
		ck_assert_int_eq(lz_file_get(&b, &back), -1);
		lz_buf_free(&b);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("event");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, events);
	tcase_add_test(t, events_cut);
	tcase_add_test(t, heads);
	tcase_add_test(t, file_names);
	tcase_add_test(t, numbers_of_threads);
	tcase_add_test(t, event_limits);
	tcase_add_test(t, head_limits);
	tcase_add_test(t, empty_mapping);
	suite_add_tcase(s, t);
	return run_suite(s);
}
