/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The format: "Trace Event Format" of Chrome's tracing, in JSON. Its time is the number of bytes of
 * markers: a recording knows no clock between them. */
#include <cmds/ask/tree_trace.h>
#include <common/base/text.h>
#include <lizard/error.h>
#include <lizard/mark.h>
#include <lizard/syscalls.h>
#include <replayer/answers/activations.h>
#include <replayer/answers/event_piece.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 0 }; /* the track that shows who runs: no thread has this number */

struct tracing {
	struct lz_asking *asking;
	FILE *to;
	uint64_t depth, rows;
	uint32_t pid;
};

/* ---- rows ---- */

static json_t *row(const struct tracing *t, const char *kind, const char *category,
                   const char *name, uint32_t tid, uint64_t at)
{
	json_t *o = json_object();

	json_object_set_new(o, "ph", json_string(kind));
	json_object_set_new(o, "cat", json_string(category));
	json_object_set_new(o, "name", lz_json_text(name));
	json_object_set_new(o, "pid", json_integer(t->pid));
	json_object_set_new(o, "tid", json_integer(tid));
	json_object_set_new(o, "ts", json_integer((json_int_t)at));
	return o;
}

static int write_row(struct tracing *t, json_t *o)
{
	if (t->rows++)
		fputc(',', t->to);
	return lz_json_write(t->to, o);
}

static int write_span(struct tracing *t, json_t *o, uint64_t len)
{
	json_object_set_new(o, "dur", json_integer((json_int_t)len));
	return write_row(t, o);
}

/* ---- names ---- */

static int write_name(struct tracing *t, const char *what, uint32_t tid, const char *name)
{
	json_t *o = row(t, "M", "__metadata", what, tid, 0), *args = json_object();

	json_object_set_new(args, "name", lz_json_text(name));
	json_object_set_new(o, "args", args);
	return write_row(t, o);
}

static int write_names(struct tracing *t)
{
	const struct lz_asked *a = &t->asking->asked;
	int rc = write_name(t, "process_name", TURNS, lz_reader_meta(a->reader)->program);

	if (rc == 0)
		rc = write_name(t, "thread_name", TURNS, "turns");
	for (uint32_t i = 0; rc == 0 && i < a->threads.n; i++) {
		char name[LZ_TEXT];
		snprintf(name, sizeof(name), "thread %u", lz_asked_tid(a, i));
		rc = write_name(t, "thread_name", lz_asked_tid(a, i), name);
	}
	return rc;
}

/* ---- calls ---- */

static int on_activation(void *arg, const struct lz_activation *one)
{
	struct tracing *t = arg;
	const struct lz_asked *a = &t->asking->asked;
	const uint32_t tid = lz_asked_tid(a, one->thread);
	char at[LZ_INSTANT_TEXT];

	if (one->depth > t->depth)
		return 0;
	json_t *o = row(t, "X", "call", lz_asked_full_name(a, one->fn), tid, one->from);
	json_t *args = json_object();
	json_object_set_new(args, "position", json_string(lz_asked_instant(tid, one->from, at)));
	json_object_set_new(args, "ended", json_string(lz_ended_name(one->ended)));
	json_object_set_new(o, "args", args);
	return write_span(t, o, one->to - one->from);
}

static int write_calls(struct tracing *t)
{
	struct lz_asked *a = &t->asking->asked;
	const size_t n = lz_stream_n_fns(a->stream);
	uint8_t *wanted = malloc(n + 1);

	if (!wanted)
		return lz_fail("out of memory for %zu functions", n);
	memset(wanted, LZ_WATCH_ALL, n + 1);
	int rc = lz_activations_ended(a, wanted, on_activation, t);
	free(wanted);
	return rc;
}

/* ---- events ---- */

static json_t *event_row(const struct tracing *t, const struct lz_event *ev)
{
	char text[LZ_TEXT], name[LZ_TEXT + 4], mark[LIZARD_MARK_MOST + 1];
	uint32_t fd;

	if (ev->kind == LZ_EV_SIGNAL) {
		snprintf(name, sizeof(name), "SIG%s", lz_text_signal((int)ev->signo, text));
		return row(t, "i", "signal", name, ev->tid, ev->marker);
	}
	if (ev->kind != LZ_EV_SYSCALL)
		return NULL;
	if (lz_mark_text(ev, mark))
		return row(t, "i", "mark", mark, ev->tid, ev->marker);
	return row(t, "i", lz_written_to(ev, &fd) ? "syscall,output" : "syscall",
	           lz_call_name(ev->nr, ev->args), ev->tid, ev->marker);
}

static int write_event(struct tracing *t, const struct lz_event *ev)
{
	json_t *o = event_row(t, ev), *args = json_object();
	char at[LZ_EVENT_INSTANT];
	uint32_t fd;

	if (!o) {
		json_decref(args);
		return 0;
	}
	json_object_set_new(args, "position", json_string(lz_event_instant(ev, at)));
	json_object_set_new(args, "event", json_integer((json_int_t)ev->index));
	if (ev->kind == LZ_EV_SYSCALL)
		json_object_set_new(args, "result", json_integer(ev->result));
	if (lz_written_to(ev, &fd))
		json_object_set_new(args, "fd", json_integer(fd));
	json_object_set_new(o, "s", json_string("t"));
	json_object_set_new(o, "args", args);
	return write_row(t, o);
}

static int write_events(struct tracing *t)
{
	struct lz_asked *a = &t->asking->asked;
	struct lz_event_piece p;
	int rc = lz_event_piece(a, t->asking->from, t->asking->to, &p);

	for (uint64_t i = p.from; rc == 0 && i < p.to; i++) {
		const struct lz_event *ev = lz_reader_event(a->reader, i);
		if (!ev)
			return -1;
		if (!a->tid || ev->tid == a->tid)
			rc = write_event(t, ev);
	}
	return rc;
}

/* Who runs; of turns in which no marker was written nothing is to be seen. */
static int write_turns(struct tracing *t)
{
	const struct lz_asked *a = &t->asking->asked;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < a->turns.n; i++) {
		const struct lz_turn *turn = &a->turns.v[i];
		const uint64_t end = lz_turn_end(&a->threads, i);
		const uint64_t from = turn->marker > a->from ? turn->marker : a->from;
		const uint64_t to = end < a->to ? end : a->to;
		char name[LZ_TEXT];

		if (to <= from || (a->tid && turn->tid != a->tid))
			continue;
		snprintf(name, sizeof(name), "thread %u", turn->tid);
		rc = write_span(t, row(t, "X", "turn", name, TURNS, from), to - from);
	}
	return rc;
}

/* ---- the file ---- */

static int write_all(void *arg, FILE *to)
{
	struct tracing *t = arg;
	struct lz_asked *a = &t->asking->asked;

	t->to = to;
	fputs("{\"otherData\": {\"time\": \"bytes of markers\"},\n\"traceEvents\": [\n", to);
	int rc = write_names(t);
	if (rc == 0)
		rc = write_calls(t);
	if (rc == 0 && !a->partial)
		rc = write_turns(t);
	if (rc == 0 && !a->partial)
		rc = write_events(t);
	fputs("]}\n", to);
	if (rc < 0)
		return rc;
	return fflush(to) || ferror(to) ? lz_fail_errno("the trace cannot be written") : 0;
}

int lz_tree_trace(struct lz_asking *a, const char *path, uint64_t depth)
{
	struct tracing t = {
	    .asking = a, .depth = depth, .pid = lz_reader_meta(a->asked.reader)->tid};

	return lz_asking_write(path, write_all, &t);
}
