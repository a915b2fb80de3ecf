/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Test tool: what the markers tell of the instructions that ran, against stepping.
 *
 *   insn-history RECORDING SEED ROUNDS N   at ROUNDS random instants, N instructions before and after; prints counts;
 *   exit status 1 if any answer is wrong */
#include <lizard/error.h>
#include <lizard/session.h>
#include "replayer/insn/history.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct lz_session *s;
static unsigned long told[2], untold[2], wrong[2];

static void die(const char *what)
{
	printf("FAILED: %s: %s\n", what, lz_error());
	exit(2);
}

/* The truth, one step after the other; 0 if it is not that long. */
static int step(enum lz_direction d, size_t n, uint64_t *addrs)
{
	struct lz_pos here, now;
	struct lz_stop stop;

	lz_session_where(s, &here);
	for (size_t i = 0; i < n; i++) {
		if (lz_session_step(s, d, &stop) < 0)
			die("a step");
		if (stop.reason == LZ_STOP_SIGNAL) {
			i--;
			continue;
		}
		if (stop.reason != LZ_STOP_STEP || stop.pos.tid != here.tid)
			n = 0;
		lz_session_where(s, &now);
		if (n)
			addrs[i] = now.ip;
	}
	if (lz_session_seek(s, &here) < 0)
		die("the way back");
	return n != 0;
}

static void compare(enum lz_direction d, size_t n, uint64_t *got, uint64_t *want)
{
	char text[LZ_POS_TEXT];
	struct lz_pos now;
	int rc = lz_insn_history(s, d, n, got);

	if (rc < 0)
		die("the history");
	if (rc) {
		untold[d]++;
		return;
	}
	told[d]++;
	int known = step(d, n, want);
	for (size_t i = 0; i < n; i++) {
		if (known && got[i] == want[i])
			continue;
		lz_session_where(s, &now);
		lz_pos_print(&now, text);
		printf("%s: instruction %s%zu: told 0x%" PRIx64 ", ran 0x%" PRIx64 "\n", text,
		       d == LZ_FORWARD ? "+" : "-", i + 1, got[i], known ? want[i] : 0);
		wrong[d]++;
		return;
	}
}

int main(int argc, char **argv)
{
	struct lz_session_options o = {.echo_fd = -1};
	uint64_t total, rnd;

	if (argc != 5)
		return 2;
	rnd = strtoull(argv[2], NULL, 10) * 0x9E3779B97F4A7C15u + 1;
	unsigned long rounds = strtoul(argv[3], NULL, 10);
	size_t n = strtoul(argv[4], NULL, 10);
	uint64_t *got = calloc(n, 8), *want = calloc(n, 8);
	s = lz_session_open(argv[1], &o);
	if (!s)
		die("open");
	lz_session_time(s, &total);
	for (unsigned long i = 0; i < rounds; i++) {
		struct lz_stop stop;

		rnd = rnd * 6364136223846793005u + 1442695040888963407u;
		if (lz_session_seek_time(s, (rnd >> 16) % (total + 1)) < 0)
			die("a jump");
		for (unsigned k = (rnd >> 8) % 32; k; k--)
			if (lz_session_step(s, LZ_FORWARD, &stop) < 0)
				die("a step");
		compare(LZ_BACKWARD, n, got, want);
		compare(LZ_FORWARD, n, got, want);
	}
	lz_session_close(s);
	printf("before: told %lu, not told %lu, wrong %lu\n", told[LZ_BACKWARD],
	       untold[LZ_BACKWARD], wrong[LZ_BACKWARD]);
	printf("behind: told %lu, not told %lu, wrong %lu\n", told[LZ_FORWARD], untold[LZ_FORWARD],
	       wrong[LZ_FORWARD]);
	printf("all: %lu%% told\n", (told[0] + told[1]) * 50 / rounds);
	return wrong[0] || wrong[1];
}
