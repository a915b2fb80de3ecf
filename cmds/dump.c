/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard dump: what a recording holds, in plain words. */
#include <stdio.h>
#include <stdlib.h>
#include <cmds/base/cmds.h>
#include <cmds/base/options.h>
#include <cmds/pack/pack.h>
#include <cmds/dump.h>
#include <common/base/text.h>
#include <lizard/error.h>
#include <lizard/session.h>

static void usage(FILE *to)
{
	fprintf(
	    to,
	    "usage: lizard dump [--events] [--markers] [--checkpoints] [--json] [--bytes]\n"
	    "                   [--limit N] RECORDING\n\n"
	    "Prints the parts that are named, or all: a line for each event, marker, checkpoint.\n"
	    "  --json     a JSON object on each line; its `part` says which part it is of\n"
	    "  --bytes    with the bytes that events wrote into memory\n"
	    "  --limit N  at most N lines of each part\n");
}

enum { EVENTS = 1, MARKERS = 2, CHECKPOINTS = 4, ALL = 7 };

static int dump_parts(struct lz_dump *d, int parts)
{
	static int (*const part[])(struct lz_dump *) = {lz_dump_events, lz_dump_markers,
	                                                lz_dump_checkpoints};

	for (int i = 0; i < 3; i++) {
		d->lines = 0;
		if (parts & 1 << i && part[i](d) < 0)
			return -1;
	}
	return 0;
}

static int dump(const char *what, struct lz_dump *d, int parts)
{
	char *dir = lz_find(what);
	struct lz_rebuild *rb;
	int rc = -1;

	d->r = dir ? lz_reader_open(dir) : NULL;
	if (d->r) {
		if (lz_reader_damage(d->r))
			lz_warn("%s: %s", dir, lz_reader_damage(d->r));
		rb = lz_rebuild_new(d->r);
		rc = rb ? dump_parts(d, parts ? parts : ALL) : -1;
		lz_rebuild_free(rb);
	}
	if (rc < 0)
		lz_warn("%s", lz_error());
	lz_reader_close(d->r);
	free(dir);
	return rc < 0 ? 1 : 0;
}

static int parse_option(int opt, struct lz_dump *d, int *parts)
{
	char *end;

	switch (opt) {
	case 'e': *parts |= EVENTS; return 0;
	case 'm': *parts |= MARKERS; return 0;
	case 'c': *parts |= CHECKPOINTS; return 0;
	case 'j': d->json = true; return 0;
	case 'b': d->bytes = true; return 0;
	case 'n':
		d->limit = strtoull(optarg, &end, 10);
		return end == optarg || *end || *optarg == '-' ? -1 : 0;
	}
	return -1;
}

int lz_cmd_dump(int argc, char **argv)
{
	static const struct option options[] = {
	    {"events", no_argument, NULL, 'e'},      {"markers", no_argument, NULL, 'm'},
	    {"checkpoints", no_argument, NULL, 'c'}, {"json", no_argument, NULL, 'j'},
	    {"bytes", no_argument, NULL, 'b'},       {"limit", required_argument, NULL, 'n'},
	    {"help", no_argument, NULL, 'h'},        {0}};
	struct lz_dump d = {.limit = UINT64_MAX};
	int parts = 0, opt;

	while ((opt = lz_option(argc, argv, "emcjbn:h", options)) != -1) {
		if (opt == 'h' || parse_option(opt, &d, &parts) < 0) {
			usage(opt == 'h' ? stdout : stderr);
			return opt == 'h' ? 0 : 2;
		}
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return 2;
	}
	return lz_finish_output(dump(argv[optind], &d, parts));
}
