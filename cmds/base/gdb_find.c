/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmds/base/gdb_find.h"

#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <common/base/shell.h>
#include <lizard/error.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int lz_gdb_front_end(enum lz_front_end *f)
{
	const char *name = getenv("LIZARD_FRONT_END");

	*f = LZ_FRONT_ANY;
	if (!name || !*name)
		return 0;
	*f = strcmp(name, "stock") == 0 ? LZ_FRONT_STOCK : LZ_FRONT_PATCHED;
	if (*f == LZ_FRONT_PATCHED && strcmp(name, "patched") != 0)
		return lz_fail("LIZARD_FRONT_END is '%s'; it must be patched or stock", name);
	return 0;
}

int lz_gdb_part(const char *self, const char *name, int mode, char path[PATH_MAX])
{
	const char *slash = strrchr(self, '/');

	snprintf(path, PATH_MAX, "%.*s/../lib/lizard/%s", slash ? (int)(slash - self) : 1,
	         slash ? self : ".", name);
	return access(path, mode);
}

/* The patched GDB has Lizard's library in it, so one that is older than this program may be of
 * another version. */
static bool up_to_date(const char *self, const char *gdb)
{
	struct stat ours, theirs;

	return stat(self, &ours) == 0 && stat(gdb, &theirs) == 0 &&
	       theirs.st_mtim.tv_sec >= ours.st_mtim.tv_sec;
}

/* *old: the patched GDB is there, and is not taken because it is old. */
static int find(enum lz_front_end *front_end, const char *named, const char *self,
                char path[PATH_MAX], bool *old)
{
	const char *stock = named ? named : getenv("LIZARD_GDB");
	bool chosen = stock && *stock;
	bool built = lz_gdb_part(self, "gdb/bin/gdb", X_OK, path) == 0;

	*old = *front_end == LZ_FRONT_ANY && built && !chosen && !up_to_date(self, path);
	if (*front_end == LZ_FRONT_PATCHED && !built)
		return lz_fail_errno("%s (the patched GDB, to be had by " GET_PATCHED ")", path);
	if (*front_end == LZ_FRONT_ANY)
		*front_end = built && !chosen && !*old ? LZ_FRONT_PATCHED : LZ_FRONT_STOCK;
	if (*front_end == LZ_FRONT_STOCK)
		snprintf(path, PATH_MAX, "%s", chosen ? stock : "gdb");
	return 0;
}

int lz_gdb_find(enum lz_front_end *front_end, const char *named, const char *self,
                char path[PATH_MAX])
{
	bool old;

	if (find(front_end, named, self, path, &old) < 0)
		return -1;
	if (old && lz_gdb_part(self, "gdb/bin/gdb", X_OK, path) == 0) {
		lz_print(stderr,
		         "lizard-gdb: %s is older than %s and is not used; " GET_PATCHED
		         " renews it\n",
		         path, self);
		snprintf(path, PATH_MAX, "gdb");
	}
	return 0;
}

int lz_gdb_self(char self[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);

	if (n < 0)
		return lz_fail_errno("/proc/self/exe");
	self[n] = 0;
	return 0;
}

/* The first line that COMMAND, words behind the path GDB, prints. */
static int first_line(const char *gdb, const char *words, char line[200])
{
	lz_auto_free char *word = lz_shell_word(gdb), *command = NULL;
	FILE *from = NULL;

	if (word && asprintf(&command, "%s %s 2>/dev/null </dev/null", word, words) > 0)
		from = popen(command, "re");
	bool read = from && fgets(line, 200, from);

	if (from)
		pclose(from);
	if (!read)
		return -1;
	line[strcspn(line, "\n")] = 0;
	return 0;
}

int lz_gdb_version(const char *gdb, char line[200])
{
	if (first_line(gdb, "--version", line) < 0)
		return lz_fail("%s --version says nothing: is it a GDB?", gdb);
	return 0;
}

unsigned lz_gdb_major(void)
{
	enum lz_front_end front_end;
	char self[PATH_MAX], gdb[PATH_MAX], line[200];
	const char *number;
	bool old;

	if (lz_gdb_front_end(&front_end) < 0 || lz_gdb_self(self) < 0 ||
	    find(&front_end, NULL, self, gdb, &old) < 0 || first_line(gdb, "--version", line) < 0)
		return 0;
	number = strrchr(line, ' ');
	return number ? (unsigned)strtoul(number, NULL, 10) : 0;
}

int lz_gdb_has_adapter(const char *gdb)
{
	char line[200];

	if (first_line(gdb, "-nx -batch -ex 'python import gdb.dap; print(\"yes\")'", line) == 0 &&
	    strcmp(line, "yes") == 0)
		return 0;
	if (lz_gdb_version(gdb, line) < 0)
		return -1;
	return lz_fail(
	    "%s is %s, which has no Debug Adapter: GDB 14 or newer, with Python, is needed. "
	    "Name such a GDB by --gdb or LIZARD_GDB, or take the patched one (" GET_PATCHED ")",
	    gdb, line);
}
