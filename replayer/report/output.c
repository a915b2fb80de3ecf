/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program wrote last to its standard output and error. The bytes are not recorded: they
 * are read from its memory, at each call. */
#include "replayer/report/report.h"
#include "replayer/session/session.h"

#include <common/base/text.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WRITES = 40, BYTES = 4096, LOOK_BACK = 200000 };

static bool is_output(const struct lz_event *ev)
{
	uint32_t fd;

	return lz_written_to(ev, &fd) && (fd == 1 || fd == 2);
}

/* Where the last of these calls begin, as many as are shown, and how many these are. */
static int find_writes(struct lz_reader *r, uint64_t *from, size_t *n)
{
	uint64_t first = lz_reader_first_event(r), i = lz_reader_n_events(r), bytes = 0;

	*n = 0;
	if (i > LOOK_BACK && i - LOOK_BACK > first)
		first = i - LOOK_BACK;
	for (*from = i; i > first && *n < WRITES && bytes < BYTES;) {
		const struct lz_event *ev = lz_reader_event(r, --i);

		if (!ev)
			return -1;
		if (!is_output(ev))
			continue;
		*from = i;
		(*n)++;
		bytes += (uint64_t)ev->result;
	}
	return 0;
}

/* ---- the bytes of a call ---- */

struct bytes {
	uint64_t skip; /* in front of those that are shown */
	uint8_t v[BYTES];
	size_t n;
};

static int take(void *arg, const uint8_t *bytes, size_t n)
{
	struct bytes *b = arg;
	const size_t skipped = b->skip < n ? (size_t)b->skip : n;
	const size_t left = n - skipped < BYTES - b->n ? n - skipped : BYTES - b->n;

	b->skip -= skipped;
	memcpy(b->v + b->n, bytes + skipped, left);
	b->n += left;
	return 0;
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

/* ---- the calls ---- */

struct looking {
	json_t *list;
	time_t end; /* so long it may take */
};

static bool is_wanted(void *arg, const struct lz_event *ev)
{
	return is_output(ev);
}

static int add_write(void *arg, const struct lz_event *ev, struct lz_arrival *memory)
{
	const struct looking *l = arg;
	const uint64_t len = (uint64_t)ev->result;
	struct bytes b = {.skip = len > BYTES ? len - BYTES : 0};
	json_t *o = json_object();

	lz_written_each(ev, memory, take, &b);
	json_object_set_new(o, "event", json_integer((json_int_t)ev->index));
	json_object_set_new(o, "time_ns", json_integer((json_int_t)ev->time_ns));
	json_object_set_new(o, "fd", json_integer((json_int_t)ev->args[0]));
	json_object_set_new(o, "text", text_of(&b));
	return json_array_append_new(l->list, o);
}

static int look(void *arg)
{
	const struct looking *l = arg;

	return time(NULL) >= l->end ? -1 : 0;
}

static int add_all(struct lz_session *s, const struct lz_report_options *o, json_t *list)
{
	struct looking l = {list, time(NULL) + (time_t)o->seconds};
	struct lz_visit v = {.wants = is_wanted, .fn = add_write, .look = look, .arg = &l};
	size_t n;

	if (find_writes(lz_session_reader(s), &v.from, &n) < 0)
		return -1;
	v.to = lz_reader_n_events(lz_session_reader(s));
	int rc = lz_session_visit(s, &v);
	if (rc == LZ_VISIT_INTERRUPTED)
		return lz_fail("replay did not come there within %u seconds", o->seconds);
	if (rc == 0 && json_array_size(list) < n)
		return lz_fail("the recording ends before");
	return rc;
}

int lz_report_output(json_t *facts, const char *dir, const struct lz_report_options *o)
{
	struct lz_session_options options = {.echo_fd = -1};
	struct lz_session *s = lz_session_open(dir, &options);
	json_t *list = json_array();

	json_object_set_new(facts, "output", list);
	int rc = s ? add_all(s, o, list) : -1;
	lz_session_close(s);
	return rc;
}
