/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of the marker stream against a walk that sees every instant: where control was at an address, there is a
 * window, and there are not many more. */
#include "tests/unit/suite.h"

#include <check.h>
#include <lizard/error.h>
#include <lizard/session.h>
#include <replayer/stream/windows.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 400000, CUTS = 4 };

static const char source[] = "#include <pthread.h>\n"
                             "#include <setjmp.h>\n"
                             "static jmp_buf back;\n"
                             "static volatile int sink;\n"
                             "static void leaf(int n)\n"
                             "{\n"
                             "	if (n == 3)\n"
                             "		longjmp(back, 1);\n"
                             "	sink += n;\n"
                             "}\n"
                             "static int loop(int n)\n"
                             "{\n"
                             "	int sum = 0;\n"
                             "	for (int i = 0; i < n; i++) {\n"
                             "		if (i % 2)\n"
                             "			sum += i;\n"
                             "		else if (i % 3)\n"
                             "			leaf(10);\n"
                             "		switch (i & 3) {\n"
                             "		case 0: sum++; break;\n"
                             "		case 1: leaf(i + 20); break;\n"
                             "		case 2: sum--;\n"
                             "		}\n"
                             "	}\n"
                             "	return sum;\n"
                             "}\n"
                             "static int caught(int n)\n"
                             "{\n"
                             "	if (setjmp(back))\n"
                             "		return -1;\n"
                             "	leaf(n);\n"
                             "	return n;\n"
                             "}\n"
                             "static void gone(int *n)\n"
                             "{\n"
                             "	sink -= *n;\n"
                             "}\n"
                             "static int cleans_up(int n)\n"
                             "{\n"
                             "	__attribute__((cleanup(gone))) int kept = n;\n"
                             "	leaf(n + 50);\n"
                             "	return kept + 1;\n"
                             "}\n"
                             "void *run(void *arg)\n"
                             "{\n"
                             "	for (int i = 0; i < 40; i++)\n"
                             "		sink += loop(9) + cleans_up(i);\n"
                             "	return arg;\n"
                             "}\n"
                             "int main(void)\n"
                             "{\n"
                             "	pthread_t t;\n"
                             "	for (int i = 0; i < 5; i++)\n"
                             "		sink += caught(i) + loop(i);\n"
                             "	pthread_create(&t, 0, run, 0);\n"
                             "	for (int i = 0; i < 40; i++)\n"
                             "		sink += loop(7);\n"
                             "	pthread_join(t, 0);\n"
                             "	return 0;\n"
                             "}\n";

/* Of 800 activations at once, each could be about to call once(), until its next marker says that
 * it was not. */
static const char recursion_source[] = "static volatile int sink;\n"
                                       "static void once(void)\n"
                                       "{\n"
                                       "	sink++;\n"
                                       "}\n"
                                       "static int deep(int n)\n"
                                       "{\n"
                                       "	int below = n ? deep(n - 1) : 0;\n"
                                       "	if (n == 300)\n"
                                       "		once();\n"
                                       "	return below + 1;\n"
                                       "}\n"
                                       "int main(void)\n"
                                       "{\n"
                                       "	return deep(800) != 801;\n"
                                       "}\n";

/* Arrivals in the program's own code. */
struct arrival {
	uint64_t ip, marker, event;
	uint32_t tid;
};

static struct made {
	char dir[256];
	struct lz_session *s;
	struct lz_reader *r;
	struct lz_turns turns;
	struct lz_stream_threads threads;
	struct lz_modules *modules;
	struct lz_stream *stream;
	struct lz_module *mod; /* the program */
	struct arrival *v;
	size_t n;
	uint64_t cuts[CUTS]; /* boundaries of markers */
} m;

static void run_command(const char *fmt, const char *options)
{
	const char *bin = getenv("LIZARD_BIN") ?: "build/bin";
	char command[1200];

	snprintf(command, sizeof(command), fmt, m.dir, bin, options);
	ck_assert_int_eq(system(command), 0);
}

/* The run-time address of a function; sets m.mod. */
static uint64_t function(const char *name)
{
	for (size_t i = 0; i < lz_modules_count(m.modules); i++) {
		struct lz_module *mod = lz_modules_get(m.modules, i);
		struct lz_cfg *cfg = lz_module_cfg(m.modules, mod);

		for (size_t k = 0; cfg && k < lz_cfg_n_funcs(cfg); k++)
			if (!strcmp(lz_cfg_func(cfg, k)->name, name)) {
				m.mod = mod;
				return lz_cfg_func(cfg, k)->entry + mod->bias;
			}
	}
	ck_abort_msg("%s is not in the program", name);
}

