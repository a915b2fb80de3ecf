/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Line tables of this very program, and GDB's step and next on a child of it. */
#include "tests/unit/suite.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <replayer/program/lines.h>
#include <replayer/navigate/gdb_step.h>

#define PLAIN __attribute__((optimize("O0"), noipa, noinline))

static volatile int sink;

enum { FIRST = __LINE__ };
PLAIN static int twice(int n)
{                     /* +2 */
	sink = n;     /* +3 */
	return n * 2; /* +4 */
} /* +5 */
PLAIN static int victim(int n)
{                                   /* +7 */
	int sum = 0;                /* +8 */
	for (int i = 0; i < n; i++) /* +9 */
		sum += twice(i);    /* +10 */
	if (n > 100)                /* +11 */
		sum = 0;
	return sum; /* +13 */
} /* +14 */

/* At the top of its stack lies an address of its own, as an old return address may. */
PLAIN static int stale(int n)
{                                                              /* +18 */
	__asm__("lea 1f(%rip), %rax; push %rax; nop; 1: nop"); /* +19 */
	sink = n;                                              /* +20 */
	__asm__("pop %rax");                                   /* +21 */
	return sink;                                           /* +22 */
}

static struct lz_lines *self;
static uint64_t bias;
static pid_t child;

extern char __executable_start[];

static void setup(void)
{
	self = lz_lines_open("/proc/self/exe", "/proc/self/exe");
	ck_assert_ptr_nonnull(self);
	/* The first byte of a position-independent executable has the link-time address 0. */
	bias = (uint64_t)__executable_start < 0x10000000 ? 0 : (uint64_t)__executable_start;
}

static void teardown(void)
{
	lz_lines_close(self);
}

START_TEST(lines)
{
	uint64_t at = (uint64_t)twice - bias;
	struct lz_sal sal = lz_lines_find(self, at);
	struct lz_range f;

	ck_assert_uint_eq(sal.pc, at);
	ck_assert_uint_eq(sal.line, FIRST + 2);
	ck_assert(sal.is_stmt);
	ck_assert_ptr_nonnull(strstr(sal.file, "test_gdb_step.c"));
	ck_assert_uint_eq(lz_lines_find(self, sal.end).line, FIRST + 3);
	ck_assert_uint_eq(lz_lines_find(self, sal.end - 1).line, FIRST + 2);
	ck_assert(lz_lines_function(self, at + 3, &f));
	ck_assert_uint_eq(f.start, at);
	ck_assert_str_eq(f.name, "twice");
	ck_assert_uint_eq(lz_lines_find(self, 1).line, 0);
	ck_assert(!lz_lines_function(self, 1, &f));
}
END_TEST

START_TEST(not_elf)
{
	ck_assert_ptr_null(lz_lines_open("/dev/null", "/dev/null"));
	ck_assert_ptr_null(lz_lines_open("/nonexistent", "/nonexistent"));
}
END_TEST

/* ---- a machine that single-steps a child ---- */

static int m_regs(void *arg, struct user_regs_struct *r)
{
	return ptrace(PTRACE_GETREGS, child, 0, r) ? -1 : 0;
}

static size_t m_read(void *arg, uint64_t addr, void *buf, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		errno = 0;
		long w = ptrace(PTRACE_PEEKDATA, child, (addr + i) & ~7ull, 0);
		if (errno)
			return i;
		((uint8_t *)buf)[i] = w >> 8 * ((addr + i) & 7);
	}
	return len;
}

static enum lz_move one(struct user_regs_struct *r)
{
	int st;

	ptrace(PTRACE_SINGLESTEP, child, 0, 0);
	waitpid(child, &st, 0);
	if (!WIFSTOPPED(st))
		return LZ_MOVE_END;
	m_regs(NULL, r);
	return LZ_MOVE_DONE;
}

static enum lz_move m_step_range(void *arg, uint64_t start, uint64_t end)
{
	struct user_regs_struct r;
	enum lz_move move;

	do
		move = one(&r);
	while (move == LZ_MOVE_DONE && r.rip >= start && r.rip < end);
	return move;
}

static enum lz_move m_run_out(void *arg, const struct lz_piece_of_code *of)
{
	return m_step_range(arg, of->range[0].start + of->hidden_starts, of->range[0].end);
}

/* What a run finds instead of its places. */
static enum lz_move run_finds = LZ_MOVE_DONE;

static enum lz_move m_run(void *arg, const struct lz_place *p, size_t n)
{
	struct user_regs_struct r;

