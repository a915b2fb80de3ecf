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
	uint64_t hash;
};

static struct lz_session *s;
static struct point points[MAX_POINTS];
static unsigned n_points, n_seeks, n_steps;

static void die(const char *what)
{
	printf("FAILED: %s: %s\n", what, lz_error());
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

/* Writable memory but the marker buffer, and the general registers. */
static uint64_t state_hash(void)
{
	static uint8_t buf[1 << 20];
	struct user_regs_struct r;
	struct lz_vma *v;
	uint32_t n;

	if (lz_session_regs(s, &r) < 0 || lz_session_vmas(s, &v, &n) < 0)
		die("state");
	r.orig_rax = 0;
	uint64_t h = mix(1, &r, sizeof r);
	for (uint32_t i = 0; i < n; i++) {
		if (!(v[i].prot & PROT_WRITE) || v[i].role == LZ_VMA_BUFFER)
			continue;
		for (uint64_t at = v[i].start; at < v[i].end; at += sizeof buf) {
			size_t len = v[i].end - at < sizeof buf ? v[i].end - at : sizeof buf;
			size_t got = lz_session_read(s, at, buf, len);
			/* the stack's start depends on when it grew */
			if (v[i].role != LZ_VMA_STACK)
				h = mix(h, buf, got);
		}
		if (v[i].role == LZ_VMA_STACK) {
			uint64_t from =
			    r.rsp > v[i].start && r.rsp < v[i].end ? r.rsp & ~7ull : v[i].end;
			from = from > v[i].start + 128 ? from - 128 : from;
			for (uint64_t at = from; at < v[i].end; at += sizeof buf) {
				size_t len =
				    v[i].end - at < sizeof buf ? v[i].end - at : sizeof buf;
				h = mix(h, buf, lz_session_read(s, at, buf, len));
			}
		}
	}
	free(v);
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

static bool same(const struct lz_pos *a, const struct lz_pos *b)
{
	return a->event == b->event && a->marker == b->marker && a->ip == b->ip && a->n == b->n;
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
	uint64_t h = state_hash();
	if (h != want->hash) {
		printf("FAILED: %s: the state at %s differs\n", how, text(&p));
		lz_session_close(s);
		exit(1);
	}
}

static struct point here(void)
{
	struct point p;

	lz_session_where(s, &p.pos);
	p.hash = state_hash();
	return p;
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
		ev = lz_reader_event(r, (uint64_t)rand() % n);
		if (ev && ev->kind == LZ_EV_SYSCALL && ev->nr != 231 &&
		    !(ev->flags & LZ_EVF_REBASE))
			break;
		ev = NULL;
	}
	if (!ev)
		return;
	struct lz_pos p = {ev->tid, 1, ev->index, ev->marker, ev->ip - 2};
	if (lz_session_seek(s, &p) < 0)
		die(text(&p));
}

/* Steps there and back: the same positions in reverse. */
static void there_and_back(int steps)
{
	struct point way[256];
	struct lz_stop stop;
	int n = 0;

	way[n++] = here();
	while (n <= steps && n < 256) {
		if (lz_session_step(s, LZ_FORWARD, &stop) < 0)
			die("step");
		if (stop.reason == LZ_STOP_SIGNAL)
			continue;
		if (stop.reason != LZ_STOP_STEP)
			break;
		n_steps++;
		way[n++] = here();
	}
	for (int i = n - 2; i >= 0; i--) {
		if (lz_session_step(s, LZ_BACKWARD, &stop) < 0)
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
	for (int i = last - 1; i >= 0; i--) {
		do {
			if (lz_session_run(s, LZ_BACKWARD, &stop) < 0)
				die("run back");
		} while (stop.reason == LZ_STOP_SIGNAL);
		if (stop.reason != LZ_STOP_BREAKPOINT) {
			printf("FAILED: run back to %s stopped with reason %d at %s\n",
			       text(&way[i].pos), stop.reason, text(&stop.pos));
			exit(1);
		}
		check(&way[i], "run back");
	}
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
