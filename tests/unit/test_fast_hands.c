/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same of threads that hand the turn to each other. */
#include "tests/unit/fast_log.h"

#include <lizard/recording.h>

enum { HERE = 3, THERE = 5, SECOND = 8, IP = 0x401000, WAITS_AT = 0x402000, MARKED = 6 };

static struct lz_thread second;
static struct lz_site site = {.at = IP - LZ_CALL_INSN};
static struct lz_thread *both[] = {&thread, &second};

/* The second thread is on standby, and the first one has the turn. */
static void begin_both(void)
{
	t.thread = both;
	t.n_threads = 2;
	t.cur = &thread;
	t.fast.n_standby = 1;
	t.fast.sites.a = &site;
	t.fast.sites.n = 1;
	t.fast.page->parked_end = THERE + 1;
	thread = (struct lz_thread){.tid = 7, .dispatched = true, .fast = true};
	second = (struct lz_thread){.tid = SECOND,
	                            .dispatched = true,
	                            .standby = true,
	                            .running = true,
	                            .ready = true,
	                            .in_call = true,
	                            .seen = true,
	                            .parked = THERE + 1};
	second.call = (struct lz_call){
	    .inside = true, .nr = SYS_futex, .ip = WAITS_AT, .args = {0x1000, 128, 9}};
	second.regs.rip = second.call.entry.rip = WAITS_AT;
}

static struct lz_call_record wait_record(void)
{
	struct lz_call_record r = record(LZ_CALL_HAND, 0);

	r.len = RECORD + sizeof(struct lz_hand_entry);
	r.args[0] = 0x2000;
	return r;
}

static struct lz_hand_entry entry(void)
{
	return (struct lz_hand_entry){
	    .mine = HERE,
	    .next = THERE,
	    .next_r15 = 0x77,
	    .regs = {.regs = {.rdi = 0x2000, .rsi = 128, .rdx = 4, .rsp = 0x5000}}};
}

static int hand(const struct lz_call_record *r, const struct lz_hand_entry *e)
{
	const uint32_t all = RECORD + sizeof(*e);
	uint8_t *at = t.fast.page->log + LZ_CALL_LOG - all;

	memcpy(at, r, RECORD);
	memcpy(at + RECORD, e, sizeof(*e));
	t.fast.page->head = LZ_CALL_LOG;
	t.fast.taken = LZ_CALL_LOG - all;
	t.fast.broken = false;
	n_events = 0;
	return lz_fast_drain(&t);
}

START_TEST(turns)
{
	const struct lz_call_record r = wait_record();
	const struct lz_hand_entry e = entry();

	begin_both();
	ck_assert_int_eq(hand(&r, &e), 0);
	ck_assert_uint_eq(n_events, 2);
	ck_assert(last_but_one.kind == LZ_EV_SWITCH && last_but_one.tid == 7 &&
	          last_but_one.next == SECOND && last_but_one.flags == LZ_EVF_IN_CALL);
	ck_assert(last_but_one.nr == SYS_futex && last_but_one.ip == IP &&
	          last_but_one.args[0] == 0x2000 && last_but_one.has_regs &&
	          last_but_one.regs.rip == WAITS_AT && last_but_one.regs.r15 == 0x77);
	ck_assert(last.kind == LZ_EV_SYSCALL && last.tid == SECOND && last.nr == SYS_futex &&
	          last.ip == WAITS_AT && last.result == 0 && last.args[0] == 0x1000);
	ck_assert(t.cur == &second && !second.parked && !second.standby && !second.in_call &&
	          !second.call.inside && !second.ready);
	ck_assert(thread.parked == HERE + 1 && thread.standby && thread.in_call &&
	          thread.call.inside && thread.regs.rsp == 0x5000 && thread.regs.rip == IP);
	ck_assert_uint_eq(t.fast.n_standby, 1);
}
END_TEST

static void expect_no_turn(const struct lz_call_record *r, const struct lz_hand_entry *e)
{
	ck_assert_int_eq(hand(r, e), -1);
	ck_assert_msg(strstr(lz_error(), "a turn") != NULL, "%s", lz_error());
	ck_assert(n_events == 0 && t.cur == &thread);
}

