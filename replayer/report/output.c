/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program wrote last to its standard output and error. The bytes are not recorded: they
 * are read from its memory, right behind each call. */
#include "replayer/report/report.h"
#include "replayer/session/session.h"

#include <common/text.h>
#include <lizard/error.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITES = 40, BYTES = 4096, VECTORS = 16, LOOK_BACK = 200000 };

struct written {
	uint64_t event, marker;
};

static bool is_output(const struct lz_event *ev)
{
	return ev->kind == LZ_EV_SYSCALL && (ev->nr == SYS_write || ev->nr == SYS_writev) &&
	       (ev->args[0] == 1 || ev->args[0] == 2) && ev->result > 0;
}

/* The last of these calls, as many as there is room for, the last one first. */
static int find_writes(struct lz_reader *r, struct written v[WRITES], size_t *n)
{
	uint64_t first = lz_reader_first_event(r), i = lz_reader_n_events(r), bytes = 0;

	*n = 0;
	if (i > LOOK_BACK && i - LOOK_BACK > first)
		first = i - LOOK_BACK;
	while (i > first && *n < WRITES && bytes < BYTES) {
		const struct lz_event *ev = lz_reader_event(r, --i);

		if (!ev)
			return -1;
		if (!is_output(ev))
			continue;
		v[(*n)++] = (struct written){i, ev->marker};
		bytes += (uint64_t)ev->result;
	}
	return 0;
}

/* ---- the bytes of a call ---- */

struct bytes {
	uint8_t v[BYTES];
	size_t n;
};

/* The end of LEN bytes, as far as there is room. */
static void take(struct lz_session *s, struct bytes *b, uint64_t addr, uint64_t len)
{
	uint64_t room = BYTES - b->n, skip = len > room ? len - room : 0;

	b->n += lz_session_read(s, addr + skip, b->v + b->n, (size_t)(len - skip));
}

static void take_vectors(struct lz_session *s, struct bytes *b, const struct lz_event *ev)
{
	struct iovec v[VECTORS];
	size_t n = ev->args[2] < VECTORS ? (size_t)ev->args[2] : VECTORS;
	uint64_t left = (uint64_t)ev->result;

	n = lz_session_read(s, ev->args[1], v, n * sizeof(*v)) / sizeof(*v);
	for (size_t i = 0; i < n && left; i++) {
		uint64_t len = v[i].iov_len < left ? v[i].iov_len : left;

		take(s, b, (uint64_t)(uintptr_t)v[i].iov_base, len);
		left -= len;
	}
}

/* As text: JSON strings end at a 0. */
static json_t *text_of(const struct bytes *b)
{
	char text[4 * BYTES + 1];
	size_t k = 0;

	for (size_t i = 0; i < b->n; i++) {
		if (b->v[i])
			text[k++] = (char)b->v[i];
		else
			k += (size_t)snprintf(text + k, 5, "\\x00");
	}
	text[k] = 0;
	return lz_json_text(text);
}

static int add_write(struct lz_session *s, const struct written *w, json_t *list)
{
	const struct lz_event *ev = lz_reader_event(lz_session_reader(s), w->event);
	struct bytes b = {.n = 0};
	json_t *o;

	if (!ev || !is_output(ev))
		return -1;
	if (ev->nr == SYS_write)
		take(s, &b, ev->args[1], (uint64_t)ev->result);
	else
		take_vectors(s, &b, ev);
	o = json_object();
	json_object_set_new(o, "event", json_integer((json_int_t)ev->index));
	json_object_set_new(o, "time_ns", json_integer((json_int_t)ev->time_ns));
	json_object_set_new(o, "fd", json_integer((json_int_t)ev->args[0]));
	json_object_set_new(o, "text", text_of(&b));
	json_array_append_new(list, o);
	return 0;
}

/* ---- the time that it may take ---- */

static struct lz_session *running;

static void on_alarm(int signo)
{
	lz_session_interrupt(running);
}

static void limit_time(struct lz_session *s, unsigned seconds)
{
	struct sigaction sa = {.sa_handler = s ? on_alarm : SIG_DFL};

	if (s)
		running = s;
	else
		alarm(0);
	sigaction(SIGALRM, &sa, NULL);
	if (s)
		alarm(seconds);
}

static int add_all(struct lz_session *s, const struct lz_report_options *o, json_t *list)
{
	struct written v[WRITES];
	time_t end = time(NULL) + (time_t)o->seconds;
	size_t n;

	if (find_writes(lz_session_reader(s), v, &n) < 0)
		return -1;
	while (n--) {
		lz_session_begin(s);
		int rc = lz_session_seek_gap(s, v[n].event + 1, v[n].marker);

		if (time(NULL) >= end)
			return lz_fail("replay did not come there within %u seconds", o->seconds);
		if (rc < 0 || add_write(s, &v[n], list) < 0)
			return -1;
	}
	return 0;
}

int lz_report_output(json_t *facts, const char *dir, const struct lz_report_options *o)
{
	struct lz_session_options options = {.echo_fd = -1};
	struct lz_session *s = lz_session_open(dir, &options);
	json_t *list = json_array();
	int rc = -1;

	json_object_set_new(facts, "output", list);
	if (s) {
		limit_time(s, o->seconds);
		rc = add_all(s, o, list);
		limit_time(NULL, 0);
	}
	lz_session_close(s);
	return rc;
}
