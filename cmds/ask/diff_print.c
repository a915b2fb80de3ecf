/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cmds/ask/diff.h>

#include <common/base/print.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <string.h>

enum { MOST_NAMES = 10, MOST_FRAMES = 16, ENDING_TEXT = LZ_TEXT + 8 };

static const char *const run_name[2] = {"first", "second"};

/* For people; fn_name() for programs. */
static const char *fn_text(const struct lz_differ *d, uint32_t number)
{
	return number < d->fns.n
	           ? lz_asked_short_name(d->a[d->fns.second[number]], d->fns.fn[number])
	           : "?";
}

static const char *fn_name(const struct lz_differ *d, uint32_t number)
{
	return number < d->fns.n ? d->fns.name[number] : "?";
}

/* The instant of thread T of run SIDE. */
static const char *instant(const struct lz_differ *d, int side, const struct lz_paired_thread *t,
                           uint64_t at, char buf[LZ_INSTANT_TEXT])
{
	return lz_asked_instant(lz_asked_tid(d->a[side], t->thread[side]), at, buf);
}

static uint64_t begin_of(const struct lz_differ *d, int side, const struct lz_paired_thread *t)
{
	const struct lz_asked *a = d->a[side];

	return a->turns.v[a->threads.first[t->thread[side]]].marker;
}

/* ---- programs ---- */

static const char *const kind_text[] = {[LZ_PAIR_CHANGED] = "changed", [LZ_PAIR_ALONE] = "alone"};

/* Of a function that only one run has: which one. */
static int side_of(const struct lz_differ *d, uint32_t number)
{
	return d->fns.second[number];
}

static int print_functions_json(const struct lz_differ *d)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < d->fns.n; i++) {
		if (d->fns.kind[i] == LZ_PAIR_SAME)
			continue;
		json_t *o = json_object();
		json_object_set_new(o, "kind", json_string("function"));
		json_object_set_new(o, "function", lz_json_text(d->fns.name[i]));
		json_object_set_new(o, "is", json_string(kind_text[d->fns.kind[i]]));
		if (d->fns.kind[i] == LZ_PAIR_ALONE)
			json_object_set_new(o, "run", json_string(run_name[side_of(d, i)]));
		rc = lz_json_print(o);
	}
	return rc;
}

static void print_names(const struct lz_differ *d, enum lz_pairing kind, int side, const char *what)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->fns.n; i++) {
		if (d->fns.kind[i] != kind || (kind == LZ_PAIR_ALONE && side_of(d, i) != side))
			continue;
		if (n++ < MOST_NAMES)
			lz_print(stdout, "%s%s", n == 1 ? what : ", ", fn_text(d, i));
	}
	if (n > MOST_NAMES)
		printf(", and %u more", n - MOST_NAMES);
	if (n)
		putchar('\n');
}

static int print_functions(const struct lz_differ *d, bool json)
{
	if (!d->fns.differ)
		return 0;
	if (json)
		return print_functions_json(d);
	print_names(d, LZ_PAIR_CHANGED, 0, "changed, compared by their calls only: ");
	print_names(d, LZ_PAIR_ALONE, 0, "only in the first program, left out: ");
	print_names(d, LZ_PAIR_ALONE, 1, "only in the second program, left out: ");
	return 0;
}

/* ---- threads ---- */

static int print_thread(const struct lz_differ *d, const struct lz_paired_thread *t, bool json)
{
	const int side = t->thread[0] == LZ_NO_THREAD;
	const uint32_t tid = lz_asked_tid(d->a[side], t->thread[side]);
	char at[LZ_INSTANT_TEXT];

	instant(d, side, t, begin_of(d, side, t), at);
	if (json) {
		json_t *o = json_object();
		json_object_set_new(o, "kind", json_string("thread"));
		json_object_set_new(o, "run", json_string(run_name[side]));
		json_object_set_new(o, "thread", json_integer(tid));
		json_object_set_new(o, "function", lz_json_text(fn_name(d, t->entry)));
		json_object_set_new(o, "from", json_string(at));
		return lz_json_print(o);
	}
	lz_print(stdout, "only in the %s run: thread %u, which begins with %s at %s\n",
	         run_name[side], tid, fn_text(d, t->entry), at);
	return 0;
}

static int print_threads(const struct lz_differ *d, bool json)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < d->threads.n; i++) {
		const struct lz_paired_thread *t = &d->threads.v[i];

		if (lz_differ_wants(d, t) &&
		    (t->thread[0] == LZ_NO_THREAD || t->thread[1] == LZ_NO_THREAD))
			rc = print_thread(d, t, json);
	}
	return rc;
}

