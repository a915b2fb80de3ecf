/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmds/gdb_words.h"
#include "cmds/pack/pack.h"

#include <common/base/cleanup.h>
#include <common/base/hostfile.h>
#include <common/base/print.h>
#include <common/base/printable.h>
#include <lizard/error.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool lz_gdb_shows(const char *name)
{
	char *shown = lz_dup_printable(name);
	bool same = shown && strcmp(shown, name) == 0;

	free(shown);
	return same;
}

char *lz_gdb_word(const char *text)
{
	char *out = malloc(2 * strlen(text) + 1), *q = out;

	if (!out)
		return NULL;
	for (; *text; *q++ = *text++)
		if (strchr(" \t\v\f\r'\"\\", *text))
			*q++ = '\\';
	*q = 0;
	return out;
}

enum { SOURCE_ROOTS = 16 };

/* The command that makes GDB look for the sources below /NAME in the pack's directory of them.
 * malloced; NULL: there is none. */
static char *substitution(const char *sources, const char *name)
{
	char *from = NULL, *to = NULL, *command = NULL, *path;

	if (name[0] == '.' || !lz_gdb_shows(name) || strchr(sources, '\n') ||
	    asprintf(&path, "%s/%s", sources, name) < 0)
		return NULL;
	from = lz_gdb_word(name);
	to = lz_gdb_word(path);
	if (!from || !to || asprintf(&command, "set substitute-path /%s %s", from, to) < 0)
		command = NULL;
	free(from);
	free(to);
	free(path);
	return command;
}

int lz_gdb_source_words(const char *pack, const char **argv)
{
	char *sources = NULL, *command;
	struct dirent **v;
	int n = 0, found = asprintf(&sources, "%s/sources", pack) < 0
	                       ? -1
	                       : scandir(sources, &v, NULL, NULL);

	for (int i = 0; i < found; i++) {
		if (n < 2 * SOURCE_ROOTS && (command = substitution(sources, v[i]->d_name))) {
			argv[n++] = "-iex";
			argv[n++] = command;
		}
		free(v[i]);
	}
	if (found >= 0)
		free(v);
	free(sources);
	return n;
}

/* May ROOT, a line of a file that others may have made, be given to GDB? */
static bool is_root(const char *root)
{
	return root[0] == '/' && root[1] && lz_gdb_shows(root) && !strstr(root, "/..") &&
	       !strpbrk(root, ":$'\"\\ \t");
}

/* GDB's command by which sources below ROOT are those below KEPT. malloced; NULL: there are none. */
static char *kept_instead(const char *kept, const char *root)
{
	lz_auto_free char *to = NULL, *word = NULL;
	char *command = NULL;
	struct stat st;

	if (asprintf(&to, "%s/sources%s", kept, root) < 0 || stat(to, &st) < 0 ||
	    !S_ISDIR(st.st_mode) || strchr(to, '\n') || !(word = lz_gdb_word(to)))
		return NULL;
	return asprintf(&command, "set substitute-path %s %s", root, word) < 0 ? NULL : command;
}

/* The words for all lines of the file ROOTS. What is not kept, GDB looks for here. */
static int words_for_roots(FILE *roots, const char *kept, const char **argv)
{
	char line[PATH_MAX], *here = strdup("directory $cdir"), *more, *command;
	int n = 0;

	while (here && n < 2 * SOURCE_ROOTS && fgets(line, sizeof(line), roots)) {
		line[strcspn(line, "\n")] = 0;
		if (!is_root(line) || !(command = kept_instead(kept, line)))
			continue;
		argv[n++] = "-iex";
		argv[n++] = command;
		if (asprintf(&more, "%s:%s", here, line) < 0)
			break;
		free(here);
		here = more;
	}
	if (n && here) {
		argv[n++] = "-iex";
		argv[n++] = here;
	}
	return n;
}

int lz_gdb_kept_words(const char *recording, const char **argv)
{
	bool needed;
	lz_auto_free char *kept = lz_sources_open(recording, &needed), *roots = NULL;
	FILE *from = NULL;

	if (!kept && needed)
		lz_warn("the sources that the recording keeps are not shown: %s", lz_error());
	if (kept && asprintf(&roots, "%s/" LZ_SOURCES_ROOTS, kept) >= 0 && !lz_is_special(roots))
		from = fopen(roots, "re");
	int n = from ? words_for_roots(from, kept, argv) : 0;

	if (from)
		fclose(from);
	if (n)
		lz_print(stderr,
		         "lizard-gdb: source files have changed since, or are gone; showing "
		         "those that the recording keeps\n");
	return n;
}

/* GDB trusts scripts in files below $debugdir: that remains what it was. */
static const char look_there_too[] =
    "python import gdb, os; was = gdb.parameter('debug-file-directory'); "
    "gdb.execute('set auto-load safe-path ' + "
    "gdb.parameter('auto-load safe-path').replace('$debugdir', was)); "
    "gdb.execute('set debug-file-directory ' + os.environ.pop('LIZARD_GDB_DEBUG') + ':' + was); "
    "del was";

int lz_gdb_debug_words(const char *recording, const char **argv)
{
	lz_auto_free char *dir = NULL;
	struct stat st;

	if (asprintf(&dir, "%s/debug", recording) < 0 || stat(dir, &st) < 0 ||
	    !S_ISDIR(st.st_mode) || strpbrk(dir, ":\n"))
		return 0;
	setenv("LIZARD_GDB_DEBUG", dir, 1);
	argv[0] = "-iex";
	argv[1] = look_there_too;
	return 2;
}
