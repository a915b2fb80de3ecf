/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmds/base/catalog.h"
#include "cmds/pack/report_sources.h"
#include "cmds/pack/pack.h"

#include <common/base/cleanup.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int note_same(void *arg, const char *name, bool same)
{
	if (same)
		json_object_set_new(arg, name, json_true());
	return 0;
}

void lz_report_sources_read(struct lz_report_sources *s, const char *dir)
{
	lz_auto_free char *path = NULL;

	*s = (struct lz_report_sources){.same = json_object(), .dir = realpath(dir, NULL)};
	if (asprintf(&path, "%s/" LZ_SOURCES_FILE, dir) < 0)
		path = NULL;
	if (path && access(path, F_OK) == 0 && lz_sources_each(path, note_same, s->same) < 0)
		lz_debug("sources are not quoted: %s", lz_error());
}

void lz_report_sources_free(struct lz_report_sources *s)
{
	json_decref(s->same);
	free(s->dir);
}

/* In the folder NAME of the recording. */
static bool is_in(const struct lz_report_sources *s, const char *real, const char *name)
{
	size_t n = strlen(s->dir), len = strlen(name);

	return strncmp(real, s->dir, n) == 0 && real[n] == '/' &&
	       strncmp(real + n + 1, name, len) == 0 && real[n + 1 + len] == '/';
}

bool lz_report_source_is_kept(void *sources, const char *path)
{
	const struct lz_report_sources *s = sources;
	lz_auto_free char *real = realpath(path, NULL);

	if (!real || !s->dir)
		return false;
	return json_object_get(s->same, path) || is_in(s, real, "sources") ||
	       is_in(s, real, LZ_SOURCES_UNPACKED);
}