/* ---- one difference ---- */

static const char *const way_text[] = {
    [LZ_WAY_LINE] = "line",     [LZ_WAY_CALL] = "call",       [LZ_WAY_SIGNAL] = "signal",
    [LZ_WAY_RETURN] = "return", [LZ_WAY_LANDING] = "landing", [LZ_WAY_END] = "end"};

static void set_source(json_t *o, const struct lz_source *s)
{
	if (!s->file)
		return;
	json_object_set_new(o, "file", lz_json_text(s->file));
	json_object_set_new(o, "line", json_integer(s->line));
}

static json_t *way_json(const struct lz_differ *d, const struct lz_difference *one, int side)
{
	const struct lz_way *w = &one->way[side];
	json_t *o = json_object(), *branch = json_object();
	char at[LZ_INSTANT_TEXT];

	json_object_set_new(o, "at", json_string(instant(d, side, one->thread, one->at[side], at)));
	set_source(branch, &w->branch);
	json_object_set_new(o, "branch", branch);
	json_object_set_new(o, "way", json_string(way_text[w->kind]));
	set_source(o, &w->source);
	if (w->kind == LZ_WAY_CALL || w->kind == LZ_WAY_SIGNAL || w->kind == LZ_WAY_LANDING)
		json_object_set_new(o, "function", lz_json_text(fn_name(d, w->fn)));
	if (one->meets)
		json_object_set_new(
		    o, "meets", json_string(instant(d, side, one->thread, one->meet[side], at)));
	return o;
}

static json_t *input_json(const struct lz_diff_input *in)
{
	json_t *o = json_object();

	for (int i = 0; i < 2; i++) {
		json_t *e = json_object();

		if (!in->text[i]) {
			json_object_set_new(o, run_name[i], json_null());
			json_decref(e);
			continue;
		}
		json_object_set_new(e, "event", json_integer((json_int_t)in->event[i]));
		json_object_set_new(e, "thread", json_integer(in->tid[i]));
		json_object_set_new(e, "what", lz_json_text(in->text[i]));
		json_object_set_new(o, run_name[i], e);
	}
	return o;
}

static int print_json(const struct lz_differ *d, size_t index, const struct lz_diff_inputs *in)
{
	const struct lz_difference *one = &d->v[index];
	json_t *o = json_object(), *stack = json_array(), *inputs = json_array();

	json_object_set_new(o, "kind", json_string("difference"));
	json_object_set_new(o, "number", json_integer((json_int_t)index + 1));
	for (uint32_t i = 0; i < one->depth; i++)
		json_array_append_new(stack, lz_json_text(fn_name(d, one->stack[i])));
	json_object_set_new(o, "stack", stack);
	json_object_set_new(o, "changed", json_boolean(one->changed));
	for (int i = 0; i < 2; i++)
		json_object_set_new(o, run_name[i], way_json(d, one, i));
	json_object_set_new(o, "inputs", json_integer((json_int_t)in->all));
	for (size_t i = 0; i < in->n; i++)
		json_array_append_new(inputs, input_json(&in->v[i]));
	json_object_set_new(o, "last_inputs", inputs);
	json_object_set_new(o, "meets",
	                    one->meets ? lz_json_text(fn_name(d, one->meet_fn)) : json_null());
	return lz_json_print(o);
}

/* ---- the same as text ---- */

static void print_source(const struct lz_source *s)
{
	if (s->file)
		lz_print(stdout, "%s:%u", s->file, s->line);
}

/* How the run, or its recording, ended, if the thread was there until then. */
static const char *ending(const struct lz_differ *d, const struct lz_difference *one, int side,
                          char buf[ENDING_TEXT])
{
	const struct lz_asked *a = d->a[side];
	const int status = lz_reader_meta(a->reader)->exit_status;
	char text[LZ_TEXT];

	buf[0] = 0;
	if (one->at[side] != lz_stream_len(a->stream))
		return buf;
	if (lz_reader_damage(a->reader))
		snprintf(buf, ENDING_TEXT, ": its recording is cut there");
	else if (status != -1)
		snprintf(buf, ENDING_TEXT, ": %s", lz_text_ending(status, text));
	return buf;
}

