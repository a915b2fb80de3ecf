/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard dap: GDB's Debug Adapter on a recording. What it adds to GDB's is in
 * replayer/gdb-commands/lizard_gdb/dap. */
#include "cmds/base/cmds.h"
#include "cmds/dap_refuse.h"
#include "cmds/base/gdb_find.h"

#include <common/base/print.h>
#include <lizard/error.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USED_WRONGLY = 2 };

struct options {
	enum lz_front_end front_end;
	const char *gdb, *what;
};

static void usage(FILE *to)
{
	fputs(
	    "usage: lizard dap [options] [PROG|RECORDING]\n\n"
	    "Speaks the Debug Adapter Protocol on its standard input and output: an editor starts "
	    "it.\n"
	    "The editor's launch request names a `recording`, or a `program` of which the newest "
	    "is\n"
	    "opened; else it is the one named here. GDB 14 or newer is needed.\n\n"
	    "      --patched     use the patched GDB, which replays in its own process\n"
	    "      --stock       use a stock GDB and the server (default: $LIZARD_FRONT_END,\n"
	    "                    else patched where it is built, else stock)\n"
	    "      --gdb PATH    the stock GDB to start (default: $LIZARD_GDB, else gdb)\n"
	    "  -h, --help        this text\n",
	    to);
}

/* 0: go on; 1: done; -1: wrong. */
static int parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {{"stock", no_argument, NULL, 's'},
	                                      {"patched", no_argument, NULL, 'p'},
	                                      {"gdb", required_argument, NULL, 'g'},
	                                      {"help", no_argument, NULL, 'h'},
	                                      {0}};
	int c;

	if (lz_gdb_front_end(&o->front_end) < 0)
		return -1;
	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case 's': o->front_end = LZ_FRONT_STOCK; break;
		case 'p': o->front_end = LZ_FRONT_PATCHED; break;
		case 'g': o->gdb = optarg; break;
		case 'h': usage(stdout); return 1;
		default: return lz_fail("see `lizard dap --help`");
		}
	}
	if (argc - optind > 1)
		return lz_fail("one recording is wanted; see `lizard dap --help`");
	o->what = argv[optind];
	return 0;
}

/* A GDB that has the adapter: if none is asked for and the patched one has none, a stock one. */
static int choose(struct options *o, char gdb[PATH_MAX])
{
	char self[PATH_MAX];
	bool any = o->front_end == LZ_FRONT_ANY;

	if (lz_gdb_self(self) < 0 || lz_gdb_find(&o->front_end, o->gdb, self, gdb) < 0)
		return -1;
	if (lz_gdb_has_adapter(gdb) == 0)
		return 0;
	if (!any || o->front_end == LZ_FRONT_STOCK)
		return -1;
	o->front_end = LZ_FRONT_STOCK;
	return lz_gdb_find(&o->front_end, o->gdb, self, gdb) < 0 ? -1 : lz_gdb_has_adapter(gdb);
}

static int start(struct options *o, char *gdb)
{
	bool stock = o->front_end == LZ_FRONT_STOCK;
	char *argv[] = {"gdb", stock ? "--stock" : "--patched", "-i=dap", NULL};

	if (stock)
		setenv("LIZARD_GDB", gdb, 1);
	setenv("LIZARD_GDB_DAP", o->what ? o->what : "", 1);
	return lz_cmd_gdb(3, argv);
}

int lz_cmd_dap(int argc, char **argv)
{
	struct options o = {0};
	char gdb[PATH_MAX];
	int rc = parse(argc, argv, &o), failed = rc < 0 ? USED_WRONGLY : 1;

	if (rc == 1)
		return 0;
	if (rc == 0 && isatty(STDIN_FILENO))
		rc = lz_fail("this is for editors, which write requests to its standard input; "
		             "docs/editors.md says what to tell them");
	else if (rc == 0 && choose(&o, gdb) == 0)
		return start(&o, gdb);
	lz_warn("%s", lz_error());
	return rc < 0 ? failed : lz_dap_refuse(lz_error());
}
