/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Test tool: random walks in a recording through the session API. Whatever way leads to a position,
 * registers and memory there must be the same.
 *
 *   replay-walk RECORDING SEED ROUNDS   prints what it did; exit status 1 at the first disagreement */
#include <lizard/error.h>
#include <lizard/marker.h>
#include <lizard/session.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_POINTS = 4096 };

struct point {
	struct lz_pos pos;
	uint64_t regs, vectors, memory; /* hashes */
};

static struct lz_session *s;
static struct point points[MAX_POINTS];
static unsigned n_points, n_seeks, n_steps;

static void die(const char *what)
{
	const char *how = lz_session_divergence(s);

	printf("FAILED: %s: %s\n%s\n", what, lz_error(), how ? how : "");
	lz_session_close(s);
	exit(1);
}

static uint64_t mix(uint64_t h, const void *p, size_t len)
{
	const uint8_t *b = p;

	for (size_t i = 0; i + 8 <= len; i += 8) {
		uint64_t w;
		memcpy(&w, b + i, 8);
		h = (h ^ w) * 0x9E3779B97F4A7C15u;
		h ^= h >> 29;
	}
	return h;
}

/* All threads, with their registers. */
static void hash_threads(struct point *p)
{
	static uint8_t xstate[16384];
	struct user_regs_struct r;
	struct lz_thread *t;
	uint32_t n;

	if (lz_session_threads(s, &t, &n) < 0)
		die("threads");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t len = sizeof xstate;
		memset(xstate, 0, sizeof xstate);
		if (lz_session_thread_regs(s, t[i].tid, &r) < 0 ||
		    lz_session_thread_xstate(s, t[i].tid, xstate, &len) < 0)
			die("a thread's registers");
		r.orig_rax = 0;
		p->regs = mix(p->regs ^ t[i].tid ^ (uint64_t)t[i].in_call << 32, &r, sizeof r);
		memset(xstate + 464, 0, 576 - 464); /* says nothing about the program */
		p->vectors = mix(p->vectors, xstate, len);
	}
	free(t);
}

/* From where on a mapping counts: of a stack, what lies above the lowest stack pointer. The start of the first one depends on
 * when it grew, and those of threads are large and mostly empty. */
static uint64_t lowest_in(const struct lz_vma *v, const struct lz_thread *t, uint32_t n)
{
	uint64_t from = v->role == LZ_VMA_STACK ? v->end : v->start;
	struct user_regs_struct r;

	for (uint32_t i = 0; i < n; i++) {
		if (lz_session_thread_regs(s, t[i].tid, &r) < 0)
			die("a thread's registers");
		uint64_t sp = (r.rsp & ~7ull) - 128;
		if (sp >= v->start && sp < v->end && (from == v->start || sp < from))
			from = sp;
	}
	return from;
}

/* Writable memory but the marker buffer. */
static uint64_t hash_memory(void)
{
	static uint8_t buf[1 << 20];
	struct lz_thread *t;
	struct lz_vma *v;
	uint32_t n, n_threads;
	uint64_t h = 1;

	if (lz_session_threads(s, &t, &n_threads) < 0 || lz_session_vmas(s, &v, &n) < 0)
		die("state");
	for (uint32_t i = 0; i < n; i++) {
		if (!(v[i].prot & PROT_WRITE) || v[i].role == LZ_VMA_BUFFER)
			continue;
		uint64_t at = lowest_in(&v[i], t, n_threads);
		for (; at < v[i].end; at += sizeof buf) {
			size_t len = v[i].end - at < sizeof buf ? v[i].end - at : sizeof buf;
			h = mix(h, buf, lz_session_read(s, at, buf, len));
		}
	}
	free(v);
	free(t);
	return h;
}

static const char *text(const struct lz_pos *p)
{
	static char t[4][LZ_POS_TEXT];
	static int i;

	i = (i + 1) % 4;
	lz_pos_print(p, t[i]);
	return t[i];
}

