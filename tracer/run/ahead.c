/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/run/ahead.h"

#include <common/base/cleanup.h>
#include <common/recording/recdir.h>
#include <lizard/error.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* The last one that is made is of no use, and costs what some others have saved. */
enum { FEW = 4 };

/* All tracers of the run have this page. The spawner was there before the recording was. */
struct run {
	char root[PATH_MAX];      /* "": nothing is made ahead */
	_Atomic unsigned n_taken; /* recordings that were begun, made ahead or not */
};

static struct run *run;
static struct lz_writer *made;

void lz_ahead_begin(void)
{
	void *page =
	    mmap(NULL, sizeof(*run), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	run = page == MAP_FAILED ? NULL : page;
}

void lz_ahead_root(const char *root)
{
	if (run && snprintf(run->root, sizeof(run->root), "%s", root) >= (int)sizeof(run->root))
		run->root[0] = 0;
}

/* ROOT/processes/NAME; malloced, NULL. */
static char *below(const char *name)
{
	char *path;

	return asprintf(&path, "%s/processes/%s", run->root, name) < 0 ? NULL : path;
}

void lz_ahead_make(void)
{
	char name[40];

	if (!run || !run->root[0] || run->n_taken < FEW)
		return;
	snprintf(name, sizeof(name), LZ_RUN_NEXT "/%d", (int)getpid());
	lz_auto_free char *processes = below(""), *all = below(LZ_RUN_NEXT), *own = below(name);
	lz_auto_free char *copies = below(LZ_RUN_COPIES);
	if (!processes || !all || !own || !copies)
		return;
	lz_make_spread(processes);
	lz_make_spread(all);
	made = lz_writer_ahead(own);
	if (made)
		lz_writer_share_copies(made, copies);
	else
		lz_debug("no recording is made ahead: %s", lz_error());
}

struct lz_writer *lz_ahead_take(const char *path, const struct lz_meta *meta)
{
	if (run)
		run->n_taken++;
	if (made && lz_writer_begin(made, path, meta) < 0) {
		lz_debug("%s", lz_error());
		lz_ahead_drop();
	}
	struct lz_writer *w = made;
	made = NULL;
	return w;
}

/* Whoever is the last one removes what is empty then. */
void lz_ahead_drop(void)
{
	if (!made)
		return;
	lz_writer_discard(made);
	made = NULL;
	lz_auto_free char *all = below(LZ_RUN_NEXT);
	if (all)
		rmdir(all);
}
