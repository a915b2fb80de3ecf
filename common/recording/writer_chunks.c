/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chunks: what has been read of a file that does not change is stored once, and events refer to it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <common/base/array.h>
#include <common/recording/writer.h>
#include <lizard/error.h>
#include <lizard/format.h>

/* Read in such small pieces a file needs more memory than its bytes are worth. */
enum { MOST_RANGES = 1 << 16 };

/* [FROM, FROM + where.len) of the file. */
struct range {
	uint64_t from;
	struct lz_kept where;
};

struct lz_kept_file {
	int fd;
	struct range *v; /* sorted, without overlaps */
	uint32_t n, room;
	struct lz_kept *found; /* of the last call */
	uint32_t n_found, found_room;
};

struct lz_kept_file *lz_kept_file_new(int fd)
{
	struct lz_kept_file *f = calloc(1, sizeof(*f));

	if (!f)
		lz_fail("no memory to keep what is read of a file");
	else
		f->fd = fd;
	return f;
}

void lz_kept_file_free(struct lz_kept_file *f)
{
	if (!f)
		return;
	free(f->v);
	free(f->found);
	free(f);
}

bool lz_kept_file_full(const struct lz_kept_file *f)
{
	return f->n > MOST_RANGES;
}

/* ---- chunks ---- */

int lz_writer_push_chunk(struct lz_writer *w)
{
	const struct lz_frame f = {.type = LZ_FRAME_CHUNK, .key0 = w->n_chunks};

	if (!w->chunk.len)
		return 0;
	w->n_chunks++;
	return lz_worker_push(w->worker, &w->events, &f, &w->chunk);
}

void lz_writer_forget_chunks(struct lz_writer *w)
{
	w->first_chunk = w->n_chunks;
}

