/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Test tool: backward runs to breakpoints against all arrivals that one forward run finds.
 *
 *   replay-runback RECORDING SEED ROUNDS QUIET ADDRESS...
 *
 * From ROUNDS random instants, with some of the addresses as breakpoints, three runs backwards each. QUIET: an address
 * of 8 bytes that never change from the start on, watched in every second round; 0: none. The last ADDRESS, which is
 * where the loader tells debuggers of its libraries, is a breakpoint always, as GDB has it. Prints what it did; exit
 * status 1 at the first disagreement. */
#include <lizard/error.h>
#include <lizard/session.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_ADDRS = 256, RUNS = 3, HOT = 2000 };

static struct lz_session *s;
static uint64_t addrs[MAX_ADDRS];
static bool on[MAX_ADDRS];
static unsigned n_addrs;

struct hit {
	struct lz_pos pos;
	unsigned addr;
};
static struct hit *hits;
static size_t n_hits, room;

static void die(const char *what)
{
	printf("FAILED: %s: %s\n", what, lz_error());
	lz_session_close(s);
	exit(1);
}

static const char *text(const struct lz_pos *p)
{
	static char t[4][LZ_POS_TEXT];
	static int i;

	i = (i + 1) % 4;
	lz_pos_print(p, t[i]);
	return t[i];
}

static void add_addr(uint64_t addr)
{
	for (unsigned i = 0; i < n_addrs; i++)
		if (addrs[i] == addr)
			return;
	addrs[n_addrs++] = addr;
}

static void set(unsigned i, bool wanted)
{
	if (wanted && !on[i] && lz_session_break(s, addrs[i]) < 0)
		die("break");
	if (!wanted && on[i] && lz_session_unbreak(s, addrs[i]) < 0)
		die("unbreak");
	on[i] = wanted;
}

static void add_hit(void)
{
	if (n_hits == room) {
		room = room * 2 + 1024;
		hits = realloc(hits, room * sizeof *hits);
		if (!hits)
			exit(2);
	}
	lz_session_where(s, &hits[n_hits].pos);
	for (unsigned i = 0; i < n_addrs; i++)
		if (addrs[i] == hits[n_hits].pos.ip)
			hits[n_hits].addr = i;
	n_hits++;
}

/* Addresses that control comes to more often than HOT times take too long. */
static void drop_hot(void)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < n_addrs; i++) {
		struct lz_stop stop = {0};
		int n = 0;

		if (lz_session_seek_start(s) < 0)
			die("start");
		set(i, true);
		while (n <= HOT && stop.reason != LZ_STOP_END) {
			if (lz_session_run(s, LZ_FORWARD, &stop) < 0)
				die("run");
			n += stop.reason == LZ_STOP_BREAKPOINT;
		}
		set(i, false);
		if (n <= HOT)
			addrs[kept++] = addrs[i];
	}
	n_addrs = kept;
	if (lz_session_seek_start(s) < 0)
		die("start");
}

/* The start itself counts: a backward run finds it. */
static void collect(void)
{
	struct lz_stop stop;

	for (unsigned i = 0; i < n_addrs; i++)
		set(i, true);
	for (;;) {
		if (lz_session_run(s, LZ_FORWARD, &stop) < 0)
			die("run");
		if (stop.reason == LZ_STOP_BREAKPOINT)
			add_hit();
		else if (stop.reason != LZ_STOP_SIGNAL)
			break;
	}
	if (stop.reason != LZ_STOP_END)
		die("the end");
	for (unsigned i = 0; i < n_addrs; i++)
		set(i, false);
}

static bool before(const struct lz_pos *a, const struct lz_pos *b)
{
	return a->event < b->event || (a->event == b->event && a->marker < b->marker);
}

static bool same(const struct lz_pos *a, const struct lz_pos *b)
{
	return a->event == b->event && a->marker == b->marker && a->ip == b->ip && a->n == b->n;
}

/* The last hit before number K of an address that is a breakpoint. */
static size_t last_before(size_t k)
{
	while (k > 0 && !on[hits[k - 1].addr])
		k--;
	return k;
}

static void check(size_t k, const struct lz_stop *stop, const struct lz_pos *from)
{
	struct lz_pos p;

	lz_session_where(s, &p);
	if (k == 0 && stop->reason == LZ_STOP_START)
		return;
	if (k && stop->reason == LZ_STOP_BREAKPOINT && same(&p, &hits[k - 1].pos))
		return;
	printf("FAILED: back from %s: reason %d at %s instead of %s\n", text(from), stop->reason,
	       text(&p), k ? text(&hits[k - 1].pos) : "the start");
	lz_session_close(s);
	exit(1);
}

static void round_trip(uint64_t quiet)
{
	struct lz_stop stop;
	struct lz_pos from;
	uint64_t total;
	size_t k = n_hits;

	lz_session_time(s, &total);
	if (lz_session_seek_time(s, ((uint64_t)rand() << 31 | (uint64_t)rand()) % (total + 1)) < 0)
		die("seek");
	lz_session_where(s, &from);
	for (unsigned i = 0; i < n_addrs; i++)
		set(i, i + 1 == n_addrs || rand() % n_addrs < 2);
	if (quiet && lz_session_watch(s, quiet, 8, 'w') < 0)
		die("watch");
	while (k && !before(&hits[k - 1].pos, &from))
		k--;
	for (int i = 0; i < RUNS; i++) {
		k = last_before(k);
		if (lz_session_run(s, LZ_BACKWARD, &stop) < 0)
			die("run back");
		check(k, &stop, &from);
		if (!k)
			break;
		from = hits[--k].pos;
	}
	if (quiet)
		lz_session_unwatch(s, quiet, 8, 'w');
}

int main(int argc, char **argv)
{
	struct lz_session_options o = {.echo_fd = -1};

	if (argc < 6 || argc - 5 > MAX_ADDRS)
		return 2;
	s = lz_session_open(argv[1], &o);
	if (!s) {
		printf("FAILED: %s\n", lz_error());
		return 1;
	}
	uint64_t quiet = strtoull(argv[4], NULL, 0);

	srand((unsigned)atoi(argv[2]));
	for (int i = 5; i < argc; i++)
		add_addr(strtoull(argv[i], NULL, 0));
	drop_hot();
	collect();
	for (int i = 0; i < atoi(argv[3]); i++)
		round_trip(i % 2 ? quiet : 0);
	printf("%zu arrivals, %s rounds: all found\n", n_hits, argv[3]);
	lz_session_close(s);
	free(hits);
	return 0;
}