	if (run_finds != LZ_MOVE_DONE)
		return run_finds;
	while (one(&r) == LZ_MOVE_DONE)
		for (size_t i = 0; i < n; i++)
			if (r.rip == p[i].pc && (!p[i].sp || p[i].sp == r.rsp))
				return LZ_MOVE_DONE;
	return LZ_MOVE_END;
}

static bool m_at_goal(void *arg)
{
	return false;
}

static struct lz_lines *m_lines(void *arg, uint64_t addr, uint64_t *b)
{
	*b = bias;
	return addr - bias < 1 << 24 ? self : NULL;
}

static bool m_in_loader(void *arg, uint64_t addr, uint64_t *start, uint64_t *end)
{
	return false;
}

static struct lz_machine machine = {
    .regs = m_regs,
    .read = m_read,
    .step_range = m_step_range,
    .run_out = m_run_out,
    .run = m_run,
    .at_goal = m_at_goal,
    .lines = m_lines,
    .in_loader = m_in_loader,
};

/* A child at the entry of FUNCTION(2). */
static void start_child(int (*function)(int))
{
	struct lz_place to = {.pc = (uint64_t)function};
	int st;

	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		sink = function(2);
		_exit(0);
	}
	waitpid(child, &st, 0);
	ck_assert_int_eq(m_run(NULL, &to, 1), LZ_MOVE_DONE);
}

static void end_child(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void walk(int (*function)(int), enum lz_step_over over, const int *wanted, size_t n)
{
	start_child(function);
	for (size_t i = 0; i < n; i++) {
		struct user_regs_struct r;

		ck_assert_int_eq(lz_gdb_step(&machine, over), LZ_STEPPED);
		m_regs(NULL, &r);
		struct lz_sal sal = lz_lines_find(self, r.rip - bias);

		ck_assert_int_eq(sal.line, FIRST + wanted[i]);
		ck_assert(sal.is_stmt && sal.pc == r.rip - bias); /* where a statement begins */
	}
	end_child();
}

START_TEST(step)
{
	static const int wanted[] = {8, 9, 10, 3, 4, 5, 9, 10, 3, 4, 5, 9, 11, 13, 14};

	walk(victim, LZ_OVER_NOTHING, wanted, sizeof(wanted) / sizeof(*wanted));
}
END_TEST

START_TEST(next)
{
	static const int wanted[] = {8, 9, 10, 9, 10, 9, 11, 13, 14};

	walk(victim, LZ_OVER_ALL, wanted, sizeof(wanted) / sizeof(*wanted));
}
END_TEST

START_TEST(no_call)
{
	static const int wanted[] = {19, 20, 21, 22};

	walk(stale, LZ_OVER_NOTHING, wanted, sizeof(wanted) / sizeof(*wanted));
	walk(stale, LZ_OVER_ALL, wanted, sizeof(wanted) / sizeof(*wanted));
}
END_TEST

/* `next` over a call that does not come back as it should. */
START_TEST(cut_short)
{
	static const struct {
		enum lz_move move;
		enum lz_step_result result;
	} t[] = {{LZ_MOVE_END, LZ_STEP_END},
	         {LZ_MOVE_GOAL, LZ_STEP_OVER},
	         {LZ_MOVE_SIGNAL, LZ_STEP_SIGNAL},
	         {LZ_MOVE_JUMPED, LZ_STEPPED},
	         {LZ_MOVE_FAILED, LZ_STEP_FAILED}};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		start_child(victim);
		for (int k = 0; k < 3; k++)
			ck_assert_int_eq(lz_gdb_step(&machine, LZ_OVER_ALL), LZ_STEPPED);
		run_finds = t[i].move;
		ck_assert_int_eq(lz_gdb_step(&machine, LZ_OVER_ALL), t[i].result);
		run_finds = LZ_MOVE_DONE;
		end_child();
	}
}
END_TEST

START_TEST(frames)
{
	uint64_t cfa;
	struct user_regs_struct r;

	start_child(victim);
	m_regs(NULL, &r);
	cfa = lz_gdb_frame(&machine, NULL);
	ck_assert_uint_eq(cfa, r.rsp + 8);
	ck_assert_int_eq(lz_gdb_step(&machine, LZ_OVER_ALL), LZ_STEPPED);
	ck_assert_uint_eq(lz_gdb_frame(&machine, NULL), cfa);
	end_child();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gdb_step");
	TCase *t = tcase_create("gdb_step");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, lines);
	tcase_add_test(t, not_elf);
	tcase_add_test(t, step);
	tcase_add_test(t, next);
	tcase_add_test(t, no_call);
	tcase_add_test(t, cut_short);
	tcase_add_test(t, frames);
	suite_add_tcase(s, t);
	return run_suite(s);
}
