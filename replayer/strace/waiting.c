/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waiting for descriptors, and for other threads. */
#include "replayer/strace/show.h"

#include <common/base/print.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>

enum { SHOWN = 32 };

/* ---- poll ---- */

static void show_polled(struct lz_show *s, FILE *to, const struct pollfd *p, bool events)
{
	FILE *old = s->to;

	s->to = to;
	fprintf(to, events ? "{fd=%d, events=" : "{fd=%d, revents=", p->fd);
	lz_show_flags(s, "poll", (uint16_t)(events ? p->events : p->revents));
	fputc('}', to);
	s->to = old;
}

/* Behind the result strace lists those that something happened to. */
static void note_polled(struct lz_show *s, const struct pollfd *p, size_t n)
{
	bool any = false;

	if (lz_show_failed(s))
		return;
	if (!s->ev->result) {
		fputs("Timeout", s->note);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (!p[i].revents)
			continue;
		fputs(any ? ", " : "[", s->note);
		show_polled(s, s->note, &p[i], false);
		any = true;
	}
	if (any)
		fputc(']', s->note);
}

static void show_pollfds(struct lz_show *s, uint64_t v, unsigned i)
{
	struct pollfd p[SHOWN];
	const uint64_t all = s->ev->args[1];
	const size_t n = all < SHOWN ? (size_t)all : SHOWN;

	(void)i;
	lz_show_taken(s, v, all * sizeof(*p));
	if (lz_show_either(s, v, p, n * sizeof(*p)) < n * sizeof(*p)) {
		lz_show_address(s, v);
		return;
	}
	fputc('[', s->to);
	for (size_t k = 0; k < n; k++) {
		fputs(k ? ", " : "", s->to);
		show_polled(s, s->to, &p[k], true);
	}
	fputs(n < all ? ", ...]" : "]", s->to);
	note_polled(s, p, n);
}

/* ---- select ---- */

static bool show_set(struct lz_show *s, FILE *to, const fd_set *set, int n)
{
	bool any = false;

	fputc('[', to);
	for (int i = 0; i < n && i < FD_SETSIZE; i++)
		if (FD_ISSET(i, set)) {
			lz_print(to, "%s%d", any ? " " : "", i);
			any = true;
		}
	fputc(']', to);
	(void)s;
	return any;
}

static size_t set_bytes(const struct lz_show *s)
{
	const uint64_t n = s->ev->args[0] < FD_SETSIZE ? s->ev->args[0] : FD_SETSIZE;

	return (size_t)(n + 63) / 64 * 8;
}

static void note_set(struct lz_show *s, uint64_t v, unsigned i)
{
	static const char *const names[] = {"?", "in", "out", "except"};
	fd_set set = {0};
	const size_t len = set_bytes(s);

	s->out = true;
	if (s->ev->result <= 0 || lz_show_bytes(s, v, &set, len) < len)
		return;
	for (int k = 0; k < (int)s->ev->args[0] && k < FD_SETSIZE; k++)
		if (FD_ISSET(k, &set)) {
			lz_print(s->note, "%s%s ", ftell(s->note) > 0 ? ", " : "", names[i & 3]);
			show_set(s, s->note, &set, (int)s->ev->args[0]);
			return;
		}
}

static void show_fdset(struct lz_show *s, uint64_t v, unsigned i)
{
	fd_set set = {0};
	const size_t len = set_bytes(s);

	if (!v || lz_show_bytes(s, v, &set, len) < len)
		lz_show_address(s, v);
	else
		show_set(s, s->to, &set, (int)s->ev->args[0]);
	if (v)
		note_set(s, v, i);
	if (i == 3 && !s->ev->result)
		fputs("Timeout", s->note);
}

/* ---- epoll ---- */

static void show_epoll_event(struct lz_show *s, const struct epoll_event *e)
{
	uint32_t events;
	uint64_t data;

	memcpy(&events, &e->events, sizeof(events));
	memcpy(&data, &e->data, sizeof(data));
	fputs("{events=", s->to);
	lz_show_flags(s, "epoll_events", events);
	fprintf(s->to, ", data={u32=%" PRIu32 ", u64=%" PRIu64 "}}", (uint32_t)data, data);
}

