/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of threads in replay, and the list of turns of a recording. */
#include "tests/unit/suite.h"
#include "replayer/engine/contexts.h"
#include "replayer/stream/turns.h"
#include <check.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the table ---- */

static uint8_t xstate[3][100];

static void load(struct lz_contexts *c, uint32_t running)
{
	struct lz_thread_state t[3] = {
	    {.tid = 10, .xstate = xstate[0], .xstate_len = 100},
	    {.tid = 11, .flags = LZ_THREAD_IN_CALL, .xstate = xstate[1], .xstate_len = 100},
	    {.tid = 12, .flags = LZ_THREAD_FRESH, .xstate = xstate[2], .xstate_len = 100}};
	struct lz_checkpoint ck = {.pos.tid = running, .threads = t, .n_threads = 3};

	for (unsigned i = 0; i < 3; i++) {
		memset(xstate[i], (int)i + 1, 100);
		t[i].regs.rip = 0x1000 * (i + 1);
	}
	*c = (struct lz_contexts){0};
	ck_assert_msg(!lz_contexts_load(c, &ck), "%s", lz_error());
}

START_TEST(loaded)
{
	struct lz_contexts c;

	load(&c, 10);
	ck_assert_uint_eq(c.n, 3);
	ck_assert_uint_eq(lz_contexts_running(&c)->tid, 10);
	ck_assert(!lz_contexts_find(&c, 10)->in_call);
	ck_assert(lz_contexts_find(&c, 11)->in_call);
	ck_assert(!lz_contexts_find(&c, 11)->fresh);
	ck_assert(lz_contexts_find(&c, 12)->fresh);
	ck_assert_uint_eq(lz_contexts_find(&c, 12)->regs.rip, 0x3000);
	ck_assert_mem_eq(lz_contexts_find(&c, 12)->xstate, xstate[2], 100);
	ck_assert_ptr_null(lz_contexts_find(&c, 13));
	lz_contexts_free(&c);
}
END_TEST

START_TEST(switched)
{
	struct lz_contexts c, copy;
	struct user_regs_struct regs = {.rip = 0x77, .rbx = 5};

	load(&c, 10);
	ck_assert_int_eq(lz_contexts_switch(&c, &regs, xstate[1], 100, false, 12), 0);
	ck_assert_uint_eq(lz_contexts_running(&c)->tid, 12);
	ck_assert_uint_eq(lz_contexts_find(&c, 10)->regs.rbx, 5);
	ck_assert_mem_eq(lz_contexts_find(&c, 10)->xstate, xstate[1], 100);

	/* a copy has its own */
	ck_assert_int_eq(lz_contexts_copy(&copy, &c), 0);
	memset(lz_contexts_find(&c, 10)->xstate, 9, 100);
	ck_assert_uint_eq(lz_contexts_running(&copy)->tid, 12);
	ck_assert_mem_eq(lz_contexts_find(&copy, 10)->xstate, xstate[1], 100);

	/* a new one, and the end of one before and one behind the next in the table */
	ck_assert_int_eq(lz_contexts_add(&c, 40, &regs, xstate[2], 100), 0);
	ck_assert(lz_contexts_find(&c, 40)->fresh);
	ck_assert_mem_eq(lz_contexts_find(&c, 40)->xstate, xstate[2], 100);
	ck_assert_int_eq(lz_contexts_switch(&c, &regs, NULL, 0, true, 40), 0);
	ck_assert_uint_eq(c.n, 3);
	ck_assert_ptr_null(lz_contexts_find(&c, 12));
	ck_assert_uint_eq(lz_contexts_running(&c)->tid, 40);
	ck_assert(!lz_contexts_running(&c)->fresh);
	ck_assert_int_eq(lz_contexts_switch(&c, &regs, NULL, 0, true, 10), 0);
	ck_assert_uint_eq(lz_contexts_running(&c)->tid, 10);
	ck_assert_uint_eq(c.n, 2);
	ck_assert_uint_eq(copy.n, 3);
	lz_contexts_free(&copy);
	lz_contexts_free(&c);
}
END_TEST

