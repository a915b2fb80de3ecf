/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard rm: removes recordings by name or directory. */
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmds/base/catalog.h>
#include <cmds/base/cmds.h>
#include <cmds/base/options.h>
#include <common/recording/copystore.h>
#include <lizard/error.h>

enum { REPORTED = 1 }; /* failed, and said why */

static void usage(FILE *to)
{
	fprintf(to,
	        "usage: lizard rm NAME...\n\n"
	        "Removes recordings, each named as `lizard ls` shows it or by its directory.\n"
	        "A pattern ('prog-*', 'prog-[1-5]') names all that `lizard ls` shows for it.\n");
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

/* All that are there and whose names match, as a shell would see it. */
static int remove_matching(const char *pattern)
{
	struct lz_catalog c;
	size_t n = 0;
	int rc = lz_catalog_read(&c);

	for (size_t i = 0; i < c.n; i++) {
		if (fnmatch(pattern, c.v[i].name, FNM_PERIOD) != 0)
			continue;
		n++;
		if (remove_here(c.v[i].path) < 0) {
			lz_warn("%s", lz_error());
			rc = REPORTED;
		}
	}
	if (rc == 0 && n == 0)
		rc = lz_fail("no recording matches `%s` in %s; `lizard ls` lists what there is",
		             pattern, c.dir);
	lz_catalog_free(&c);
	return rc;
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
	if (access(path, F_OK) == 0)
		rc = remove_here(path);
	else if (strpbrk(name, "*?["))
		rc = remove_matching(name);
	else
		rc = lz_fail("no recording `%s` in %s; `lizard ls` lists what there is", name, dir);
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
		int one = remove_one(argv[optind]);

		if (one < 0)
			lz_warn("%s", lz_error());
		if (one)
			rc = 1;
	}
	lz_copystore_sweep_now();
	return rc;
}