static struct lz_stop run_to(const char *name)
{
	uint64_t start = function(name);
	struct lz_stop stop = {0};

	ck_assert_int_eq(lz_session_seek_start(m.s), 0);
	ck_assert_int_eq(lz_session_break(m.s, start), 0);
	ck_assert_int_eq(lz_session_run(m.s, LZ_FORWARD, &stop), 0);
	ck_assert_int_eq(stop.reason, LZ_STOP_BREAKPOINT);
	lz_session_unbreak(m.s, start);
	return stop;
}

/* Every instant of one thread from its first arrival at a function on. */
static void walk(const char *from)
{
	struct lz_stop stop = run_to(from);
	uint32_t tid = stop.pos.tid;

	for (int i = 0; i < STEPS_MAX; i++) {
		struct lz_pos pos = stop.pos;

		if (pos.ip >= m.mod->start && pos.ip < m.mod->end)
			m.v[m.n++] = (struct arrival){pos.ip, pos.marker, pos.event, tid};
		ck_assert_msg(!lz_session_step_thread(m.s, tid, LZ_FORWARD, &stop), "%s",
		              lz_error());
		if (stop.reason == LZ_STOP_END || stop.reason == LZ_STOP_THREAD_END)
			return;
	}
	ck_abort_msg("the program does not end");
}

static void make(const char *text, const char *options, const char *chaos)
{
	FILE *f;
	char path[300];

	snprintf(m.dir, sizeof(m.dir), "%s/windows-XXXXXX", getenv("LIZARD_TMP") ?: "/tmp");
	ck_assert(mkdtemp(m.dir) != NULL);
	snprintf(path, sizeof(path), "%s/prog.c", m.dir);
	f = fopen(path, "w");
	ck_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
	run_command("cd %s && %s/lizard-cc %s -g -pthread prog.c -o prog", options);
	run_command("cd %s && %s/lizard-trace -q %s -o rec ./prog", chaos);
	snprintf(path, sizeof(path), "%s/rec", m.dir);
	m.s = lz_session_open(path, NULL);
	ck_assert_msg(m.s != NULL, "%s", lz_error());
	m.r = lz_session_reader(m.s);
	ck_assert_int_eq(lz_turns_read(&m.turns, m.r), 0);
	ck_assert_int_eq(lz_stream_threads_init(&m.threads, &m.turns), 0);
	m.modules = lz_modules_new(m.r);
	m.stream = lz_stream_new(m.r, m.modules, &m.threads);
	ck_assert_msg(m.stream != NULL, "%s", lz_error());
}

static void unmake(void)
{
	lz_stream_free(m.stream);
	lz_modules_free(m.modules);
	lz_stream_threads_free(&m.threads);
	lz_turns_free(&m.turns);
	lz_session_close(m.s);
	run_command("rm -rf '%s' # %s %s", "");
}

