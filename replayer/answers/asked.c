/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/asked.h"
#include "replayer/answers/unused.h"
#include "replayer/program/cxx_names.h"
#include "replayer/stream/wanted.h"

#include <common/base/cleanup.h>
#include <common/recording/stamp.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Of a function's name for people. */
enum form { SHORT, FULL, FORMS };

/* Before anything is read: what changes later has another one. */
static uint64_t stamp_of(const char *dir)
{
	lz_auto_close int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t stamp;

	return dirfd < 0 || lz_recording_stamp(dirfd, &stamp) < 0 ? 0 : stamp;
}

int lz_asked_open(struct lz_asked *a, const char *dir)
{
	*a = (struct lz_asked){.stamp = stamp_of(dir), .reader = lz_reader_open(dir)};
	if (!a->reader)
		return -1;
	if (!(a->rebuild = lz_rebuild_new(a->reader)) ||
	    !(a->modules = lz_modules_new(a->reader)) || lz_turns_read(&a->turns, a->reader) < 0 ||
	    lz_stream_threads_init(&a->threads, &a->turns) < 0 ||
	    !(a->stream = lz_stream_new(a->reader, a->modules, &a->threads))) {
		lz_asked_close(a);
		return -1;
	}
	a->from = lz_reader_first_marker(a->reader);
	a->to = lz_stream_len(a->stream);
	a->shown = calloc(FORMS * lz_stream_n_fns(a->stream) + 1, sizeof(*a->shown));
	if (a->shown)
		return 0;
	lz_asked_close(a);
	return lz_fail("out of memory for the names of functions");
}

void lz_asked_close(struct lz_asked *a)
{
	for (size_t i = 0; a->shown && i < FORMS * lz_stream_n_fns(a->stream); i++)
		free(a->shown[i]);
	free(a->shown);
	/* what there was has been printed */
	if (a->partial)
		lz_work_end(&a->work);
	lz_stream_free(a->stream);
	lz_stream_threads_free(&a->threads);
	lz_turns_free(&a->turns);
	lz_modules_free(a->modules);
	lz_rebuild_free(a->rebuild);
	lz_reader_close(a->reader);
	*a = (struct lz_asked){0};
}

/* ---- instants ---- */

static int percent_of(const struct lz_asked *a, const char *text, uint64_t *offset)
{
	const uint64_t first = lz_reader_first_marker(a->reader), len = lz_stream_len(a->stream);
	char *end;
	double percent = strtod(text, &end);

	if (strcmp(end, "%") != 0 || !(percent >= 0 && percent <= 100))
		return lz_fail("'%s' is not a percentage from 0%% to 100%%", text);
	*offset = first + (uint64_t)(percent / 100 * (double)(len - first));
	return 0;
}

int lz_asked_offset(const struct lz_asked *a, const char *text, uint64_t *offset)
{
	struct lz_pos pos;

	if (!strcmp(text, "start"))
		*offset = lz_reader_first_marker(a->reader);
	else if (!strcmp(text, "end"))
		*offset = lz_stream_len(a->stream);
	else if (strchr(text, '%'))
		return percent_of(a, text, offset);
	else if (lz_pos_parse(text, &pos) == 0 || lz_instant_parse(text, &pos) == 0)
		*offset = pos.marker;
	else
		return lz_fail("`%s` is no instant: start, end, 25%%, THREAD:MARKER and positions "
		               "as `when` prints them are",
		               text);
	return 0;
}

const char *lz_asked_instant(uint32_t tid, uint64_t offset, char buf[LZ_INSTANT_TEXT])
{
	const struct lz_pos pos = {.tid = tid, .marker = offset};
	char text[LZ_POS_TEXT];

	lz_pos_print(&pos, text);
	text[strcspn(text, ".")] = 0;
	memcpy(buf, text, LZ_INSTANT_TEXT - 1);
	buf[LZ_INSTANT_TEXT - 1] = 0;
	return buf;
}

/* ---- names ---- */

uint32_t lz_asked_tid(const struct lz_asked *a, uint32_t thread)
{
	return thread < a->threads.n ? a->turns.v[a->threads.first[thread]].tid : 0;
}

bool lz_asked_thread(const struct lz_asked *a, uint32_t thread)
{
	return !a->tid || lz_asked_tid(a, thread) == a->tid;
}

const char *lz_asked_name(const struct lz_asked *a, uint32_t fn)
{
	const struct lz_fn *f = lz_stream_fn(a->stream, fn);

	return f ? f->f->name : "?";
}

static char *made_name(const char *name, enum form form)
{
	char *made = lz_cxx_demangled(name);

	if (made && form == SHORT)
		lz_cxx_shorten(made);
	return made ? made : strdup(name);
}

/* Several threads may ask for one: the first that has made it keeps it. */
static const char *shown_name(const struct lz_asked *a, uint32_t fn, enum form form)
{
	const char *name = lz_asked_name(a, fn);

	if (fn >= lz_stream_n_fns(a->stream))
		return name;

	_Atomic(char *) *slot = &a->shown[FORMS * fn + form];
	char *known = *slot, *made;

	if (known)
		return known;
	made = made_name(name, form);
	if (!made)
		return name;
	if (atomic_compare_exchange_strong(slot, &known, made))
		return made;
	free(made);
	return known;
}