static int read_all(int fd, uint64_t offset, uint8_t *to, uint64_t len)
{
	for (uint64_t done = 0; done < len;) {
		const ssize_t n = pread(fd, to + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return lz_fail_errno("cannot read what the program has read");
		if (n == 0)
			return lz_fail("a file has become shorter than what was read of it");
		done += (uint64_t)n;
	}
	return 0;
}

/* LEN bytes of F from OFFSET on, LZ_CHUNK_MAX at most. */
static int store(struct lz_writer *w, struct lz_kept_file *f, uint64_t offset, uint32_t len,
                 struct lz_kept *where)
{
	struct lz_buf *b = &w->chunk;

	if (b->len + len > LZ_CHUNK_MAX && lz_writer_push_chunk(w) < 0)
		return -1;
	if (!b->p)
		lz_worker_spare(w->worker, LZ_CHUNK_MAX, b);
	if (!lz_buf_room(b, len))
		return lz_fail("no memory to keep what is read of a file");
	if (read_all(f->fd, offset, b->p + b->len, len) < 0)
		return -1;
	*where = (struct lz_kept){w->n_chunks, (uint32_t)b->len, len};
	b->len += len;
	return 0;
}

/* ---- ranges of a file ---- */

static uint64_t end_of(const struct range *r)
{
	return r->from + r->where.len;
}

/* What follows in the file follows in the chunk as well. */
static bool goes_on(const struct range *a, uint64_t from, const struct lz_kept *k)
{
	return end_of(a) == from && a->where.chunk == k->chunk &&
	       a->where.at + a->where.len == k->at;
}

static int insert(struct lz_kept_file *f, uint32_t at, uint64_t from, const struct lz_kept *k)
{
	if (at && goes_on(&f->v[at - 1], from, k)) {
		f->v[at - 1].where.len += k->len;
		return 0;
	}
	if (lz_reserve(f->v, f->room, f->n + 1u) < 0)
		return -1;
	memmove(f->v + at + 1, f->v + at, (f->n - at) * sizeof(*f->v));
	f->v[at] = (struct range){from, *k};
	f->n++;
	return 0;
}

static int add_found(struct lz_kept_file *f, const struct lz_kept *k)
{
	struct lz_kept *last = f->n_found ? &f->found[f->n_found - 1] : NULL;

	if (last && last->chunk == k->chunk && last->at + last->len == k->at) {
		last->len += k->len;
		return 0;
	}
	if (lz_reserve(f->found, f->found_room, f->n_found + 1u) < 0)
		return -1;
	f->found[f->n_found++] = *k;
	return 0;
}

/* The file is kept anew in each part of a recording, as the parts before may be gone. This is asked
 * before each change, so one range tells of all. */
static void forget_old(const struct lz_writer *w, struct lz_kept_file *f)
{
	if (f->n && f->v[0].where.chunk < w->first_chunk)
		f->n = 0;
}

/* From FROM on, up to END at most: what is kept, or else is not. */
static int keep_next(struct lz_writer *w, struct lz_kept_file *f, uint64_t *from, uint64_t end)
{
	const uint32_t i = lz_lower_bound(k, f->n, end_of(&f->v[k]) <= *from);
	const bool there = i < f->n && f->v[i].from <= *from;
	struct lz_kept k;

	if (there) {
		const uint32_t skip = (uint32_t)(*from - f->v[i].from);

		k = f->v[i].where;
		k.at += skip;
		k.len -= skip;
		if (k.len > end - *from)
			k.len = (uint32_t)(end - *from);
	} else {
		uint64_t len = (i < f->n && f->v[i].from < end ? f->v[i].from : end) - *from;

		if (len > LZ_CHUNK_MAX)
			len = LZ_CHUNK_MAX;
		if (store(w, f, *from, (uint32_t)len, &k) < 0 || insert(f, i, *from, &k) < 0)
			return -1;
	}
	*from += k.len;
	return add_found(f, &k);
}

/* Nothing is known of [FROM, END) any more, of which no range has more than a part. */
static void forget_ranges(struct lz_kept_file *f, uint64_t from, uint64_t end)
{
	uint32_t first = lz_lower_bound(k, f->n, end_of(&f->v[k]) <= from);
	const uint32_t last = lz_lower_bound(k, f->n, end_of(&f->v[k]) <= end);

	if (last < f->n && f->v[last].from < end) {
		struct range *r = &f->v[last];
		const uint32_t skip = (uint32_t)(end - r->from);

		r->from += skip;
		r->where.at += skip;
		r->where.len -= skip;
	}
	if (first < last && f->v[first].from < from) {
		f->v[first].where.len = (uint32_t)(from - f->v[first].from);
		first++;
	}
	memmove(f->v + first, f->v + last, (f->n - last) * sizeof(*f->v));
	f->n -= last - first;
}

/* In too many pieces: it is kept once more, in as few as can be, and is found there from now on. */
static int keep_anew(struct lz_writer *w, struct lz_kept_file *f, uint64_t offset, uint64_t len)
{
	struct lz_kept k;

	f->n_found = 0;
	forget_ranges(f, offset, offset + len);
	for (uint64_t from = offset, end = offset + len; from < end; from += k.len) {
		const uint64_t left = end - from;
		const uint32_t some = left < LZ_CHUNK_MAX ? (uint32_t)left : LZ_CHUNK_MAX;
		const uint32_t i = lz_lower_bound(j, f->n, end_of(&f->v[j]) <= from);

		if (store(w, f, from, some, &k) < 0 || insert(f, i, from, &k) < 0 ||
		    add_found(f, &k) < 0)
			return -1;
	}
	return 0;
}

int lz_writer_keep(struct lz_writer *w, struct lz_kept_file *f, uint64_t offset, uint64_t len,
                   const struct lz_kept **kept, uint32_t *n)
{
	forget_old(w, f);
	f->n_found = 0;
	for (uint64_t from = offset; from < offset + len;)
		if (keep_next(w, f, &from, offset + len) < 0)
			return -1;
	if (f->n_found > LZ_KEPT_MOST && keep_anew(w, f, offset, len) < 0)
		return -1;
	*kept = f->found;
	*n = f->n_found;
	return 0;
}
