/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of the recordings of one name is of a given program? */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <common/base/cleanup.h>
#include <common/recording/meta.h>
#include <common/recording/recdir.h>
#include <lizard/error.h>

static bool leads_to(const char *cwd, const char *path, const char *real)
{
	lz_auto_free char *whole = NULL, *to = NULL;
	bool absolute = *path == '/';

	if (asprintf(&whole, "%s%s%s", absolute ? "" : cwd, absolute ? "" : "/", path) < 0) {
		whole = NULL;
		return false;
	}
	to = realpath(whole, NULL);
	return to && strcmp(to, real) == 0;
}

/* A script is known by what was executed: its program is the interpreter. */
static bool is_path(const struct lz_meta *m, const char *real)
{
	const char *argv0 = m->argv && m->argv[0] ? m->argv[0] : "";

	return leads_to("", m->program, real) ||
	       (strchr(argv0, '/') && leads_to(m->cwd, argv0, real));
}

enum fit { NOT, BY_PATH, BY_BUILD_ID };

static enum fit fit_of(const char *dir, const char *build_id, const char *real)
{
	lz_auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct lz_meta m = {0};
	enum fit fit = NOT;

	if (fd >= 0 && lz_meta_read_at(fd, &m) == 0) {
		if (is_path(&m, real))
			fit = BY_PATH;
		if (build_id && *build_id && strcmp(m.build_id, build_id) == 0)
			fit = BY_BUILD_ID;
	}
	lz_meta_free(&m);
	return fit;
}

char *lz_recdir_match(const char *dir, const char *program)
{
	lz_auto_free char *real = realpath(program, NULL);
	lz_auto_free char *build_id = real ? lz_build_id(real) : NULL;
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;
	char *path, *best = NULL;

	for (unsigned long n = real ? lz_recdir_highest(dir, name) : 0; n; n--) {
		if (asprintf(&path, "%s/%s-%lu", dir, name, n) < 0)
			break;
		enum fit fit = fit_of(path, build_id, real);
		if (fit == BY_BUILD_ID || (fit == BY_PATH && !best)) {
			free(best);
			best = path;
		} else {
			free(path);
		}
		if (fit == BY_BUILD_ID)
			break;
	}
	return best;
}

void lz_recdir_tell_other(const char *dir, const char *program)
{
	lz_auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct lz_meta m = {0};

	if (fd >= 0 && lz_meta_read_at(fd, &m) == 0)
		lz_warn("there is no recording of this %s; %s is taken, which is of %s (`lizard "
		        "ls` lists what there is)",
		        program, strrchr(dir, '/') + 1, m.program);
	lz_meta_free(&m);
}