static int by_ip(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static int by_offset(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool covers(const struct lz_window *w, const struct arrival *a)
{
	return w->from <= a->marker && a->marker < w->to;
}

struct count {
	size_t windows, in_vain;
};

/* The gap behind an exit marker that ends a block is told by that block. */
static bool told_before(const struct arrival *a, uint32_t thread, uint32_t block)
{
	struct lz_target t;
	struct lz_windows w = {0};
	uint64_t start, len, before;
	bool found = false;

	ck_assert_int_eq(lz_reader_block(m.r, m.turns.v[0].tid, block, &start, &len), 0);
	if (!block || a->marker != start)
		return false;
	ck_assert_int_eq(lz_reader_block(m.r, m.turns.v[0].tid, block - 1, &before, &len), 0);
	lz_target_find(m.stream, m.modules, a->ip, a->event, &t);
	ck_assert_msg(
	    !lz_find_windows(m.stream, m.modules, block - 1, before, start, thread, &t, 1, &w),
	    "%s", lz_error());
	for (size_t k = 0; k < w.n; k++)
		found |= covers(&w.w[k], a);
	free(w.w);
	return found;
}

/* Of the N arrivals V at one address, each with a marker in [from, to) of a block lies in a window. */
static void check_piece(const struct arrival *v, size_t n, uint32_t thread, uint32_t block,
                        uint64_t from, uint64_t to, struct count *c)
{
	struct lz_target t;
	struct lz_windows w = {0};

	lz_target_find(m.stream, m.modules, v->ip, v->event, &t);
	ck_assert_msg(!lz_find_windows(m.stream, m.modules, block, from, to, thread, &t, 1, &w),
	              "%s", lz_error());
	for (size_t i = 0; i < n; i++) {
		bool found = v[i].marker < from || v[i].marker >= to ||
		             (thread != LZ_NO_THREAD &&
		              lz_stream_thread_at(&m.threads, v[i].event) != thread);

		for (size_t k = 0; k < w.n && !found; k++)
			found = covers(&w.w[k], &v[i]);
		ck_assert_msg(found || told_before(&v[i], thread, block),
		              "%#lx at marker %lu, event %lu is in none of %zu windows",
		              (unsigned long)v[i].ip, (unsigned long)v[i].marker,
		              (unsigned long)v[i].event, w.n);
	}
	for (size_t k = 0; k < w.n; k++) {
		bool any = false;

		ck_assert_uint_lt(w.w[k].from, w.w[k].to);
		ck_assert(!k || w.w[k - 1].to <= w.w[k].from);
		for (size_t i = 0; i < n && !any; i++)
			any = covers(&w.w[k], &v[i]);
		c->in_vain += !any;
	}
	c->windows += w.n;
	free(w.w);
}

/* In whole blocks, or cut where a thread may have been waiting. */
static void check(const struct arrival *v, size_t n, uint32_t thread, bool cut, struct count *c)
{
	for (uint32_t block = 0; block < lz_stream_n_blocks(m.stream); block++) {
		uint64_t from, len, end;

		ck_assert_int_eq(lz_reader_block(m.r, m.turns.v[0].tid, block, &from, &len), 0);
		end = from + len;
		for (size_t k = 0; cut && k < CUTS; k++) {
			if (m.cuts[k] <= from || m.cuts[k] >= end)
				continue;
			check_piece(v, n, thread, block, from, m.cuts[k], c);
			from = m.cuts[k];
		}
		check_piece(v, n, thread, block, from, end, c);
	}
}

static struct count check_all(uint32_t thread, bool cut)
{
	struct count c = {0};

	for (size_t i = 0, n; i < m.n; i += n) {
		for (n = 1; i + n < m.n && m.v[i + n].ip == m.v[i].ip;)
			n++;
		check(&m.v[i], n, thread, cut, &c);
	}
	return c;
}

/* Without optimization the markers tell of each gap what ran in it; then most windows are right. */
START_TEST(every_arrival_is_in_a_window)
{
	struct count c;

	make(source, _i % 2 ? "-O1 -fexceptions" : "-O0 -fexceptions",
	     _i / 2 ? "--chaos=2" : "--chaos=1");
	m.n = 0;
	m.v = malloc(2 * STEPS_MAX * sizeof(*m.v));
	walk("main");
	walk("run");
	ck_assert_uint_gt(m.n, 3000);
	for (size_t k = 0; k < CUTS; k++)
		m.cuts[k] = m.v[m.n / 4 + k * (m.n / 2) / CUTS].marker;
	qsort(m.cuts, CUTS, sizeof(*m.cuts), by_offset);
	qsort(m.v, m.n, sizeof(*m.v), by_ip);
	c = check_all(LZ_NO_THREAD, false);
	fprintf(stderr, "# %zu arrivals, %zu windows, %zu in vain\n", m.n, c.windows, c.in_vain);
	if (_i % 2 == 0)
		ck_assert_uint_lt(2 * c.in_vain, c.windows);
	for (uint32_t i = 0; i < m.threads.n; i++)
		check_all(i, true);
	free(m.v);
	unmake();
}
END_TEST

START_TEST(many_activations_at_once)
{
	struct user_regs_struct regs;
	struct count c = {0};
	struct arrival call;
	struct lz_stop stop;
	uint64_t back;

	make(recursion_source, "-O0", "--chaos=1");
	stop = run_to("once");
	ck_assert_int_eq(lz_session_regs(m.s, &regs), 0);
	ck_assert_uint_eq(lz_session_read(m.s, regs.rsp, &back, sizeof(back)), sizeof(back));
	call = (struct arrival){back - 5, stop.pos.marker, stop.pos.event, stop.pos.tid};
	check(&call, 1, LZ_NO_THREAD, false, &c);
	/* before and behind the call of one activation, and behind the last marker */
	ck_assert_uint_lt(c.windows, 8);
	unmake();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("windows");
	TCase *t = tcase_create("windows"), *deep = tcase_create("recursion");

	tcase_set_timeout(t, 120);
	tcase_set_timeout(deep, 120);
	tcase_add_loop_test(t, every_arrival_is_in_a_window, 0, 4);
	suite_add_tcase(s, t);
	tcase_add_test(deep, many_activations_at_once);
	suite_add_tcase(s, deep);
	return run_suite(s);
}
