/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard ls: the recordings, oldest first. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmds/base/catalog.h>
#include <cmds/base/cmds.h>
#include <cmds/base/options.h>
#include <common/base/text.h>
#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <lizard/error.h>

static void usage(FILE *to)
{
	fprintf(
	    to,
	    "usage: lizard ls [--json] [PROG|NAME|PATTERN...]\n\n"
	    "Lists the recordings below $LIZARD_TRACE_DIR (else $XDG_DATA_HOME/lizard, else\n"
	    "~/.local/share/lizard), oldest first: name, program, date, duration, size, status.\n"
	    "Of all recordings, or of those of a program, of that name, or that match ('prog-*').\n"
	    "  --json  one JSON array instead\n");
}

static json_t *to_json(const struct lz_entry *e)
{
	char buf[LZ_TEXT];
	json_t *o = json_object();

	json_object_set_new(o, "name", lz_json_text(e->name));
	json_object_set_new(o, "path", lz_json_text(e->path));
	json_object_set_new(o, "status", lz_json_text(lz_entry_status(e, buf)));
	json_object_set_new(o, "bytes", json_integer((json_int_t)e->bytes));
	if (e->bad) {
		json_object_set_new(o, "error", lz_json_text(e->bad));
		return o;
	}
	json_object_set_new(o, "complete", json_boolean(e->meta.state == LZ_REC_COMPLETE));
	json_object_set_new(o, "program", lz_json_text(e->meta.program));
	json_object_set_new(o, "start_time", json_integer((json_int_t)e->meta.start_time));
	json_object_set_new(o, "duration_ns", json_integer((json_int_t)e->meta.duration_ns));
	lz_json_status(o, e->meta.exit_status);
	return o;
}

static int print_json(const struct lz_catalog *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->n; i++)
		json_array_append_new(list, to_json(&c->v[i]));
	return lz_json_print(list);
}

static void print_cell(const char *text, int width)
{
	int used = (int)lz_text_columns(text);

	lz_print(stdout, "%s%*s  ", text, width > used ? width - used : 0, "");
}

static void print_entry(const struct lz_entry *e, int name, int prog)
{
	char when[LZ_TEXT], took[LZ_TEXT], size[LZ_TEXT], st[LZ_TEXT];

	print_cell(e->name, name);
	print_cell(e->bad ? "-" : e->meta.program, prog);
	lz_print(stdout, "%-19s  %9s  %9s  %s\n",
	         e->bad ? "-" : lz_text_time(e->meta.start_time, when),
	         e->bad ? "-" : lz_text_duration(e->meta.duration_ns, took),
	         lz_text_size(e->bytes, size), lz_entry_status(e, st));
}

static void print_table(const struct lz_catalog *c)
{
	int name = 4, prog = 7;

	for (size_t i = 0; i < c->n; i++) {
		int n = (int)lz_text_columns(c->v[i].name);
		int p = c->v[i].bad ? 1 : (int)lz_text_columns(c->v[i].meta.program);

		name = n > name ? n : name;
		prog = p > prog ? p : prog;
	}
	if (c->n)
		lz_print(stdout, "%-*s  %-*s  %-19s  %9s  %9s  %s\n", name, "NAME", prog, "PROGRAM",
		         "DATE", "DURATION", "SIZE", "STATUS");
	for (size_t i = 0; i < c->n; i++)
		print_entry(&c->v[i], name, prog);
}

/* WHAT: a program's path or name, a recording's name, or a pattern for either name. */
static bool is_of(const struct lz_entry *e, const char *what)
{
	const char *program = e->bad ? "" : e->meta.program, *slash = strrchr(program, '/');
	lz_auto_free char *real = strchr(what, '/') ? realpath(what, NULL) : NULL;

	if (strchr(what, '/'))
		return strcmp(program, real ? real : what) == 0;
	return fnmatch(what, e->name, 0) == 0 ||
	       (*program && fnmatch(what, slash ? slash + 1 : program, 0) == 0);
}

/* Leaves those that one of the N words of WHAT means. */
static void keep_only(struct lz_catalog *c, char *const *what, int n)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n; i++) {
		bool wanted = false;

		for (int k = 0; k < n; k++)
			wanted |= is_of(&c->v[i], what[k]);
		if (wanted)
			c->v[kept++] = c->v[i];
		else
			lz_entry_free(&c->v[i]);
	}
	c->n = kept;
}

/* An exit status. */
static int list(char *const *what, int n, bool json)
{
	struct lz_catalog c;
	int rc = lz_catalog_read(&c);

	if (rc == 0 && n)
		keep_only(&c, what, n);
	if (rc == 0 && n && !c.n)
		lz_warn("no recording of `%s`%s in %s", what[0], n > 1 ? " or the others" : "",
		        c.dir);
	if (rc == 0 && json)
		rc = print_json(&c);
	else if (rc == 0)
		print_table(&c);
	if (rc < 0)
		lz_warn("%s", lz_error());
	bool none = n && !c.n;
	lz_catalog_free(&c);
	return rc < 0 || none;
}

int lz_cmd_ls(int argc, char **argv)
{
	static const struct option options[] = {
	    {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
	bool json = false;
	int opt;

	while ((opt = lz_option(argc, argv, "jh", options)) != -1) {
		if (opt == 'h') {
			usage(stdout);
			return 0;
		}
		if (opt != 'j') {
			usage(stderr);
			return 2;
		}
		json = true;
	}
	return lz_finish_output(list(argv + optind, argc - optind, json));
}
