/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What goes into a pack, found; and a pack of one recording without questions. */
#include "cmds/pack/apart.h"
#include "cmds/pack/pack.h"

#include <common/base/cleanup.h>
#include <common/recording/recdir.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int lz_pack_item_find(struct lz_pack_item *item, const char *dir, const struct lz_pack_wishes *w)
{
	int rc;

	*item = (struct lz_pack_item){.index = w->index};
	rc = lz_processes_read(&item->all, dir);
	if (rc == 0)
		lz_processes_measure(&item->all);
	if (rc == 0 && !w->no_sources)
		rc = lz_sources_find(&item->all, w->dirs, w->n_dirs, &item->sources);
	if (rc == 0 && !w->no_sources)
		rc = lz_sources_prefer_kept(&item->sources, dir);
	if (rc == 0 && !w->no_debug)
		rc = lz_debug_find(&item->all, &item->debug);
	return rc;
}

void lz_pack_item_free(struct lz_pack_item *item)
{
	lz_debug_free(&item->debug);
	lz_sources_free(&item->sources);
	lz_processes_free(&item->all);
}

static int pack(const char *dir, const char *path, const struct lz_pack_wishes *w)
{
	struct lz_packed packed = {0};
	struct lz_pack_item item;
	int rc = lz_pack_item_find(&item, dir, w);

	if (rc == 0)
		rc = lz_pack_write(&item, 1, path, w->all_env, &packed);
	lz_names_free(&packed.left_out);
	lz_pack_item_free(&item);
	return rc;
}

/* A name in FOLDER that is free, after the recording DIR. malloced. */
static char *free_name(const char *dir, const char *folder)
{
	const char *slash = strrchr(dir, '/'), *name = slash ? slash + 1 : dir;
	char *path = NULL;

	for (unsigned n = 1; n < 1000; n++) {
		char number[16] = "";

		if (n > 1)
			snprintf(number, sizeof(number), ".%u", n);
		if (asprintf(&path, "%s/%s%s.lizard", folder, name, number) < 0) {
			lz_fail("no memory");
			return NULL;
		}
		if (access(path, F_OK) < 0)
			return path;
		free(path);
	}
	lz_fail("%s has too many files named %s.lizard", folder, name);
	return NULL;
}

struct packing {
	const char *dir, *folder;
	const struct lz_pack_wishes *wishes;
};

static char *pack_apart(const void *arg)
{
	const struct packing *p = arg;
	char *path = NULL;

	if (lz_make_dirs(p->folder) == 0)
		path = free_name(p->dir, p->folder);
	if (path && pack(p->dir, path, p->wishes) == 0)
		return path;
	free(path);
	return NULL;
}

char *lz_pack_into(const char *dir, const char *folder, const struct lz_pack_wishes *w)
{
	return lz_apart("packing", pack_apart, &(struct packing){dir, folder, w});
}