static void show_epoll_given(struct lz_show *s, uint64_t v, unsigned i)
{
	struct epoll_event e;

	(void)i;
	if (!v || lz_show_bytes(s, v, &e, sizeof(e)) < sizeof(e))
		lz_show_address(s, v);
	else
		show_epoll_event(s, &e);
}

static void show_epoll_events(struct lz_show *s, uint64_t v, unsigned i)
{
	struct epoll_event e[SHOWN];
	const int64_t all = s->ev->result;
	const size_t n = all > SHOWN ? SHOWN : all > 0 ? (size_t)all : 0;

	(void)i;
	if (all < 0 || lz_show_bytes(s, v, e, n * sizeof(*e)) < n * sizeof(*e)) {
		lz_show_address(s, v);
		return;
	}
	fputc('[', s->to);
	for (size_t k = 0; k < n; k++) {
		fputs(k ? ", " : "", s->to);
		show_epoll_event(s, &e[k]);
	}
	fputs((int64_t)n < all ? ", ...]" : "]", s->to);
}

/* ---- futex ---- */

static void show_futex_timeout(struct lz_show *s, uint64_t v)
{
	struct timespec t;

	if (!v || lz_show_bytes(s, v, &t, sizeof(t)) < sizeof(t))
		lz_show_address(s, v);
	else
		fprintf(s->to, "{tv_sec=%ld, tv_nsec=%ld}", t.tv_sec, t.tv_nsec);
}

static void show_futex_command(struct lz_show *s, uint64_t v)
{
	const uint64_t command = (uint32_t)v & FUTEX_CMD_MASK;

	lz_show_name(s, "futex", command);
	fputs(v & FUTEX_PRIVATE_FLAG ? "_PRIVATE" : "", s->to);
	fputs(v & FUTEX_CLOCK_REALTIME ? "|FUTEX_CLOCK_REALTIME" : "", s->to);
}

/* Which arguments there are depends on the command. */
static void show_futex(struct lz_show *s, uint64_t v, unsigned i)
{
	const uint64_t command = (uint32_t)s->ev->args[1] & FUTEX_CMD_MASK;
	const bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
	const bool bits = command == FUTEX_WAIT_BITSET || command == FUTEX_WAKE_BITSET;

	if (i == 1 && waits)
		lz_show_taken(s, s->ev->args[0], sizeof(uint32_t));
	if (i == 1)
		show_futex_command(s, v);
	else if (i == 2)
		waits ? lz_show_unsigned(s, (uint32_t)v) : lz_show_int(s, (int)v);
	else if (i == 3 && waits)
		show_futex_timeout(s, v);
	else if (command == FUTEX_WAIT || command == FUTEX_WAKE || (bits && i < 5))
		return;
	else if (bits && (uint32_t)v == FUTEX_BITSET_MATCH_ANY)
		fputs("FUTEX_BITSET_MATCH_ANY", s->to);
	else
		lz_show_hex(s, i == 5 ? (uint32_t)v : v);
}

/* ---- sleeping ---- */

/* Written only where a signal has ended the sleep. */
static void show_remaining(struct lz_show *s, uint64_t v, unsigned i)
{
	struct timespec t;

	(void)i;
	if (!v || !lz_show_failed(s) || lz_show_bytes(s, v, &t, sizeof(t)) < sizeof(t))
		lz_show_address(s, v);
	else
		fprintf(s->to, "{tv_sec=%ld, tv_nsec=%ld}", t.tv_sec, t.tv_nsec);
}

const struct lz_form lz_forms_waiting[] = {{"pollfds", show_pollfds},
                                           {"fdset", show_fdset},
                                           {"epoll_event", show_epoll_given},
                                           {"epoll_events", show_epoll_events},
                                           {"futex", show_futex},
                                           {"remaining", show_remaining},
                                           {0}};
