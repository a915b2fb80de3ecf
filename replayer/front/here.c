/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the files that the program had mapped are on this machine, for a debugger that opens them
 * by itself. Only paths that a terminal shows as they are: it prints them. */
#include "replayer/front/inside.h"

#include <common/base/cleanup.h>
#include <common/base/filecopy.h>
#include <common/base/hostfile.h>
#include <common/base/printable.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_shown(const char *path)
{
	lz_auto_free char *shown = lz_dup_printable(path);

	return shown && strcmp(shown, path) == 0;
}

/* ANY: a file that has no build-id, where none was recorded, is the same as well. */
static bool is_same(const char *path, const char *build_id, bool any)
{
	int fd = path[0] == '/' && is_shown(path) ? lz_open_regular(path) : -1;

	if (fd < 0)
		return false;
	lz_auto_free char *id = lz_build_id_fd(fd);

	close(fd);
	return build_id[0] ? id && strcmp(id, build_id) == 0 : any;
}

static char *find(struct lz_front *f, const char *path, const char *build_id, bool any)
{
	char *copy;

	if (is_same(path, build_id, any))
		return strdup(path);
	copy = lz_reader_object_of(f->reader, path);
	if (copy && is_shown(copy))
		return copy;
	free(copy);
	return NULL;
}

const char *lz_front_file_here(struct lz_front *f, uint32_t file)
{
	uint32_t n = lz_reader_n_files(f->reader);
	const struct lz_file *of;

	if (!f->here)
		f->here = calloc(n + 1u, sizeof *f->here);
	if (!f->here || file >= n)
		return NULL;
	of = lz_reader_file(f->reader, file);
	if (!f->here[file].known)
		f->here[file].path = find(f, of->path, of->build_id, false);
	f->here[file].known = true;
	return f->here[file].path;
}

char *lz_front_program_here(struct lz_front *f)
{
	const char *path = lz_front_now_runs(f)->name, *id = "";

	for (uint32_t i = 0; i < lz_reader_n_files(f->reader); i++)
		if (strcmp(lz_reader_file(f->reader, i)->path, path) == 0)
			id = lz_reader_file(f->reader, i)->build_id;
	char *found = find(f, path, id, true);

	if (!found)
		lz_fail("the program is gone, and the recording has no copy of it");
	return found;
}

void lz_front_here_free(struct lz_front *f)
{
	for (uint32_t i = 0; f->here && i < lz_reader_n_files(f->reader); i++)
		free(f->here[i].path);
	free(f->here);
}