static struct point here(void)
{
	struct point p = {.regs = 1, .vectors = 1, .memory = hash_memory()};

	lz_session_where(s, &p.pos);
	hash_threads(&p);
	if (getenv("WALK_LOG"))
		printf("%s\n", text(&p.pos));
	return p;
}

static bool same(const struct lz_pos *a, const struct lz_pos *b)
{
	return a->tid == b->tid && a->event == b->event && a->marker == b->marker &&
	       a->ip == b->ip && a->n == b->n;
}

static void check(const struct point *want, const char *how)
{
	struct lz_pos p;

	lz_session_where(s, &p);
	if (!same(&p, &want->pos)) {
		printf("FAILED: %s: at %s instead of %s\n", how, text(&p), text(&want->pos));
		lz_session_close(s);
		exit(1);
	}
	struct point now = here();
	const char *what = now.regs != want->regs         ? "registers"
	                   : now.vectors != want->vectors ? "vector registers"
	                   : now.memory != want->memory   ? "memory"
	                                                  : NULL;
	if (what) {
		printf("FAILED: %s: the %s at %s differ\n", how, what, text(&p));
		lz_session_close(s);
		exit(1);
	}
}

static void seek(const struct point *p)
{
	if (lz_session_seek(s, &p->pos) < 0)
		die(text(&p->pos));
	n_seeks++;
	check(p, "seek");
}

/* Some instant: by time, or that of an event. */
static void jump_somewhere(void)
{
	uint64_t total;

	lz_session_time(s, &total);
	if (total && rand() % 4) {
		uint64_t t = ((uint64_t)rand() << 31 | (uint64_t)rand()) % total;
		if (lz_session_seek_time(s, t) < 0)
			die("seek_time");
		return;
	}
	struct lz_reader *r = lz_session_reader(s);
	uint64_t n = lz_reader_n_events(r);
	const struct lz_event *ev = NULL;
	for (int tries = 0; n && tries < 100; tries++) {
		uint64_t i = (uint64_t)rand() % n;
		ev = i ? lz_reader_event(r, i - 1) : NULL;
		bool switched = ev && ev->kind == LZ_EV_SWITCH; /* the call may have begun before */
		ev = lz_reader_event(r, i);
		if (ev && !switched && !(ev->flags & LZ_EVF_REBASE) &&
		    ((ev->kind == LZ_EV_SYSCALL && ev->nr != 231 && ev->nr != 60) ||
		     (ev->kind == LZ_EV_SWITCH && ev->flags & LZ_EVF_IN_CALL)))
			break;
		ev = NULL;
	}
	if (!ev)
		return;
	struct lz_pos p = {ev->tid, 1, ev->index, ev->marker, ev->ip - 2};
	if (lz_session_seek(s, &p) < 0)
		die(text(&p));
}

/* The instant at which another thread has its next or its last turn. */
static void to_other_thread(void)
{
	enum lz_direction d = rand() % 2 ? LZ_FORWARD : LZ_BACKWARD;
	struct lz_thread *t;
	struct lz_stop stop;
	struct lz_pos p;
	uint32_t n;

	if (lz_session_threads(s, &t, &n) < 0)
		die("threads");
	uint32_t tid = t[(unsigned)rand() % n].tid;
	free(t);
	int ret = lz_session_turn(s, tid, d, &p);
	if (ret < 0 || (!ret && lz_session_seek(s, &p) < 0))
		die("another thread's turn");
	lz_session_where(s, &p);
	if (!ret && p.tid != tid) {
		printf("FAILED: the turn of thread %u is at %s\n", tid, text(&p));
		exit(1);
	}
	/* a turn's first instant is no stop of a step, nor is it where a signal is told of there */
	do {
		if (!ret && lz_session_step_thread(s, tid, LZ_FORWARD, &stop) < 0)
			die("a step of another thread");
	} while (!ret && stop.reason == LZ_STOP_SIGNAL);
}