static void print_way(const struct lz_differ *d, const struct lz_difference *one, int side)
{
	const struct lz_way *w = &one->way[side];
	char at[LZ_INSTANT_TEXT], text[ENDING_TEXT];

	lz_print(stdout, "     %-7s %s  ", run_name[side],
	         instant(d, side, one->thread, one->at[side], at));
	switch (w->kind) {
	case LZ_WAY_LINE: fputs("goes on at ", stdout); break;
	case LZ_WAY_CALL: lz_print(stdout, "calls %s, ", fn_text(d, w->fn)); break;
	case LZ_WAY_SIGNAL: lz_print(stdout, "a signal calls %s, ", fn_text(d, w->fn)); break;
	case LZ_WAY_RETURN: fputs("returns", stdout); break;
	case LZ_WAY_LANDING: lz_print(stdout, "lands in %s", fn_text(d, w->fn)); break;
	case LZ_WAY_END: fputs(w->source.file ? "ends at " : "ends", stdout); break;
	}
	if (w->kind == LZ_WAY_LINE && !w->source.file)
		fputs("another block", stdout);
	print_source(&w->source);
	lz_print(stdout, "%s\n", w->kind == LZ_WAY_END ? ending(d, one, side, text) : "");
}

static void print_stack(const struct lz_differ *d, const struct lz_difference *one)
{
	fputs("     stack  ", stdout);
	for (uint32_t i = one->depth, n = 0; i-- > 0; n++) {
		if (n == MOST_FRAMES) {
			printf(" <- %u more", i + 1);
			break;
		}
		lz_print(stdout, "%s%s", n ? " <- " : " ", fn_text(d, one->stack[i]));
	}
	putchar('\n');
}

static void print_inputs(const struct lz_diff_inputs *in)
{
	if (!in->all)
		return;
	printf("     inputs  %" PRIu64 " differed before", in->all);
	if (in->n && in->n < in->all)
		printf(", the last %zu", in->n);
	fputs(in->n ? ":\n" : "\n", stdout);
	for (size_t i = 0; i < in->n; i++)
		for (int side = 0; side < 2; side++) {
			if (in->v[i].text[side])
				lz_print(stdout, "       %-7s event %" PRIu64 "  %s\n",
				         run_name[side], in->v[i].event[side], in->v[i].text[side]);
			else
				lz_print(stdout, "       %-7s none\n", run_name[side]);
		}
}

static void print_meeting(const struct lz_differ *d, const struct lz_difference *one)
{
	char at[2][LZ_INSTANT_TEXT];

	if (!one->meets) {
		fputs("     they do not meet again\n", stdout);
		return;
	}
	for (int i = 0; i < 2; i++)
		instant(d, i, one->thread, one->meet[i], at[i]);
	lz_print(stdout, "     meet    in %s, first %s, second %s\n", fn_text(d, one->meet_fn),
	         at[0], at[1]);
}

static bool is_same_line(const struct lz_source *x, const struct lz_source *y)
{
	return x->line == y->line && !strcmp(x->file, y->file);
}

static void print_text(const struct lz_differ *d, size_t index, const struct lz_diff_inputs *in)
{
	const struct lz_difference *one = &d->v[index];
	const struct lz_source *branch = &one->way[0].branch, *other = &one->way[1].branch;
	const uint32_t inner = one->depth ? one->stack[one->depth - 1] : LZ_FN_NONE;

	lz_print(stdout, "%4zu in %s", index + 1, fn_text(d, inner));
	if (branch->file || other->file) {
		fputs(", ", stdout);
		print_source(branch->file ? branch : other);
	}
	if (branch->file && other->file && !is_same_line(branch, other)) {
		fputs(", in the second program ", stdout);
		print_source(other);
	}
	fputs(one->changed ? ", which has changed\n" : "\n", stdout);
	print_way(d, one, 0);
	print_way(d, one, 1);
	print_stack(d, one);
	print_inputs(in);
	print_meeting(d, one);
}

/* ---- all ---- */

int lz_diff_print(struct lz_differ *d, const struct lz_diff_wishes *w)
{
	int rc = print_functions(d, w->json);

	if (rc == 0 && (d->n || !lz_diff_same_end(d)))
		rc = lz_diff_print_started(d, w->json);
	if (rc == 0)
		rc = print_threads(d, w->json);
	for (size_t i = 0; rc == 0 && i < d->n && (!w->limit || i < w->limit); i++) {
		struct lz_diff_inputs in;

		rc = lz_diff_inputs_find(d, i, w->inputs, &in);
		if (rc == 0 && w->json)
			rc = print_json(d, i, &in);
		else if (rc == 0)
			print_text(d, i, &in);
		lz_diff_inputs_free(&in);
	}
	if (rc == 0 && !lz_diff_same_end(d))
		rc = lz_diff_print_ended(d, w->json);
	return rc;
}
