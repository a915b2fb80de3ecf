/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a report as lines of text, without what surrounds them. */
#include "replayer/report/report.h"

#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <common/base/shell.h>
#include <common/base/text.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char *string_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static uint64_t number_of(const json_t *o, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(o, key));
}

/* ---- the run ---- */

static void print_command(FILE *to, const json_t *facts)
{
	const json_t *word, *list = json_object_get(facts, "argv");
	size_t i;

	fputs("command    ", to);
	json_array_foreach(list, i, word)
	{
		lz_auto_free char *quoted = lz_shell_word(json_string_value(word));

		lz_print(to, " %s", quoted ? quoted : "?");
	}
	fputc('\n', to);
}

/* As waitpid gives it. */
static int status_of(const json_t *facts)
{
	const json_t *status = json_object_get(facts, "exit_status");
	const json_t *signo = json_object_get(facts, "signal");

	if (json_is_integer(signo))
		return (int)json_integer_value(signo) & 0x7f;
	return json_is_integer(status) ? W_EXITCODE(json_integer_value(status) & 0xff, 0) : -1;
}

static void print_run(FILE *to, const json_t *facts)
{
	char ended[LZ_TEXT], took[LZ_TEXT], begun[LZ_TEXT];

	lz_print(to, "ended       %s after %s\n", lz_text_ending(status_of(facts), ended),
	         lz_text_duration(number_of(facts, "duration_ns"), took));
	if (*string_of(facts, "became"))
		lz_print(to, "became      %s\n", string_of(facts, "became"));
	lz_print(to, "program     %s\n", string_of(facts, "program"));
	print_command(to, facts);
	lz_print(to, "directory   %s\n", string_of(facts, "cwd"));
	lz_print(to, "process     %" PRIu64 "\n", number_of(facts, "pid"));
	lz_print(to, "begun       %s\n", lz_text_time(number_of(facts, "start_time"), begun));
	if (number_of(facts, "chaos_seed"))
		lz_print(to, "chaos       seed %" PRIu64 "\n", number_of(facts, "chaos_seed"));
	if (json_is_false(json_object_get(facts, "instrumented")))
		fputs("markers     none: it was not built with lizard-cc\n", to);
	if (*string_of(facts, "damage"))
		lz_print_lines(to, "not whole   %s\n", string_of(facts, "damage"));
	lz_print(to, "recording   %s\n", string_of(facts, "recording"));
}

/* ---- what GDB told ---- */

static void print_missing(FILE *to, const json_t *facts, const char *part)
{
	const char *why = string_of(json_object_get(facts, "missing"), part);

	if (*why)
		lz_print_lines(to, "not all is known: %s\n", why);
}

static void print_args(FILE *to, const json_t *frame)
{
	const json_t *arg, *list = json_object_get(frame, "args");
	size_t i;

	json_array_foreach(list, i, arg)
	{
		lz_print(to, "%s%s=%s", i ? ", " : "", string_of(arg, "name"),
		         string_of(arg, "value"));
	}
}

static void print_frame(FILE *to, size_t level, const json_t *frame)
{
	const char *function = string_of(frame, "function"), *file = string_of(frame, "file");

	lz_print(to, "#%-3zu%s (", level, *function ? function : string_of(frame, "address"));
	print_args(to, frame);
	fputc(')', to);
	if (*file)
		lz_print(to, " at %s:%" PRIu64, file, number_of(frame, "line"));
	else if (*string_of(frame, "library"))
		lz_print(to, " from %s", string_of(frame, "library"));
	fputc('\n', to);
}

static void print_thread(FILE *to, const json_t *thread, bool several)
{
	const json_t *frame, *list = json_object_get(thread, "frames");
	size_t i;

	if (several)
		lz_print(to, "thread %" PRIu64 " \"%s\"%s\n", number_of(thread, "tid"),
		         string_of(thread, "name"),
		         json_is_true(json_object_get(thread, "running")) ? ", which ran last"
		                                                          : "");
	json_array_foreach(list, i, frame)
	{
		print_frame(to, i, frame);
	}
	if (*string_of(thread, "ends"))
		lz_print(to, "... %s\n", string_of(thread, "ends"));
}

static void print_threads(FILE *to, const json_t *facts)
{
	const json_t *thread, *list = json_object_get(facts, "threads");
	size_t i, n = json_array_size(list);

	json_array_foreach(list, i, thread)
	{
		if (i)
			fputc('\n', to);
		print_thread(to, thread, n > 1);
	}
	print_missing(to, facts, "threads");
}

static void print_lines(FILE *to, const json_t *facts)
{
	const json_t *line, *list = json_object_get(facts, "lines");
	size_t i;

	json_array_foreach(list, i, line)
	{
		lz_print(to, "%s:%" PRIu64 "  %s%s%s\n", string_of(line, "file"),
		         number_of(line, "line"), string_of(line, "function"),
		         *string_of(line, "source") ? "  " : "", string_of(line, "source"));
	}
	print_missing(to, facts, "lines");
}

/* ---- what it did ---- */

/* Tabs become blanks: they would be shown as \x09. */
static void print_without_tabs(FILE *to, const char *text, size_t n)
{
	for (size_t part; n; n -= part, text += part) {
		part = strcspn(text, "\t");
		part = part < n ? part : n;
		lz_print(to, "%.*s", (int)part, text);
		if (part < n) {
			fputs("    ", to);
			part++;
		}
	}
}

/* Each line that it wrote behind the number of its descriptor. */
static void print_output(FILE *to, const json_t *facts)
{
	const json_t *piece, *list = json_object_get(facts, "output");
	uint64_t fd = 0;
	size_t i;

	json_array_foreach(list, i, piece)
	{
		const char *text = string_of(piece, "text");

		if (fd && fd != number_of(piece, "fd")) {
			fputc('\n', to);
			fd = 0;
		}
		for (size_t n; *text; text += n + (text[n] == '\n')) {
			n = strcspn(text, "\n");
			if (!fd)
				lz_print(to, "%" PRIu64 "| ", number_of(piece, "fd"));
			print_without_tabs(to, text, n);
			if (text[n])
				fputc('\n', to);
			fd = text[n] ? 0 : number_of(piece, "fd");
		}
	}
	if (fd)
		fputc('\n', to);
	print_missing(to, facts, "output");
}

static void print_calls(FILE *to, const json_t *facts)
{
	const json_t *call, *list = json_object_get(facts, "calls");
	size_t i;

	json_array_foreach(list, i, call)
	{
		lz_print(to, "event %" PRIu64 "  %.6f s  thread %" PRIu64 "  %s\n",
		         number_of(call, "event"), (double)number_of(call, "time_ns") / 1e9,
		         number_of(call, "tid"), string_of(call, "what"));
	}
	print_missing(to, facts, "calls");
}

const struct lz_report_part lz_report_parts[LZ_REPORT_PARTS] = {
    {"How it ended", print_run},
    {"Backtrace", print_threads},
    {"Last lines executed", print_lines},
    {"Last output", print_output},
    {"Last system calls and signals", print_calls},
};

char *lz_report_lines(const struct lz_report_part *part, const json_t *facts)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return NULL;
	part->print(to, facts);
	fclose(to);
	if (len)
		return text;
	free(text);
	return NULL;
}

void lz_report_each_line(FILE *to, const char *text, const char *indent)
{
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		lz_print(to, "%s%.*s\n", indent, (int)n, text);
	}
}
