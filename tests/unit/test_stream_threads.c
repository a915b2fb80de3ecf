/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of threads that share one marker stream, what is decoded of the shared stream must be what each thread's own markers give by themselves. */
#include "tests/unit/made_threads.h"
#include "tests/unit/suite.h"

#include <replayer/stream/windows.h>

/* ---- comparing ---- */

/* The decoder numbers threads in the order in which they first ran. */
static uint32_t number_of(struct made *m, uint32_t thread)
{
	for (uint32_t i = 0; i < m->threads.n; i++) {
		uint32_t tid = m->turns.v[m->threads.first[i]].tid;

		/* tid 501 is two threads, the later of which is the last made */
		if (tid == m->s[thread].tid && (thread != 3 || i == m->threads.n - 1))
			return i;
	}
	return LZ_NO_THREAD;
}

/* How many of the thread's bytes lie before stream offset OFFSET. */
static size_t before(const struct made_thread *s, uint64_t offset)
{
	size_t n = 0;

	while (n < s->n && s->at[n] < offset)
		n++;
	return n;
}

static void compare(struct made *m, uint32_t thread, uint64_t offset, bool local)
{
	const struct made_thread *s = &m->s[thread];
	size_t mine = before(s, offset);
	struct lz_decoder want, *got;

	lz_decoder_init(&want);
	ck_assert_int_eq(lz_decoder_feed(&want, s->bytes, mine, 0, NULL, NULL, NULL),
	                 (int64_t)mine);
	got = local ? lz_stream_stack_local(m->stream, offset, number_of(m, thread))
	            : lz_stream_stack(m->stream, offset, number_of(m, thread));
	ck_assert_msg(got != NULL, "%s", lz_error());
	if (!local)
		ck_assert_msg(got->n == want.n && got->n_parked == want.n_parked,
		              "thread %u at %lu: %zu activations, %zu parked, not %zu, %zu", thread,
		              (unsigned long)offset, got->n, got->n_parked, want.n, want.n_parked);
	for (size_t i = 1; i <= got->n && i <= want.n; i++) {
		struct lz_act *a = &want.acts[want.n - i], *b = &got->acts[got->n - i];

		if (local && s->at[a->enter] != b->enter)
			break; /* began before the block */
		ck_assert_uint_eq(s->at[a->enter], b->enter);
		ck_assert_uint_eq(s->at[a->last_at - 1] + 1, b->last_at);
		ck_assert_uint_eq(a->entry, b->entry);
		ck_assert_uint_eq(a->frame, b->frame);
		ck_assert_uint_eq(a->last, b->last);
	}
	lz_decoder_free(&want);
}

START_TEST(stacks_are_each_threads_own)
{
	static struct made m;

	make(&m, (unsigned)_i);
	for (int k = 0; k < 300; k++) {
		uint64_t offset = (uint64_t)random() % (m.len + 1);

		while (!m.boundary[offset] && offset)
			offset--;
		for (uint32_t i = 0; i < m.n; i++)
			if (m.s[i].has_run && !(m.s[i].ended && offset > SIZE / 2))
				compare(&m, i, offset, k % 5 == 4);
	}
	unmake(&m);
}
END_TEST

struct counted {
	struct made *m;
	uint64_t behind; /* stream offset of the gap that must come next */
	size_t n;
};

static int count(void *arg, struct lz_decoder *d, const struct lz_mark *mark)
{
	struct counted *c = arg;

	ck_assert_uint_eq(mark->from, c->behind);
	ck_assert_uint_eq(d->thread, number_of(c->m, c->m->owner[mark->offset]));
	c->behind = mark->offset + lz_marker_size(mark->code);
	c->n++;
	return 0;
}

START_TEST(each_marker_is_its_threads)
{
	static struct made m;
	struct counted c = {.m = &m};

	make(&m, 100 + (unsigned)_i);
	for (uint32_t i = 0; i < lz_stream_n_blocks(m.stream); i++)
		ck_assert_int_eq(lz_stream_decode(m.stream, i, UINT64_MAX, NULL, count, &c), 0);
	ck_assert_uint_eq(c.behind, m.len);
	ck_assert_uint_gt(c.n, 1000);
	unmake(&m);
}
END_TEST

/* A thread's own bytes, counted one by one. */
START_TEST(own_bytes)
{
	static struct made m;

	make(&m, 200 + (unsigned)_i);
	for (int k = 0; k < 2000; k++) {
		uint64_t from = (uint64_t)random() % (m.len + 1);
		uint64_t to = (uint64_t)random() % (m.len + 1), at;
		uint32_t i = (uint32_t)random() % m.n, number = number_of(&m, i);
		size_t a = before(&m.s[i], from), b = before(&m.s[i], to);
		bool first;

		if (number == LZ_NO_THREAD)
			continue;
		ck_assert_uint_eq(lz_stream_thread_between(&m.threads, number, from, to),
		                  from < to ? b - a : 0);
		at = lz_stream_thread_back(&m.threads, number, to, a, &first);
		ck_assert_int_eq(first, b <= a);
		if (!first) /* right behind one of its bytes, A before TO */
			ck_assert_uint_eq(at, m.s[i].at[b - a - 1] + 1);
	}
	unmake(&m);
}
END_TEST

static bool is_wanted(uint32_t entry)
{
	return entry % 2;
}

static uint32_t resolve_wanted(void *arg, uint32_t entry, uint64_t at)
{
	(void)arg;
	(void)at;
	return is_wanted(entry) ? 0 : LZ_FN_NONE;
}