START_TEST(nonsense)
{
	struct lz_contexts c;
	struct user_regs_struct regs = {0};
	struct lz_thread_state twice[2] = {{.tid = 10}, {.tid = 10}};
	struct lz_checkpoint ck = {.pos.tid = 10, .threads = twice, .n_threads = 2};

	load(&c, 10);
	ck_assert_int_eq(lz_contexts_switch(&c, &regs, NULL, 0, false, 10), -1);
	ck_assert_int_eq(lz_contexts_switch(&c, &regs, NULL, 0, false, 99), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "thread 99"));
	ck_assert_int_eq(lz_contexts_add(&c, 11, &regs, NULL, 0), -1);
	ck_assert_int_eq(lz_contexts_add(&c, 0, &regs, NULL, 0), -1);
	ck_assert_int_eq(lz_contexts_load(&c, &ck), -1);
	ck_assert_ptr_nonnull(strstr(lz_error(), "twice"));
	ck.pos.tid = 11;
	ck_assert_int_eq(lz_contexts_load(&c, &ck), -1);
	ck.n_threads = 0;
	ck_assert_int_eq(lz_contexts_load(&c, &ck), -1);
	/* what was there still is */
	ck_assert_uint_eq(c.n, 3);
	ck_assert_uint_eq(lz_contexts_running(&c)->tid, 10);
	lz_contexts_free(&c);
}
END_TEST

static int load_with(uint64_t marker, uint64_t buffer, uint64_t start, uint64_t other)
{
	struct lz_contexts c = {0};
	struct lz_thread_state t[2] = {
	    {.tid = 10, .marker = marker, .buffer = buffer, .buffer_start = start},
	    {.tid = 11, .marker = marker, .buffer = buffer + other, .buffer_start = start}};
	struct lz_checkpoint ck = {
	    .pos = {.tid = 10, .marker = 1 << 20}, .threads = t, .n_threads = 2};
	int rc = lz_contexts_load(&c, &ck);

	lz_contexts_free(&c);
	return rc;
}

/* Where the buffer is, and how much is in it. */
START_TEST(buffers)
{
	uint64_t at = 3 * LZ_BUFFER_SIZE, all = 1 << 20;

	ck_assert_int_eq(load_with(all, 0, 0, 0), 0);
	ck_assert_int_eq(load_with(all, at, all, 0), 0);
	ck_assert_int_eq(load_with(all, at, all - LZ_BUFFER_GUARD, 0), 0);
	ck_assert_int_eq(load_with(all, at, all - LZ_BUFFER_GUARD - 1, 0), -1);
	ck_assert_int_eq(load_with(all, at, all + 1, 0), -1);
	ck_assert_int_eq(load_with(all + 1, 0, 0, 0), -1);
	ck_assert_int_eq(load_with(all, at + 4096, all, 0), -1);
	ck_assert_int_eq(load_with(all, 1ull << 47, all, 0), -1);
	ck_assert_int_eq(load_with(all, at, all, LZ_BUFFER_SIZE), -1);
}
END_TEST

/* ---- turns ---- */

static const struct lz_meta meta = {.program = (char *)"/bin/prog",
                                    .build_id = (char *)"",
                                    .cwd = (char *)"/",
                                    .argv = (char *[]){NULL},
                                    .envp = (char *[]){NULL},
                                    .host = (char *)"",
                                    .kernel = (char *)"",
                                    .cpu = (char *)"",
                                    .features = (char *)"",
                                    .tid = 10};

static void put(struct lz_writer *w, struct lz_event ev)
{
	ck_assert_msg(!lz_writer_event(w, &ev), "%s", lz_error());
}

static void call(struct lz_writer *w, uint32_t tid, uint64_t marker, uint32_t flags)
{
	put(w, (struct lz_event){.kind = LZ_EV_SYSCALL,
	                         .tid = tid,
	                         .marker = marker,
	                         .ip = 0x500,
	                         .nr = SYS_read,
	                         .flags = flags});
}

static void hand_over(struct lz_writer *w, uint32_t from, uint32_t to, uint64_t marker,
                      uint32_t flags)
{
	put(w, (struct lz_event){.kind = LZ_EV_SWITCH,
	                         .tid = from,
	                         .next = to,
	                         .marker = marker,
	                         .ip = 0x600,
	                         .flags = flags,
	                         .has_regs = true,
	                         .regs.rip = 0x700 + to});
}

/* N_THREADS: that there are at the first checkpoint; all but the first are inside of calls. */
static struct lz_reader *recording(void (*fill)(struct lz_writer *w), uint32_t n_threads)
{
	char *path = NULL;
	struct lz_thread_state t[] = {{.tid = 10},
	                              {.tid = 99, .flags = LZ_THREAD_IN_CALL},
	                              {.tid = 11, .flags = LZ_THREAD_IN_CALL}};
	struct lz_checkpoint ck = {
	    .whole = true, .pos = {10, 1, 0, 0, 0x400}, .threads = t, .n_threads = n_threads};

	ck_assert_int_gt(
	    asprintf(&path, "%s/threads-%d", getenv("LIZARD_TMP") ?: "/tmp", (int)getpid()), 0);
	struct lz_writer *w = lz_writer_create(path, &meta);
	ck_assert_msg(w, "%s", lz_error());
	ck_assert_msg(!lz_writer_checkpoint(w, &ck, NULL, NULL), "%s", lz_error());
	fill(w);
	ck_assert_msg(!lz_writer_finish(w, &meta), "%s", lz_error());
	struct lz_reader *r = lz_reader_open(path);
	ck_assert_msg(r, "%s", lz_error());
	char *rm = NULL;
	ck_assert_int_gt(asprintf(&rm, "rm -rf '%s'", path), 0);
	ck_assert_int_eq(system(rm), 0);
	free(rm);
	free(path);
	return r;
}

