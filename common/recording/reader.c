/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <common/recording/meta.h>
#include <common/recording/reader.h>
#include <common/recording/recdir.h>
#include <lizard/error.h>

static int open_all(struct lz_reader *r, const char *dir, const struct lz_reader *checked)
{
	r->dir = strdup(dir);
	if (!r->dir)
		return lz_fail("no memory");
	r->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->dirfd < 0)
		return lz_fail_errno("cannot open");
	if (lz_meta_read_at(r->dirfd, &r->meta) < 0 || lz_recdir_check(r->dirfd) < 0 ||
	    lz_reader_list_parts(r) < 0 || lz_reader_open_frames(r, "events", &r->events) < 0 ||
	    lz_reader_open_frames(r, "checkpoints", &r->checkpoints) < 0)
		return -1;
	if (lz_reader_find_begin(r) < 0 || lz_index_events(r) < 0 || lz_index_checkpoints(r) < 0 ||
	    lz_index_streams(r) < 0)
		return -1;
	if (lz_reader_check_files(r, checked) < 0)
		return -1;
	return lz_reader_cut(r);
}

/* CHECKED: of the same recording, or NULL. */
static struct lz_reader *open_reader(const char *dir, const struct lz_reader *checked)
{
	struct lz_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		lz_fail("no memory");
		return NULL;
	}
	r->dirfd = r->events.fd = r->checkpoints.fd = -1;
	if (open_all(r, dir, checked) == 0)
		return r;
	lz_reader_close(r);
	lz_fail_in("%s", dir);
	return NULL;
}

struct lz_reader *lz_reader_open(const char *dir)
{
	return open_reader(dir, NULL);
}

struct lz_reader *lz_reader_again(const struct lz_reader *r)
{
	return open_reader(r->dir, r);
}

void lz_reader_close(struct lz_reader *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->n_streams; i++) {
		lz_frames_close(&r->streams[i].frames);
		lz_cache_free(&r->streams[i].cache);
		lz_computed_free(&r->streams[i].computed);
	}
	for (uint32_t i = 0; i < r->n_files; i++)
		lz_file_free(&r->files[i]);
	for (uint32_t i = 0; i < r->n_cks; i++)
		lz_checkpoint_free(r->cks[i].ck);
	lz_frames_close(&r->events);
	lz_frames_close(&r->checkpoints);
	lz_ev_cache_free(&r->user);
	lz_ev_cache_free(&r->search);
	lz_meta_free(&r->meta);
	if (r->dirfd >= 0)
		close(r->dirfd);
	free(r->streams);
	free(r->files);
	free(r->cks);
	free(r->programs);
	free(r->runs);
	free(r->syncs);
	free(r->chunks);
	free(r->damage);
	free(r->dir);
	free(r);
}

const struct lz_meta *lz_reader_meta(const struct lz_reader *r)
{
	return &r->meta;
}

const char *lz_reader_dir(const struct lz_reader *r)
{
	return r->dir;
}

const char *lz_reader_damage(const struct lz_reader *r)
{
	return r->damage;
}
