/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last system calls and signals. */
#include "replayer/report/report.h"

#include <common/base/print.h>
#include <common/base/text.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <lizard/syscalls.h>
#include <stdlib.h>
#include <string.h>

static void print_number(FILE *to, uint64_t v)
{
	fprintf(to, v < 10000 ? "%" PRIu64 : "0x%" PRIx64, v);
}

static void print_call(FILE *to, const struct lz_event *ev)
{
	const struct lz_syscall *row = lz_syscall(ev->nr);
	unsigned n = row && row->n_args <= 6 ? row->n_args : 6;

	lz_print(to, "%s(", lz_call_name(ev->nr, ev->args));
	for (unsigned i = 0; i < n; i++) {
		if (i)
			fputs(", ", to);
		print_number(to, ev->args[i]);
	}
	fputs(") = ", to);
	if (ev->result < 0 && ev->result > -4096 && strerrorname_np((int)-ev->result))
		lz_print(to, "-%s", strerrorname_np((int)-ev->result));
	else
		print_number(to, (uint64_t)ev->result);
}

static char *text_of(const struct lz_event *ev)
{
	char *text = NULL, name[LZ_TEXT];
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return NULL;
	if (ev->kind == LZ_EV_SIGNAL)
		lz_print(to, "signal %u (%s)%s", ev->signo, lz_text_signal((int)ev->signo, name),
		         ev->flags & LZ_EVF_FATAL ? ", which ends the process" : "");
	else
		print_call(to, ev);
	fclose(to);
	return text;
}

static json_t *call_json(const struct lz_event *ev)
{
	json_t *o = json_object();
	char *text = text_of(ev);

	json_object_set_new(o, "event", json_integer((json_int_t)ev->index));
	json_object_set_new(o, "tid", json_integer(ev->tid));
	json_object_set_new(o, "time_ns", json_integer((json_int_t)ev->time_ns));
	json_object_set_new(o, "what", lz_json_text(text ? text : ""));
	free(text);
	return o;
}

int lz_report_calls(json_t *facts, struct lz_reader *r, const struct lz_report_options *o)
{
	uint64_t first = lz_reader_first_event(r);
	json_t *list = json_array();

	json_object_set_new(facts, "calls", list);
	for (uint64_t i = lz_reader_n_events(r); i > first && json_array_size(list) < o->calls;) {
		const struct lz_event *ev = lz_reader_event(r, --i);

		if (!ev)
			return -1;
		if (ev->kind == LZ_EV_SYSCALL || ev->kind == LZ_EV_SIGNAL)
			json_array_insert_new(list, 0, call_json(ev));
	}
	return 0;
}
