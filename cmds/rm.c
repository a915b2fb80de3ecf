/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard rm: removes recordings by name or directory. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmds/catalog.h>
#include <cmds/cmds.h>
#include <cmds/options.h>
#include <lizard/error.h>

static void usage(FILE *to)
{
	fprintf(to,
	        "usage: lizard rm NAME...\n\n"
	        "Removes recordings, each named as `lizard ls` shows it or by its directory.\n");
}

/* What lies elsewhere is not removed by a name that only leads there; PROG-latest leads to its
 * neighbour. */
static int remove_here(const char *path)
{
	char to[PATH_MAX], bare[PATH_MAX];
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	snprintf(bare, sizeof(bare), "%.*s", (int)len, path);
	ssize_t n = readlink(bare, to, sizeof(to) - 1);

	to[n < 0 ? 0 : n] = 0;
	if (strchr(to, '/'))
		return lz_fail(
		    "%s is a link to %s: remove that by its own name, or the link with rm", path,
		    to);
	return lz_recording_remove(path);
}

/* A name is looked up among the recordings; what holds a slash is a directory. Unlike in other
 * commands a program does not stand for its latest recording: removing is not guessed at. */
static int remove_one(const char *name)
{
	char *dir, *path = NULL;
	int rc;

	if (strchr(name, '/'))
		return remove_here(name);
	dir = lz_recordings_dir();
	if (!dir || asprintf(&path, "%s/%s", dir, name) < 0) {
		free(dir);
		return -1;
	}
	rc = access(path, F_OK) == 0
	         ? remove_here(path)
	         : lz_fail("no recording `%s` in %s; `lizard ls` lists what there is", name, dir);
	free(path);
	free(dir);
	return rc;
}

int lz_cmd_rm(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
	int rc = 0, opt;

	while ((opt = lz_option(argc, argv, "h", options)) != -1) {
		usage(opt == 'h' ? stdout : stderr);
		return opt == 'h' ? 0 : 2;
	}
	if (optind == argc) {
		usage(stderr);
		return 2;
	}
	for (; optind < argc; optind++) {
		if (remove_one(argv[optind]) < 0) {
			lz_warn("%s", lz_error());
			rc = 1;
		}
	}
	return rc;
}
