/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Test tool: every change of a watched range, found forward, is found again backward, and the other way
 * round; values on both sides are as they must be.
 *
 *   replay-watch RECORDING ADDRESS LEN [MORE...]   MORE: further ADDRESS LEN pairs, watched as well
 *
 * LEN with an r or an a behind it: reads, or any accesses, instead of changes. Prints how many there were. */
#include <lizard/error.h>
#include <lizard/session.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 100000, LEN = 4096 };

static struct lz_session *s;
static struct lz_pos after[MAX];
static uint64_t hash_before[MAX], hash_after[MAX];
static uint64_t addr[8], len[8];
static char kind[8];
static int n_watches;

static int fail(const char *what)
{
	struct lz_pos p;
	char text[LZ_POS_TEXT];

	lz_session_where(s, &p);
	lz_pos_print(&p, text);
	printf("FAILED: %s at %s (%s)\n", what, text, lz_error());
	lz_session_close(s);
	return 1;
}

static uint64_t value(void)
{
	static uint8_t buf[LEN];
	uint64_t h = 1;

	for (int k = 0; k < n_watches; k++) {
		memset(buf, 0, len[k]);
		lz_session_read(s, addr[k], buf, len[k]);
		for (uint64_t i = 0; i < len[k]; i++)
			h = (h ^ buf[i]) * 0x100000001b3u;
	}
	return h;
}

/* A read changes nothing, and what changes between two reads stops nobody. */
static uint64_t wanted_before(int i)
{
	for (int k = 0; k < n_watches; k++)
		if (kind[k] == 'r')
			return n_watches == 1 ? hash_after[i] : value();
	return hash_before[i];
}

int main(int argc, char **argv)
{
	struct lz_session_options o = {.echo_fd = -1};
	struct lz_stop stop;
	int n = 0, i;

	for (i = 2; i + 1 < argc && n_watches < 8; i += 2) {
		char *end;

		addr[n_watches] = strtoull(argv[i], NULL, 0);
		len[n_watches] = strtoull(argv[i + 1], &end, 0);
		kind[n_watches++] = *end ? *end : 'w';
	}
	s = n_watches ? lz_session_open(argv[1], &o) : NULL;
	if (!s)
		return printf("FAILED: %s\n", lz_error()), 1;
	for (i = 0; i < n_watches; i++)
		if (lz_session_watch(s, addr[i], len[i], kind[i]) < 0)
			return fail("watch");
	for (; n < MAX; n++) {
		hash_before[n] = value();
		do
			if (lz_session_run(s, LZ_FORWARD, &stop) < 0)
				return fail("run");
		while (stop.reason == LZ_STOP_SIGNAL);
		if (stop.reason != LZ_STOP_WATCH)
			break;
		lz_session_where(s, &after[n]);
		hash_after[n] = value();
		if (n_watches == 1 && kind[0] == 'w' && hash_before[n] == hash_after[n])
			return fail("a stop without a change");
	}
	if (stop.reason != LZ_STOP_END)
		return fail("forward run did not come to the end");
	for (i = n - 1; i >= 0; i--) {
		if (lz_session_run(s, LZ_BACKWARD, &stop) < 0)
			return fail("run back");
		if (stop.reason != LZ_STOP_WATCH)
			return fail("no change found backward");
		struct lz_pos before;
		lz_session_where(s, &before);
		if (value() != wanted_before(i))
			return fail("wrong value before the change");
		do
			if (lz_session_step(s, LZ_FORWARD, &stop) < 0)
				return fail("step over the change");
		while (stop.reason == LZ_STOP_SIGNAL);
		struct lz_pos p;
		lz_session_where(s, &p);
		if (p.event != after[i].event || p.marker != after[i].marker ||
		    p.ip != after[i].ip || p.n != after[i].n || value() != hash_after[i])
			return fail("one step does not lead behind the change");
		if (lz_session_seek(s, &before) < 0)
			return fail("seek");
	}
	if (lz_session_run(s, LZ_BACKWARD, &stop) < 0 || stop.reason != LZ_STOP_START)
		return fail("more changes backward than forward");
	printf("%d stops: the same forward and backward\n", n);
	lz_session_close(s);
	return 0;
}
