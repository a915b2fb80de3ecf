/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of a recording that keeps its last part only, the files are in parts, and the first ones are
 * gone. */
#include <stdio.h>
#include <stdlib.h>
#include <common/base/dir.h>
#include <common/recording/parts.h>
#include <common/recording/reader.h>
#include <lizard/error.h>

enum { MAX_PARTS = 256 };

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int numbers(DIR *d, uint32_t v[MAX_PARTS], uint32_t *n)
{
	struct dirent *e;

	while ((e = readdir(d))) {
		int64_t number = lz_part_of(e->d_name, "checkpoints");

		if (number < 0)
			continue;
		if (*n == MAX_PARTS)
			return lz_fail("its files have more than %d parts", MAX_PARTS);
		v[(*n)++] = (uint32_t)number;
	}
	return 0;
}

/* What lies behind a gap is of no use. */
int lz_reader_list_parts(struct lz_reader *r)
{
	DIR *d = lz_open_dir(r->dirfd, ".");
	uint32_t v[MAX_PARTS], n = 0;
	int rc;

	if (!d)
		return lz_fail_errno("cannot list the directory");
	rc = numbers(d, v, &n);
	closedir(d);
	qsort(v, n, sizeof(*v), by_number);
	r->first_part = n ? v[0] : 0;
	r->n_parts = 1;
	while (r->n_parts < n && v[r->n_parts] == v[r->n_parts - 1] + 1)
		r->n_parts++;
	if (r->n_parts < n && asprintf(&r->damage, "damaged: part %u of its files is missing",
	                               v[r->n_parts - 1] + 1) < 0)
		r->damage = NULL;
	return rc;
}

int lz_reader_open_frames(struct lz_reader *r, const char *name, struct lz_frames *fs)
{
	char file[LZ_PART_NAME];
	int rc;

	lz_part_name(name, r->first_part, file);
	rc = lz_frames_open(r->dirfd, file, fs);
	for (uint32_t i = 1; rc == 0 && i < r->n_parts; i++) {
		lz_part_name(name, r->first_part + i, file);
		rc = lz_frames_append(r->dirfd, file, fs);
	}
	return rc;
}

/* Everything is counted from the program's start: the first checkpoint says where the files
 * begin. */
int lz_reader_find_begin(struct lz_reader *r)
{
	const struct lz_frames *fs = &r->checkpoints;
	struct lz_checkpoint *ck = NULL;
	struct lz_buf buf = {0};

	if (!r->first_part || !fs->n || fs->v[0].type != LZ_FRAME_HEAD)
		return 0;
	if (lz_frames_read(fs, 0, &buf) == 0)
		ck = lz_head_get(&buf, fs->v[0].count);
	lz_buf_free(&buf);
	if (!ck)
		return lz_fail_in("the first checkpoint");
	r->first_ck = ck->index;
	r->first_event = ck->pos.event;
	r->first_marker = ck->pos.marker;
	lz_checkpoint_free(ck);
	return r->first_ck < UINT32_MAX - fs->n
	           ? 0
	           : lz_fail("the first checkpoint has a number that cannot be");
}

bool lz_reader_begins_inside(struct lz_reader *r)
{
	const struct lz_checkpoint *ck = lz_reader_checkpoint(r, 0);

	return ck && ck->n_threads && ck->threads[0].regs.rsp != ck->stack_start;
}

bool lz_reader_begins_later(const struct lz_reader *r)
{
	return r->first_part > 0;
}

uint64_t lz_reader_first_event(const struct lz_reader *r)
{
	return r->first_event;
}

uint64_t lz_reader_first_marker(const struct lz_reader *r)
{
	return r->first_marker;
}

struct lz_stored lz_reader_stored(const struct lz_reader *r)
{
	struct lz_stored n = {.events = r->events.bytes, .checkpoints = r->checkpoints.bytes};

	for (uint32_t i = 0; i < r->n_streams; i++)
		n.markers += r->streams[i].frames.bytes;
	return n;
}