static void some_turns(struct lz_writer *w)
{
	call(w, 10, 3, 0);                       /* 0 */
	hand_over(w, 10, 11, 5, LZ_EVF_IN_CALL); /* 1 */
	call(w, 11, 7, 0);                       /* 2 */
	hand_over(w, 11, 10, 8, 0);              /* 3 */
	call(w, 10, 8, 0);                       /* 4: what 10 was inside of */
	hand_over(w, 10, 11, 8, LZ_EVF_SPIN);    /* 5 */
	call(w, 11, 9, LZ_EVF_THREAD_END);       /* 6 */
	hand_over(w, 11, 10, 9, 0);              /* 7 */
	hand_over(w, 10, 11, 12, 0);             /* 8: the number is used again */
	call(w, 11, 13, LZ_EVF_REBASE);          /* 9: alone now, as 10 */
	call(w, 10, 14, 0);                      /* 10 */
}

START_TEST(turns)
{
	struct lz_reader *r = recording(some_turns, 1);
	struct lz_turns t;

	ck_assert_msg(!lz_turns_read(&t, r), "%s", lz_error());
	static const uint32_t tids[] = {10, 11, 10, 11, 10, 11, 10};
	static const uint64_t events[] = {0, 2, 4, 6, 8, 9, 10};
	static const uint32_t before[] = {LZ_NO_TURN, LZ_NO_TURN, 0, 1, 2, LZ_NO_TURN, LZ_NO_TURN};
	ck_assert_uint_eq(t.n, 7);
	for (unsigned i = 0; i < t.n; i++) {
		ck_assert_uint_eq(t.v[i].tid, tids[i]);
		ck_assert_uint_eq(t.v[i].event, events[i]);
		ck_assert_uint_eq(t.v[i].before, before[i]);
		ck_assert_int_eq(t.v[i].returns, i == 2);
		ck_assert_int_eq(t.v[i].calls, i == 0);
		ck_assert_int_eq(t.v[i].ends, i == 3 || i == 4 || i == 5);
		ck_assert_int_eq(t.v[i].switched, i != 0 && i != 6);
		for (uint64_t e = events[i]; e < (i + 1 < t.n ? events[i + 1] : 20); e++)
			ck_assert_uint_eq(lz_turns_at(&t, e), i);
	}
	ck_assert_uint_eq(t.v[0].after, 2);
	ck_assert_uint_eq(t.v[1].after, 3);
	ck_assert_uint_eq(t.v[3].after, LZ_NO_TURN);
	ck_assert_uint_eq(t.v[1].marker, 5);
	ck_assert_uint_eq(t.v[1].ip, 0x700 + 11);
	lz_turns_free(&t);
	lz_reader_close(r);
}
END_TEST

/* The first turn of a thread that a call was going on of ends that. Thread 99 never runs. */
START_TEST(calls_at_the_beginning)
{
	struct lz_reader *r = recording(some_turns, 3);
	struct lz_turns t;

	ck_assert_msg(!lz_turns_read(&t, r), "%s", lz_error());
	for (unsigned i = 0; i < t.n; i++)
		ck_assert_int_eq(t.v[i].returns, i == 1 || i == 2);
	lz_turns_free(&t);
	lz_reader_close(r);
}
END_TEST

static void many_threads(struct lz_writer *w)
{
	for (uint32_t i = 0; i < 20000; i++)
		hand_over(w, 10 + i, 11 + i, i, 0);
}

/* Time must not grow with the square of their number. */
START_TEST(many)
{
	struct lz_reader *r = recording(many_threads, 1);
	struct lz_turns t;

	ck_assert_msg(!lz_turns_read(&t, r), "%s", lz_error());
	ck_assert_uint_eq(t.n, 20001);
	ck_assert_uint_eq(t.v[20000].tid, 20010);
	lz_turns_free(&t);
	lz_reader_close(r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("threads");
	TCase *table = tcase_create("table"), *list = tcase_create("turns");

	tcase_add_test(table, loaded);
	tcase_add_test(table, switched);
	tcase_add_test(table, nonsense);
	tcase_add_test(table, buffers);
	tcase_add_test(list, turns);
	tcase_add_test(list, calls_at_the_beginning);
	tcase_add_test(list, many);
	suite_add_tcase(s, table);
	suite_add_tcase(s, list);
	return run_suite(s);
}
