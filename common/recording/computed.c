/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading what was computed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/base/cleanup.h>
#include <common/recording/computed_inside.h>
#include <common/recording/flowsum.h>
#include <common/recording/reader.h>
#include <lizard/error.h>

void lz_computed_free(struct lz_computed *c)
{
	if (c->opened && c->fd >= 0)
		close(c->fd);
	free(c->of);
	free(c->why);
}

void lz_computed_name(const struct lz_stream *s, char name[LZ_COMPUTED_NAME])
{
	snprintf(name, LZ_COMPUTED_NAME, "markers-%u", s->tid);
}

static int open_file(const struct lz_reader *r, const struct lz_stream *s)
{
	lz_auto_close int folder =
	    openat(r->dirfd, LZ_INDEX_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char name[LZ_COMPUTED_NAME];
	struct stat st;

	lz_computed_name(s, name);
	int fd =
	    folder < 0 ? -1 : openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	return -1;
}

/* The later one of two counts: it was made because the other one was wrong. */
static void note(struct lz_computed *c, const struct lz_stream *s, const struct lz_frame *f)
{
	uint32_t i = lz_stream_frame(s, f->key0);
	const struct lz_frame *of = &s->frames.v[i];

	if (f->type == LZ_FRAME_MARKERS && of->type == LZ_FRAME_HASHED && of->key0 == f->key0 &&
	    of->count == f->raw_len)
		c->of[i] = *f;
}

void lz_computed_scan(struct lz_computed *c, const struct lz_stream *s)
{
	const uint64_t most = 4 * (uint64_t)s->frames.n;
	struct lz_frame f;
	struct stat st;

	if (c->fd < 0 || !c->of || fstat(c->fd, &st) < 0)
		return;
	while (c->n < most && lz_frame_at(c->fd, c->end, (uint64_t)st.st_size, &f) > 0) {
		note(c, s, &f);
		c->end = f.payload + f.stored_len;
		c->n++;
	}
}

void lz_computed_take(struct lz_computed *c, const struct lz_stream *s, int fd)
{
	if (c->opened && c->fd >= 0)
		close(c->fd);
	if (!c->of)
		c->of = calloc(s->frames.n + 1u, sizeof(*c->of));
	else
		memset(c->of, 0, s->frames.n * sizeof(*c->of));
	c->opened = true;
	c->fd = fd;
	c->n = 0;
	c->end = 0;
	lz_computed_scan(c, s);
}

bool lz_computed_has(const struct lz_reader *r, struct lz_stream *s, uint32_t i)
{
	struct lz_computed *c = &s->computed;

	if (!c->opened)
		lz_computed_take(c, s, open_file(r, s));
	return c->of && c->of[i].type;
}

/* Others may have added it. */
static bool look_again(const struct lz_reader *r, struct lz_stream *s, uint32_t i)
{
	if (!s->computed.opened || s->computed.fd < 0)
		lz_computed_take(&s->computed, s, open_file(r, s));
	else
		lz_computed_scan(&s->computed, s);
	return lz_computed_has(r, s, i);
}

static bool is_right(const struct lz_reader *r, const struct lz_stream *s, uint32_t i,
                     const struct lz_buf *b)
{
	struct lz_block_sum want;
	struct lz_flow_sum sum;

	if (b->len != s->frames.v[i].count ||
	    !lz_reader_block_hashed(r, s->tid, i - s->n_before, &want))
		return false;
	lz_flow_sum_begin(&sum, want.kind);
	lz_flow_sum_add(&sum, b->p, b->len);
	return lz_flow_sum_value(&sum) == want.value;
}

const struct lz_buf *lz_computed_get(const struct lz_reader *r, struct lz_stream *s, uint32_t i)
{
	struct lz_cache_slot *slot;

	if (!lz_computed_has(r, s, i) && !look_again(r, s, i))
		return NULL;
	slot = lz_cache_oldest(&s->cache);
	if (lz_frame_read(&s->computed.of[i], &slot->buf) == 0 && is_right(r, s, i, &slot->buf)) {
		lz_cache_filled(&s->cache, slot, i);
		return &slot->buf;
	}
	lz_debug("%s/" LZ_INDEX_FOLDER ": the markers from %llu on are not those recorded", r->dir,
	         (unsigned long long)s->frames.v[i].key0);
	s->computed.of[i].type = 0;
	return NULL;
}

/* ---- for readers' callers ---- */

uint64_t lz_reader_markers_computed(const struct lz_reader *r, uint32_t tid)
{
	struct lz_stream *s = lz_reader_stream(r, tid);
	uint64_t all = 0;

	if (s && s->frames.n)
		look_again(r, s, 0);
	for (uint32_t i = 0; s && i < s->frames.n; i++)
		if (lz_computed_has(r, s, i))
			all += s->computed.of[i].raw_len;
	return all;
}
