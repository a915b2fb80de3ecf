/* SPDX-License-Identifier: GPL-3.0-or-later */
/* glibc's heap is chunks one behind the other, each with its length in front. The last one, from which
 * new ones are cut, reaches to the end of the mapping. A thread's heap has its own data first, of a
 * length that depends on the version: the chunks begin where they lead to the end. */
#include "replayer/origin/heap.h"
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORD = 8,
	FLAGS = 7,
	SMALLEST = 32,
	ALIGNED = 16,
	PIECE = 1 << 16,
	LONGEST_FRONT = 8192,
	MOST_CHUNKS = 1 << 24
};

struct walk {
	struct lz_session *s;
	uint64_t start, end; /* the mapping */
	uint64_t chunks;     /* that were looked at: what is no heap may be anything */
	/* a piece of memory that was read */
	uint64_t at;
	size_t n;
	uint8_t *piece;
};

/* The word at ADDR; 0 is no length. */
static uint64_t word_at(struct walk *w, uint64_t addr)
{
	uint64_t word = 0;

	if (addr < w->at || addr + WORD > w->at + w->n) {
		w->at = addr;
		w->n = lz_session_read(w->s, addr, w->piece, PIECE);
	}
	if (addr + WORD <= w->at + w->n)
		memcpy(&word, w->piece + (addr - w->at), WORD);
	return word;
}

/* Whether the chunks from CHUNK on lead to the end. *B: the block among them that holds ADDR. */
static bool leads(struct walk *w, uint64_t chunk, uint64_t addr, struct lz_block *b)
{
	b->len = 0;
	while (chunk + SMALLEST <= w->end && w->chunks++ < MOST_CHUNKS) {
		const uint64_t len = word_at(w, chunk + WORD) & ~(uint64_t)FLAGS;
		if (len < SMALLEST || len % ALIGNED || len > w->end - chunk)
			return false;
		/* the word behind it is the block's as well, while it is in use */
		const uint64_t block = chunk + 2 * WORD;
		if (addr - block < len - WORD && chunk + len < w->end)
			*b = (struct lz_block){block, len - WORD};
		chunk += len;
	}
	return chunk <= w->end && chunk + SMALLEST > w->end;
}

static bool find(struct walk *w, uint64_t addr, struct lz_block *b)
{
	for (uint64_t front = 0; front < LONGEST_FRONT; front += ALIGNED)
		if (w->start + front <= addr && leads(w, w->start + front, addr, b))
			return b->len > 0;
	return false;
}

/* The private memory around ADDR that no file is mapped to. */
static bool mapping(struct lz_session *s, uint64_t addr, struct walk *w)
{
	struct lz_vma *v;
	uint32_t n;

	if (lz_session_vmas(s, &v, &n) < 0)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (addr - v[i].start < v[i].end - v[i].start && v[i].file == LZ_NO_FILE &&
		    (v[i].role == LZ_VMA_HEAP || v[i].role == LZ_VMA_PLAIN)) {
			w->start = v[i].start;
			w->end = v[i].end;
		}
	free(v);
	return w->end > 0;
}

int lz_heap_block(struct lz_session *s, uint64_t addr, struct lz_block *b)
{
	struct walk w = {.s = s, .piece = malloc(PIECE)};

	if (!w.piece)
		return lz_fail("out of memory");
	const bool found = mapping(s, addr, &w) && find(&w, addr, b);
	free(w.piece);
	return found ? 0 : LZ_ACCESS_NONE;
}
