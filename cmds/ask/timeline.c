/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard timeline: what happened between checkpoints. */
#include <cmds/ask/asking.h>
#include <cmds/base/cmds.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <replayer/answers/timeline.h>
#include <stdio.h>

static void usage(FILE *to)
{
	fprintf(
	    to,
	    "usage: lizard timeline [options] RECORDING\n\n"
	    "Prints a line for each interval between two checkpoints: where it begins, its\n"
	    "markers and events, system calls, signals, turns of threads, changed mappings, and\n"
	    "processes and threads that were begun.\n\n" LZ_ASKING_HELP);
}

static void print_number(const char *what, uint64_t n)
{
	if (n)
		lz_print(stdout, "  %s %" PRIu64, what, n);
}

static void print_calls(const struct lz_interval *v)
{
	enum { SHOWN = 5 };

	for (size_t i = 0; i < v->calls.n && i < SHOWN; i++)
		lz_print(stdout, "%s%s %" PRIu64, i ? ", " : "  (", lz_interval_call(v, i),
		         v->calls.v[i].n);
	if (v->calls.n)
		printf(v->calls.n > SHOWN ? ", ...)" : ")");
}

static int print_text(const struct lz_interval *v)
{
	char at[LZ_POS_TEXT], time[LZ_TEXT];

	lz_pos_print(&v->begin, at);
	lz_print(stdout, "%6" PRIu32 "  %s  %s  markers %" PRIu64 "  events %" PRIu64, v->number,
	         at, lz_text_duration(v->time_ns, time), v->markers, v->events);
	print_number("system calls", v->n_calls);
	print_calls(v);
	print_number("signals", v->signals);
	print_number("turns", v->turns);
	print_number("mappings", v->mappings);
	print_number("threads", v->threads);
	print_number("processes", v->processes);
	print_number("programs", v->programs);
	print_number("marks", v->marks);
	putchar('\n');
	return 0;
}

static void set(json_t *o, const char *key, uint64_t n)
{
	json_object_set_new(o, key, json_integer((json_int_t)n));
}

static int print_json(const struct lz_interval *v)
{
	json_t *o = json_object(), *calls = json_object();
	char at[LZ_POS_TEXT];

	lz_pos_print(&v->begin, at);
	set(o, "number", v->number);
	json_object_set_new(o, "position", json_string(at));
	set(o, "time_ns", v->time_ns);
	set(o, "markers", v->markers);
	set(o, "events", v->events);
	set(o, "system_calls", v->n_calls);
	for (size_t i = 0; i < v->calls.n; i++)
		set(calls, lz_interval_call(v, i), v->calls.v[i].n);
	json_object_set_new(o, "calls", calls);
	set(o, "signals", v->signals);
	set(o, "turns", v->turns);
	set(o, "mappings", v->mappings);
	set(o, "threads", v->threads);
	set(o, "processes", v->processes);
	set(o, "programs", v->programs);
	set(o, "marks", v->marks);
	return lz_json_print(o);
}

static int print(void *arg, const struct lz_interval *v)
{
	const struct lz_asking *a = arg;

	if (ferror(stdout))
		return 1;
	return a->json ? print_json(v) : print_text(v);
}

static int ask(void *arg, char **words)
{
	struct lz_asking *a = arg;
	struct lz_event_piece p;
	int rc = lz_event_piece(&a->asked, a->from, a->to, &p);

	(void)words;
	if (rc == 0)
		rc = lz_timeline(&a->asked, &p, print, a);
	return rc < 0 ? rc : 0;
}

int lz_cmd_timeline(int argc, char **argv)
{
	static const struct option options[] = {LZ_ASKING_OPTIONS, {0}};
	struct lz_asking a = {.json = false};
	const struct lz_asking_command c = {.usage = usage,
	                                    .letters = LZ_ASKING_LETTERS,
	                                    .longs = options,
	                                    .arg = &a,
	                                    .usable = lz_asking_alone,
	                                    .ask = ask};

	return lz_asking_main(&a, argc, argv, &c);
}