START_TEST(forged)
{
	struct lz_call_record r = wait_record();
	struct lz_hand_entry e = entry();
	static const uint32_t places[] = {HERE, LZ_PARKED, LZ_PARKED + THERE, UINT32_MAX};

	begin_both();
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		e.next = places[i];
		expect_no_turn(&r, &e);
	}
	e = entry();
	static const uint32_t mine[] = {THERE, LZ_PARKED, UINT32_MAX};
	for (size_t i = 0; i < sizeof(mine) / sizeof(*mine); i++) {
		e.mine = mine[i];
		expect_no_turn(&r, &e);
	}
	e = entry();
	r.args[0] = 0x2001;
	expect_no_turn(&r, &e);
	r = wait_record();
	r.flags = LZ_CALL_UNREAD;
	expect_no_turn(&r, &e);
	/* where no call is made without a stop */
	static const uint64_t ips[] = {0,          IP - LZ_CALL_INSN, IP + 1,
	                               1ULL << 47, UINT64_MAX,        WAITS_AT};
	for (size_t i = 0; i < sizeof(ips) / sizeof(*ips); i++) {
		r = wait_record();
		r.ip = ips[i];
		expect_no_turn(&r, &e);
	}
	r = wait_record();
	site.counter = true;
	expect_no_turn(&r, &e);
	site.counter = false;
	/* who stands, is in a call, or was never let in cannot do it */
	r = wait_record();
	second.standby = false;
	expect_no_turn(&r, &e);
	second.standby = true;
	thread.call.inside = true;
	expect_no_turn(&r, &e);
	thread.call = (struct lz_call){.suspended = true};
	expect_no_turn(&r, &e);
	thread.call = (struct lz_call){0};
	thread.dispatched = false;
	expect_no_turn(&r, &e);
	thread.dispatched = true;
	ck_assert_int_eq(hand(&r, &e), 0);
}
END_TEST

/* Of another length, and in a log that was set aside: nothing else is known of the turn then. */
START_TEST(lengths)
{
	struct lz_call_record r = record(LZ_CALL_HAND, 0);

	begin_both();
	expect_broken(&r, "a turn");
	r.len = RECORD;
	set_aside(&r, 1);
	ck_assert_int_eq(lz_full_done(&t), -1);
	ck_assert(strstr(lz_error(), "a turn") && n_events == 0);
}
END_TEST

/* A thread that hands the turn over is stopped before that is done. */
START_TEST(undone)
{
	struct lz_call_page *p;

	begin_both();
	p = t.fast.page;
	p->parked[THERE] = (struct lz_futex_wait){
	    .at = 0x1000, .bits = 1, .state = LZ_STANDBY | LZ_WOKEN | LZ_NEXT};
	p->parked[HERE] = (struct lz_futex_wait){.at = 0x2000, .bits = 1, .state = LZ_STANDBY};
	lz_hand_undo(&t);
	ck_assert(p->parked[THERE].at == 0x1000 &&
	          p->parked[THERE].state == (LZ_STANDBY | LZ_WOKEN));
	ck_assert(!p->parked[HERE].at && !p->parked[HERE].state);
}
END_TEST

/* The page says for ever that a thread that has stopped is to have the turn next. */
START_TEST(never_comes)
{
	enum { LONG = 500, FIRST = 100 };
	struct lz_futex_wait *w;

	begin_both();
	w = &t.fast.page->parked[THERE];
	w->at = 0x1000;
	w->state = LZ_STANDBY | LZ_WOKEN | LZ_NEXT;
	t.cur = &second;
	for (t.fast.n_ticks = FIRST; t.fast.n_ticks <= FIRST + LONG; t.fast.n_ticks++) {
		second.has_pending_status = false;
		ck_assert_int_eq(lz_standby_stopped(&t, SIGUSR1 << 8 | 0x7f), 1);
		ck_assert(second.standby && second.has_pending_status && !second.ready);
	}
	t.fast.n_ticks++;
	ck_assert_int_eq(lz_standby_stopped(&t, SIGUSR1 << 8 | 0x7f), -1);
	ck_assert(strstr(lz_error(), "a turn") != NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast_hands");
	TCase *c = tcase_create("log");

	tcase_add_checked_fixture(c, begin, NULL);
	tcase_add_test(c, turns);
	tcase_add_test(c, forged);
	tcase_add_test(c, lengths);
	tcase_add_test(c, undone);
	tcase_add_test(c, never_comes);
	suite_add_tcase(s, c);
	return run_suite(s);
}
