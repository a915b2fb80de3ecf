/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard report: what there is to say of a recording, without a prompt. */
#include "cmds/base/cmds.h"
#include "cmds/base/options.h"
#include "cmds/pack/pack.h"
#include "cmds/base/processes.h"
#include "cmds/pack/report_sources.h"
#include "replayer/report/report.h"

#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <errno.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char help[] =
    "usage: lizard report [options] PROG|RECORDING\n\n"
    "Writes how the recorded run ended: a backtrace of each thread with arguments, the last\n"
    "lines executed, the last output and system calls. Asks nothing.\n\n"
    "  -o, --output FILE  write into FILE, which is replaced if it exists\n"
    "      --markdown     as Markdown, for a page that renders it\n"
    "      --json         as one JSON object\n"
    "  -p, --process PID|NAME\n"
    "                     of this process alone; else of the first one, and of those that a "
    "signal\n"
    "                     has ended\n"
    "      --lines N      of the lines executed, the last N (12)\n"
    "      --calls N      of the system calls and signals, the last N (20)\n"
    "      --seconds N    what takes longer than that in GDB, or in replay, is left out (60)\n"
    "  -h, --help         this text\n\n"
    "Exit status: 0 if it was written, also if it had to say that something is not known;\n"
    "1 if not; 2 if used wrongly.\n";

enum form { TEXT, MARKDOWN, JSON };
enum { MOST_DETAILED = 8, MOST_COUNT = 10000 };

struct options {
	const char *what, *output, *process;
	enum form form;
	struct lz_report_options report;
};

/* ---- making it ---- */

/* Of the process E: more than `meta` tells. */
static bool is_detailed(const struct options *o, const struct lz_processes *all, size_t i, size_t n)
{
	const struct lz_entry *e = &all->v[i];

	return i == 0 || o->process ||
	       (e->meta.exit_status != -1 && WIFSIGNALED(e->meta.exit_status) && n < MOST_DETAILED);
}

/* NEEDED: there is no report without it. */
static int add_process(json_t *list, const struct options *o, const struct lz_entry *e,
                       bool detailed, bool needed)
{
	json_t *facts = lz_report_facts(e->path, &e->meta);

	json_array_append_new(list, facts);
	if (!detailed || lz_report_details(facts, e->path, &o->report) == 0)
		return 0;
	return needed && !lz_meta_never_ran(&e->meta) ? -1 : 0;
}

static int add_processes(json_t *list, const struct options *o, const struct lz_processes *all)
{
	size_t detailed = 0;

	for (size_t i = 0; i < all->n; i++) {
		bool more = is_detailed(o, all, i, detailed);

		if (all->v[i].bad && i == 0)
			return lz_fail("%s", all->v[i].bad);
		if (all->v[i].bad)
			continue;
		if (add_process(list, o, &all->v[i], more, i == 0) < 0)
			return -1;
		detailed += more;
	}
	return 0;
}

/* The recordings of the processes that are meant. */
static int find_processes(struct lz_processes *all, const struct options *o, const char *first)
{
	lz_auto_free char *one = o->process ? lz_process_find(first, o->process) : NULL;

	if (o->process && !one)
		return -1;
	return lz_processes_read(all, one ? one : first);
}

/* NULL: failed. */
static json_t *make(struct options *o, const char *first)
{
	json_t *report = json_object(), *list = json_array();
	struct lz_report_sources sources;
	struct lz_processes all = {0};

	json_object_set_new(report, "recording", lz_json_text(first));
	json_object_set_new(report, "lizard", json_string(LIZARD_VERSION));
	json_object_set_new(report, "processes", list);
	lz_report_sources_read(&sources, first);
	o->report.shows = lz_report_source_is_kept;
	o->report.arg = &sources;
	int rc = find_processes(&all, o, first);

	if (rc == 0)
		rc = add_processes(list, o, &all);
	lz_processes_free(&all);
	lz_report_sources_free(&sources);
	if (rc == 0)
		return report;
	json_decref(report);
	return NULL;
}

/* ---- writing it ---- */

static int print(FILE *to, enum form form, json_t *report)
{
	if (form == JSON)
		return lz_json_write(to, json_incref(report));
	if (form == MARKDOWN)
		lz_report_markdown(to, report);
	else
		lz_report_text(to, report);
	return 0;
}

static int write_file(const char *path, enum form form, json_t *report)
{
	FILE *to = fopen(path, "we");

	if (!to)
		return lz_fail_errno("cannot create %s", path);
	int rc = print(to, form, report);
	bool bad = ferror(to);

	if (fclose(to) != 0 || bad)
		return lz_fail_errno("cannot write %s", path);
	return rc;
}

static int report_on(struct options *o)
{
	lz_auto_free char *first = lz_find(o->what);
	json_t *report = first ? make(o, first) : NULL;

	if (!report)
		return -1;
	int rc =
	    o->output ? write_file(o->output, o->form, report) : print(stdout, o->form, report);

	json_decref(report);
	return rc;
}

/* ---- the command ---- */

enum { OPT_MARKDOWN = 256, OPT_JSON, OPT_LINES, OPT_CALLS, OPT_SECONDS };

static int set_number(unsigned *to, const char *what, unsigned min)
{
	char *end;

	errno = 0;
	unsigned long v = strtoul(optarg, &end, 10);

	if (errno || end == optarg || *end || *optarg == '-' || v < min || v > MOST_COUNT) {
		lz_warn("%s: '%s' is not a number from %u to %u", what, optarg, min, MOST_COUNT);
		return -1;
	}
	*to = (unsigned)v;
	return 0;
}

static int set_option(struct options *o, int c)
{
	switch (c) {
	case 'o': o->output = optarg; return 0;
	case 'p': o->process = optarg; return 0;
	case OPT_MARKDOWN: o->form = MARKDOWN; return 0;
	case OPT_JSON: o->form = JSON; return 0;
	case OPT_LINES: return set_number(&o->report.lines, "--lines", 0);
	case OPT_CALLS: return set_number(&o->report.calls, "--calls", 0);
	case OPT_SECONDS: return set_number(&o->report.seconds, "--seconds", 1);
	}
	fputs(help, stderr);
	return -1;
}

int lz_cmd_report(int argc, char **argv)
{
	static const struct option options[] = {{"output", required_argument, NULL, 'o'},
	                                        {"markdown", no_argument, NULL, OPT_MARKDOWN},
	                                        {"json", no_argument, NULL, OPT_JSON},
	                                        {"process", required_argument, NULL, 'p'},
	                                        {"lines", required_argument, NULL, OPT_LINES},
	                                        {"calls", required_argument, NULL, OPT_CALLS},
	                                        {"seconds", required_argument, NULL, OPT_SECONDS},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	struct options o = {.report = {.lines = 12, .calls = 20, .seconds = 60}};
	int c;

	while ((c = lz_option(argc, argv, "o:p:h", options)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (set_option(&o, c) < 0)
			return 2;
	}
	if (optind + 1 != argc) {
		fputs(help, stderr);
		return 2;
	}
	o.what = argv[optind];
	int rc = report_on(&o);

	if (rc < 0)
		lz_warn("%s", lz_error());
	return lz_finish_output(rc < 0);
}
