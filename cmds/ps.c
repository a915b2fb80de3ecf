/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard ps: the processes of a recording, as a tree. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <cmds/base/cmds.h>
#include <cmds/base/options.h>
#include <cmds/pack/pack.h>
#include <cmds/base/processes.h>
#include <common/base/text.h>
#include <common/base/print.h>
#include <lizard/error.h>

static void usage(FILE *to)
{
	fprintf(
	    to,
	    "usage: lizard ps [--json] RECORDING\n\n"
	    "Lists the processes of a recording made with lizard-trace --follow, children below\n"
	    "their parents: process id, parent's id, duration, size, status, command. Each can be\n"
	    "opened with `lizard-gdb -p PID RECORDING`. On a terminal, lines are cut to its "
	    "width.\n"
	    "  --json  one JSON array instead\n");
}

static json_t *to_json(const struct lz_entry *e)
{
	char buf[LZ_TEXT];
	json_t *o = json_object(), *args = json_array();

	json_object_set_new(o, "path", lz_json_text(e->path));
	json_object_set_new(o, "status", lz_json_text(lz_entry_status(e, buf)));
	json_object_set_new(o, "bytes", json_integer((json_int_t)e->bytes));
	if (e->bad) {
		json_decref(args);
		json_object_set_new(o, "error", lz_json_text(e->bad));
		return o;
	}
	for (char **a = e->meta.argv; a && *a; a++)
		json_array_append_new(args, lz_json_text(*a));
	json_object_set_new(o, "pid", json_integer(e->meta.tid));
	json_object_set_new(o, "parent", json_integer(e->meta.parent));
	json_object_set_new(o, "parent_event", json_integer((json_int_t)e->meta.parent_event));
	json_object_set_new(o, "program", lz_json_text(e->meta.program));
	json_object_set_new(o, "arguments", args);
	json_object_set_new(o, "duration_ns", json_integer((json_int_t)e->meta.duration_ns));
	lz_json_status(o, e->meta.exit_status);
	return o;
}

static int print_json(const struct lz_processes *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->n; i++)
		json_array_append_new(list, to_json(&p->v[i]));
	return lz_json_print(list);
}

/* What print_entry() prints, to OUT. */
static void format_entry(FILE *out, const struct lz_entry *e, unsigned depth, bool first)
{
	char took[LZ_TEXT], size[LZ_TEXT], st[LZ_TEXT], parent[16] = "-", name[32];

	if (e->meta.parent)
		snprintf(parent, sizeof(parent), "%u", e->meta.parent);
	if (!e->bad && first)
		snprintf(name, sizeof(name), "%u", e->meta.tid);
	else
		snprintf(name, sizeof(name), "%s", e->name);
	lz_print(out, "%9s %7s  %9s  %9s  %-16s  %*s", name, parent,
	         e->bad ? "-" : lz_text_duration(e->meta.duration_ns, took),
	         lz_text_size(e->bytes, size), lz_entry_status(e, st), (int)(2 * depth), "");
	if (e->bad || !e->meta.argv || !*e->meta.argv)
		lz_print(out, "%s", e->bad ? e->path : "?");
	for (char **a = e->bad ? NULL : e->meta.argv; a && *a; a++)
		lz_print(out, "%s%s", *a, a[1] ? " " : "");
}

/* How many columns a line may have; 0: any number. */
static unsigned columns(void)
{
	struct winsize w;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

static int print_entry(const struct lz_entry *e, unsigned depth, bool first)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return lz_fail("no memory");
	format_entry(out, e, depth, first);
	if (fclose(out) != 0) {
		free(line);
		return lz_fail("no memory");
	}
	lz_text_print_cut(line, columns());
	putchar('\n');
	free(line);
	return 0;
}

static int print_table(const struct lz_processes *p)
{
	int rc = 0;

	lz_print(stdout, "%9s %7s  %9s  %9s  %-16s  COMMAND\n", "PID", "PARENT", "DURATION", "SIZE",
	         "STATUS");
	for (size_t i = 0; rc == 0 && i < p->n; i++)
		rc = print_entry(&p->v[i], p->depth[i], i == 0);
	return rc;
}

int lz_cmd_ps(int argc, char **argv)
{
	static const struct option options[] = {
	    {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
	struct lz_processes p;
	bool json = false;
	int opt, rc = 0;

	while ((opt = lz_option(argc, argv, "jh", options)) != -1) {
		if (opt != 'j') {
			usage(opt == 'h' ? stdout : stderr);
			return opt == 'h' ? 0 : 2;
		}
		json = true;
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return 2;
	}
	char *dir = lz_find(argv[optind]);
	if (!dir || lz_processes_read(&p, dir) < 0) {
		lz_warn("%s", lz_error());
		free(dir);
		return 1;
	}
	lz_processes_measure(&p);
	rc = json ? print_json(&p) : print_table(&p);
	lz_processes_free(&p);
	free(dir);
	return lz_finish_output(rc < 0);
}