/* Steps there and back: the same positions in reverse. */
static void there_and_back(int steps)
{
	struct point way[256];
	struct lz_stop stop;
	int n = 0;

	way[n++] = here();
	uint32_t tid = way[0].pos.tid;
	while (n <= steps && n < 256) {
		if (lz_session_step_thread(s, tid, LZ_FORWARD, &stop) < 0)
			die("step");
		if (stop.reason == LZ_STOP_SIGNAL)
			continue;
		if (stop.reason != LZ_STOP_STEP)
			break;
		n_steps++;
		way[n++] = here();
	}
	if (stop.reason == LZ_STOP_THREAD_END)
		seek(&way[n - 1]);
	for (int i = n - 2; i >= 0; i--) {
		if (lz_session_step_thread(s, tid, LZ_BACKWARD, &stop) < 0)
			die("step back");
		if (stop.reason != LZ_STOP_STEP) {
			printf("FAILED: step back to %s stopped with reason %d\n",
			       text(&way[i].pos), stop.reason);
			exit(1);
		}
		check(&way[i], "step back");
	}
	for (int i = 0; i < n && n_points < MAX_POINTS; i += 1 + rand() % 16)
		points[n_points++] = way[i];
}

/* The previous breakpoint hit. At the instant of a signal that is told, though a breakpoint is there too. */
static void back_to(const struct point *hit)
{
	struct lz_stop stop;
	struct lz_pos p;

	do {
		if (lz_session_run(s, LZ_BACKWARD, &stop) < 0)
			die("run back");
		lz_session_where(s, &p);
	} while (stop.reason == LZ_STOP_SIGNAL && !same(&p, &hit->pos));
	if (stop.reason != LZ_STOP_BREAKPOINT && stop.reason != LZ_STOP_SIGNAL) {
		printf("FAILED: run back to %s stopped with reason %d at %s\n", text(&hit->pos),
		       stop.reason, text(&stop.pos));
		exit(1);
	}
	check(hit, "run back");
}

/* Breakpoint hits forward, then the same ones backward. */
static void run_and_back(void)
{
	struct lz_stop stop;
	struct point way[8];
	struct lz_pos p;
	int n = 0;

	lz_session_where(s, &p);
	if (lz_session_break(s, p.ip) < 0)
		die("break");
	way[n++] = here();
	while (n < 8) {
		if (lz_session_run(s, LZ_FORWARD, &stop) < 0)
			die("run");
		if (stop.reason == LZ_STOP_SIGNAL)
			continue;
		if (stop.reason != LZ_STOP_BREAKPOINT)
			break;
		way[n++] = here();
	}
	int last = n - 1;
	if (stop.reason != LZ_STOP_BREAKPOINT && n > 1)
		last = n;
	for (int i = last - 1; i >= 0; i--)
		back_to(&way[i]);
	lz_session_unbreak(s, p.ip);
	for (int i = 0; i < n && n_points < MAX_POINTS; i++)
		points[n_points++] = way[i];
}

int main(int argc, char **argv)
{
	struct lz_session_options o = {.echo_fd = -1};

	if (argc != 4)
		return 2;
	s = lz_session_open(argv[1], &o);
	if (!s) {
		printf("FAILED: %s\n", lz_error());
		return 1;
	}
	srand((unsigned)atoi(argv[2]));
	points[n_points++] = here();
	for (int i = 0; i < atoi(argv[3]); i++) {
		jump_somewhere();
		if (i % 3 == 2)
			to_other_thread();
		there_and_back(rand() % 60);
		if (i % 4 == 1)
			run_and_back();
		seek(&points[(unsigned)rand() % n_points]);
	}
	for (unsigned i = 0; i < 2u * (unsigned)atoi(argv[3]); i++)
		seek(&points[(unsigned)rand() % n_points]);
	printf("%u points, %u seeks, %u steps there and back: all equal\n", n_points, n_seeks,
	       n_steps);
	lz_session_close(s);
	return 0;
}
