/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The marker stream read ahead by a thread with a reader of its own: decompression then takes
 * none of the CPU that replay and the replayed process share. Only for a run from start to end. */
#include "replayer/engine/prefetch.h"
#include <common/base/thread.h>
#include <lizard/error.h>
#include <lizard/restore.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A block has at most PIECE bytes. */
enum { PIECE = 1 << 20, PIECES = 8 };

/* A block whose markers are stored. The others are compared by checksum. */

struct piece {
	uint64_t start;
	size_t len;
	uint8_t *bytes;
};

struct lz_prefetch {
	struct lz_reader *reader;
	uint32_t tid;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct piece piece[PIECES];
	uint64_t filled, taken; /* pieces so far; number i is in slot i % PIECES */
	bool quit, done;
};

/* The next block from *I on that is stored; false: there is none. */
static bool find_next(const struct lz_prefetch *p, uint32_t *i, uint64_t *start, uint64_t *len)
{
	while (lz_reader_block_hashed(p->reader, p->tid, *i, NULL))
		++*i;
	return *i < lz_reader_n_blocks(p->reader, p->tid) &&
	       lz_reader_block(p->reader, p->tid, *i, start, len) == 0 && *len <= PIECE;
}

/* A piece's bytes are written before it counts as filled, and read only while it is not taken. */
static void *fetch(void *arg)
{
	struct lz_prefetch *p = arg;
	uint64_t start = 0, len = 0;
	uint32_t i = 0;

	lz_stub_unpin();
	pthread_mutex_lock(&p->lock);
	while (!p->quit && !p->done) {
		if (p->filled - p->taken == PIECES) {
			pthread_cond_wait(&p->change, &p->lock);
			continue;
		}
		struct piece *k = &p->piece[p->filled % PIECES];
		pthread_mutex_unlock(&p->lock);
		bool found =
		    find_next(p, &i, &start, &len) &&
		    lz_reader_markers_kept(p->reader, p->tid, start, k->bytes, len) == (int64_t)len;
		k->start = start;
		k->len = len;
		i++;
		pthread_mutex_lock(&p->lock);
		p->filled += found;
		p->done = !found;
		pthread_cond_broadcast(&p->change);
	}
	p->done = true;
	pthread_cond_broadcast(&p->change);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

struct lz_prefetch *lz_prefetch_new(const struct lz_reader *r, uint32_t tid)
{
	struct lz_prefetch *p = calloc(1, sizeof *p);
	bool ok = p != NULL;

	for (int i = 0; ok && i < PIECES; i++)
		ok = (p->piece[i].bytes = malloc(PIECE)) != NULL;
	if (!ok) {
		lz_prefetch_free(p);
		return NULL;
	}
	p->tid = tid;
	p->reader = lz_reader_again(r);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->change, NULL);
	if (!p->reader || lz_thread_start(&p->thread, "lizard-prefetch", fetch, p) < 0) {
		lz_reader_close(p->reader);
		p->reader = NULL;
		lz_prefetch_free(p);
		return NULL;
	}
	return p;
}

void lz_prefetch_free(struct lz_prefetch *p)
{
	if (!p)
		return;
	if (p->reader) {
		pthread_mutex_lock(&p->lock);
		p->quit = true;
		pthread_cond_broadcast(&p->change);
		pthread_mutex_unlock(&p->lock);
		pthread_join(p->thread, NULL);
		lz_reader_close(p->reader);
	}
	for (int i = 0; i < PIECES; i++)
		free(p->piece[i].bytes);
	free(p);
}

/* The piece that holds OFFSET; pieces before it are given back. */
static struct piece *piece_at(struct lz_prefetch *p, uint64_t offset)
{
	for (;;) {
		struct piece *k = p->taken < p->filled ? &p->piece[p->taken % PIECES] : NULL;
		if (k && offset < k->start)
			return NULL;
		if (k && offset - k->start < k->len)
			return k;
		if (k) {
			p->taken++;
			pthread_cond_broadcast(&p->change);
		} else if (p->done) {
			return NULL;
		} else {
			pthread_cond_wait(&p->change, &p->lock);
		}
	}
}

size_t lz_prefetch_read(struct lz_prefetch *p, uint64_t offset, void *buf, size_t len)
{
	size_t n = 0;

	while (n < len) {
		pthread_mutex_lock(&p->lock);
		struct piece *k = piece_at(p, offset + n);
		pthread_mutex_unlock(&p->lock);
		if (!k)
			break;
		size_t from = (size_t)(offset + n - k->start);
		size_t part = k->len - from < len - n ? k->len - from : len - n;
		memcpy((uint8_t *)buf + n, k->bytes + from, part);
		n += part;
	}
	return n;
}