const char *lz_asked_short_name(const struct lz_asked *a, uint32_t fn)
{
	return shown_name(a, fn, SHORT);
}

const char *lz_asked_full_name(const struct lz_asked *a, uint32_t fn)
{
	return shown_name(a, fn, FULL);
}

/* ---- walking ---- */

struct walking {
	const struct lz_walk *of;
	struct lz_work *work;
	uint64_t done;
	bool signalled;
};

static int pass_on(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	const struct walking *w = arg;

	return w->of->fn(w->of->arg, d, m);
}

static int look_at(void *arg, uint64_t offset)
{
	struct walking *w = arg;
	const uint64_t more = offset > w->done ? offset - w->done : 0;

	w->done += more;
	w->signalled |= lz_work_done(w->work, more) < 0;
	return w->signalled;
}

static int look(void *arg, struct lz_decoder *d, uint64_t offset)
{
	(void)d;
	return look_at(arg, offset);
}

static int compute_block(struct lz_asked *a, uint32_t tid, uint32_t i)
{
	uint64_t start, len;
	uint8_t byte;

	if (lz_reader_block_at_hand(a->reader, tid, i))
		return 0;
	if (lz_reader_block(a->reader, tid, i, &start, &len) < 0)
		return -1;
	return start < a->to && start + len > a->from &&
	               lz_reader_markers(a->reader, tid, start, &byte, 1) < 0
	           ? -1
	           : 0;
}

/* Before signals are listened to: this shows how far it is by itself, and ends with the process. */
static int compute_missing(struct lz_asked *a, const uint8_t *watch, bool begins_only)
{
	const uint32_t tid = lz_reader_meta(a->reader)->tid;
	const uint32_t n = lz_stream_n_blocks(a->stream);
	struct lz_wanted wanted;
	int rc = lz_wanted_make(&wanted, a->stream, watch, begins_only);

	lz_reader_expect(a->reader, tid, 0, n);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		if (lz_wanted_in(&wanted, i))
			rc = compute_block(a, tid, i);
	lz_wanted_free(&wanted);
	return rc;
}

/* How many threads the user wants to read, 0: one, without what is kept; -1: no wish. */
static int readers_wish(void)
{
	const char *wish = getenv("LIZARD_READERS");

	return wish ? atoi(wish) : -1;
}

int lz_asked_walk(struct lz_asked *a, const char *what, struct lz_walk *of)
{
	struct walking w = {.of = of, .work = &a->work, .done = a->from};
	const struct lz_walk walk = {.from = a->from,
	                             .to = a->to,
	                             .watch = of->watch,
	                             .calls_only = of->calls_only,
	                             .fn = pass_on,
	                             .at = look,
	                             .arg = &w};

	if (readers_wish() != 0)
		lz_stream_index_fetch(a->stream);
	if (compute_missing(a, of->watch, false) < 0)
		return -1;
	lz_work_begin(&a->work, what, a->to - a->from);
	int rc = lz_stream_walk(a->stream, &walk);
	lz_progress_end(&a->work.progress);
	a->partial = w.signalled;
	if (!a->partial)
		lz_work_end(&a->work);
	return a->partial ? 0 : rc;
}

bool lz_asked_unused(const char *dir, char *const *names)
{
	return readers_wish() != 0 && lz_unused_are(dir, names);
}

unsigned lz_asked_cpus(void)
{
	const int wish = readers_wish();
	const unsigned n = lz_spread_cpus();

	return wish >= 0 && (unsigned)wish < n ? (unsigned)wish : n;
}

int lz_asked_spread(struct lz_asked *a, const char *what, const struct lz_spread *wanted)
{
	struct walking k = {.work = &a->work, .done = a->from};
	struct lz_spread w = *wanted;

	if (a->from >= a->to)
		return 0;
	w.from = a->from;
	w.to = a->to;
	w.at = look_at;
	w.at_arg = &k;
	if (readers_wish() != 0)
		lz_stream_index_fetch(a->stream);
	if (compute_missing(a, w.watch, w.begins_only) < 0)
		return -1;
	lz_work_begin(&a->work, what, a->to - a->from);
	const int rc = lz_stream_spread(a->stream, &w);
	if (readers_wish() != 0) {
		lz_stream_index_keep(a->stream);
		lz_unused_keep(a);
	}
	lz_progress_end(&a->work.progress);
	a->partial = k.signalled;
	if (!a->partial)
		lz_work_end(&a->work);
	return a->partial ? 0 : rc;
}

static int look_at_none(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	(void)arg, (void)d, (void)m;
	return 0;
}

int lz_asked_index(struct lz_asked *a)
{
	uint8_t *none = calloc(lz_stream_n_fns(a->stream) + 1, 1);
	const unsigned n = lz_asked_cpus();
	void **arg = calloc(n + 1, sizeof(*arg));
	const struct lz_spread w = {.watch = none,
	                            .begins_only = true,
	                            .fn = look_at_none,
	                            .inner = true,
	                            .arg = arg,
	                            .n = n};
	int rc = none && arg ? 0 : lz_fail("out of memory for an index");

	if (rc == 0 && n)
		rc = lz_asked_spread(a, "finding call stacks", &w);
	free(none);
	free(arg);
	return rc;
}