/* From now on there is one function. The index says that it runs in no block, so that nothing but
 * the switches makes windows. */
static void know_wanted(struct lz_stream *s)
{
	ck_assert_int_eq(lz_stream_index(s, lz_stream_n_blocks(s) - 1), 0);
	s->own.d.oddities = s->oddities = 0;
	s->own.d.resolve = resolve_wanted;
	s->n_fns = 1;
}

/* Is the next marker that the thread writes one that says that the function runs? */
static bool goes_on_with_wanted(const struct made *m, size_t i)
{
	const struct made_thread *s = &m->s[m->switches[i].from];
	size_t at = before(s, m->switches[i].at);
	uint32_t entry;

	if (at == s->n || (s->bytes[at] != LZ_ENTER && s->bytes[at] != LZ_LANDING))
		return false;
	memcpy(&entry, &s->bytes[at + 1], sizeof(entry));
	return is_wanted(entry);
}

/* Windows at switches, of thread THREAD (as made) or of any; returns how many. */
static size_t check_switches(struct made *m, uint32_t thread)
{
	uint32_t number = thread == LZ_NO_THREAD ? thread : number_of(m, thread);
	struct lz_target t = {.fn = 0, .loose = true};
	struct lz_windows w = {0};
	size_t n = 0;

	ck_assert_int_eq(lz_find_windows(m->stream, m->modules, 0, 0, m->len, number, &t, 1, &w),
	                 0);
	for (size_t i = 0; i < m->n_switches; i++) {
		uint64_t at = m->switches[i].at;

		if ((thread != LZ_NO_THREAD && m->switches[i].from != thread) ||
		    !goes_on_with_wanted(m, i) || (n && w.w[n - 1].from == at))
			continue;
		ck_assert_uint_lt(n, w.n);
		ck_assert_uint_eq(w.w[n].from, at);
		ck_assert_uint_eq(w.w[n++].to, at + 1);
	}
	ck_assert_uint_eq(w.n, n + 1);
	ck_assert_uint_eq(w.w[n].from, m->len); /* what runs behind the last marker */
	free(w.w);
	return n;
}

/* A thread stands in front of a function's first marker while others run. */
START_TEST(switched_at_a_beginning)
{
	static struct made m;
	size_t n = 0;

	make(&m, 300 + (unsigned)_i);
	know_wanted(m.stream);
	ck_assert_uint_gt(check_switches(&m, LZ_NO_THREAD), 1);
	for (uint32_t i = 0; i < m.n; i++)
		if (m.s[i].has_run)
			n += check_switches(&m, i);
	ck_assert_uint_gt(n, 1);
	unmake(&m);
}
END_TEST

/* Thread 11 ends, and its number is used again. */
START_TEST(threads_by_number)
{
	struct lz_turn v[] = {
	    {.tid = 10, .event = 0, .marker = 0, .before = LZ_NO_TURN},
	    {.tid = 11, .event = 5, .marker = 10, .before = LZ_NO_TURN},
	    {.tid = 10, .event = 8, .marker = 20, .before = 0},
	    {.tid = 11, .event = 12, .marker = 20, .before = 1, .ends = true},
	    {.tid = 10, .event = 15, .marker = 30, .before = 2},
	    {.tid = 11, .event = 20, .marker = 30, .before = LZ_NO_TURN},
	};
	struct lz_turns turns = {.v = v, .n = sizeof(v) / sizeof(*v)};
	struct lz_stream_threads t;

	ck_assert_int_eq(lz_stream_threads_init(&t, &turns), 0);
	ck_assert_uint_eq(t.n, 3);
	ck_assert_uint_eq(lz_stream_thread_at(&t, 12), 1);
	ck_assert_uint_eq(lz_stream_thread_at(&t, 20), 2);

	ck_assert_uint_eq(lz_stream_thread_find(&t, 11, 0), 1);  /* runs later only */
	ck_assert_uint_eq(lz_stream_thread_find(&t, 11, 12), 1); /* in its last turn */
	ck_assert_uint_eq(lz_stream_thread_find(&t, 11, 15), 2);
	ck_assert_uint_eq(lz_stream_thread_find(&t, 11, 20), 2);
	ck_assert_uint_eq(lz_stream_thread_find(&t, 10, 20), 0);
	ck_assert_uint_eq(lz_stream_thread_find(&t, 12, 20), LZ_NO_THREAD);

	ck_assert_uint_eq(lz_stream_thread_turn_before(&t, 0, 0), LZ_NO_TURN);
	ck_assert_uint_eq(lz_stream_thread_turn_before(&t, 1, 10), LZ_NO_TURN);
	ck_assert_uint_eq(lz_stream_thread_turn_before(&t, 1, 11), 1);
	ck_assert_uint_eq(lz_stream_thread_turn_before(&t, 0, 30), 2);
	ck_assert_uint_eq(lz_stream_thread_turn_before(&t, 0, 31), 4);
	ck_assert_uint_eq(lz_stream_thread_turn_before(&t, 2, 31), 5);
	lz_stream_threads_free(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stream_threads");
	TCase *t = tcase_create("stream_threads");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, stacks_are_each_threads_own, 0, 6);
	tcase_add_loop_test(t, each_marker_is_its_threads, 0, 6);
	tcase_add_loop_test(t, own_bytes, 0, 6);
	tcase_add_loop_test(t, switched_at_a_beginning, 0, 6);
	tcase_add_test(t, threads_by_number);
	suite_add_tcase(s, t);
	return run_suite(s);
}
