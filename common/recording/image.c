/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <common/base/array.h>
#include <common/recording/codec.h>
#include <common/process/pagemap.h>
#include <common/recording/reader.h>
#include <lizard/error.h>

struct lz_image {
	struct lz_reader *r;
	bool valid;
	uint32_t at; /* the checkpoint that it shows, if valid */
	const struct lz_checkpoint *ck;
	struct lz_pagemap pages;
	uint64_t *sorted; /* addresses; NULL until asked for */
	size_t n_sorted;
	struct lz_buf buf;
};

struct lz_image *lz_image_new(struct lz_reader *r)
{
	struct lz_image *im = calloc(1, sizeof(*im));

	if (im)
		im->r = r;
	else
		lz_fail("no memory");
	return im;
}

static void clear(struct lz_image *im)
{
	for (size_t i = 0; i < im->pages.cap; i++)
		free(im->pages.slot[i].page);
	lz_pagemap_free(&im->pages);
	im->valid = false;
}

void lz_image_free(struct lz_image *im)
{
	if (!im)
		return;
	clear(im);
	free(im->sorted);
	lz_buf_free(&im->buf);
	free(im);
}

static int apply_page(struct lz_image *im, struct lz_cur *c, uint64_t addr)
{
	uint8_t kind = lz_get_u8(c), page[LZ_PAGE];
	uint8_t **held = lz_pagemap_at(&im->pages, addr);

	if (!held)
		return lz_fail("no memory");
	if (c->bad || kind >= LZ_PAGE_KINDS || (kind == LZ_PAGE_XOR && !*held))
		return lz_fail("a page's bytes make no sense");
	if (kind == LZ_PAGE_GONE) {
		free(*held);
		*held = NULL;
		return 0;
	}
	if (lz_rle_get(c, page) < 0)
		return -1;
	if (kind == LZ_PAGE_XOR)
		lz_xor_pages(page, page, *held);
	if (!*held && !(*held = malloc(LZ_PAGE)))
		return lz_fail("no memory");
	memcpy(*held, page, LZ_PAGE);
	return 0;
}

static int apply_frame(struct lz_image *im, const struct lz_checkpoint *ck, uint32_t frame)
{
	const struct lz_frame *f = &im->r->checkpoints.v[frame];
	struct lz_cur c;

	if (lz_frames_read(&im->r->checkpoints, frame, &im->buf) < 0)
		return -1;
	c = (struct lz_cur){.p = im->buf.p, .end = im->buf.p + im->buf.len};
	for (uint32_t i = 0; i < f->count; i++)
		if (apply_page(im, &c, ck->dirty[f->key1 + i]) < 0)
			return -1;
	return c.p == c.end ? 0 : lz_fail("more pages than were announced");
}

static int apply(struct lz_image *im, uint32_t i)
{
	const struct lz_ck_place *place = &im->r->cks[i];
	const struct lz_checkpoint *ck = lz_reader_checkpoint(im->r, i);

	if (!ck)
		return -1;
	for (uint32_t k = place->head + 1; k < place->end; k++)
		if (apply_frame(im, ck, k) < 0)
			return lz_fail_in("checkpoint %u", i);
	im->ck = ck;
	return 0;
}

int lz_image_seek(struct lz_image *im, uint32_t i)
{
	uint32_t from = i;

	if (i >= im->r->n_cks)
		return lz_fail("there is no checkpoint %u, the recording has %u", i, im->r->n_cks);
	if (im->valid && im->at == i)
		return 0;
	free(im->sorted);
	im->sorted = NULL;
	while (from && !lz_reader_checkpoint_whole(im->r, from))
		from--;
	if (im->valid && im->at >= from && im->at < i)
		from = im->at + 1;
	else
		clear(im);
	im->valid = false;
	for (; from <= i; from++) {
		if (apply(im, from) < 0) {
			clear(im);
			return -1;
		}
	}
	im->at = i;
	im->valid = true;
	return 0;
}

/* Pages of what has been unmapped since stay in the map until the next whole checkpoint. */
static bool mapped(const struct lz_checkpoint *ck, uint64_t addr)
{
	uint32_t at = lz_lower_bound(i, ck->n_vmas, ck->vmas[i].end <= addr);

	return at < ck->n_vmas && ck->vmas[at].start <= addr;
}

const uint8_t *lz_image_page(const struct lz_image *im, uint64_t addr)
{
	if (!im->valid || !mapped(im->ck, addr))
		return NULL;
	return lz_pagemap_get(&im->pages, addr);
}

static int by_addr(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int sort(struct lz_image *im)
{
	im->n_sorted = 0;
	im->sorted = calloc(im->pages.used + 1, sizeof(*im->sorted));
	if (!im->sorted)
		return lz_fail("no memory");
	for (size_t i = 0; i < im->pages.cap; i++) {
		uint64_t addr = (im->pages.slot[i].key - 1) * LZ_PAGE;

		if (im->pages.slot[i].page && mapped(im->ck, addr))
			im->sorted[im->n_sorted++] = addr;
	}
	qsort(im->sorted, im->n_sorted, sizeof(*im->sorted), by_addr);
	return 0;
}

int lz_image_each(const struct lz_image *im,
                  int (*fn)(void *arg, uint64_t addr, const uint8_t *page), void *arg)
{
	int rc = 0;

	if (!im->valid)
		return lz_fail("the image shows no checkpoint yet");
	/* Sorting is put off until somebody asks; the image's meaning does not change. */
	if (!im->sorted && sort((struct lz_image *)im) < 0)
		return -1;
	for (size_t i = 0; !rc && i < im->n_sorted; i++)
		rc = fn(arg, im->sorted[i], lz_pagemap_get(&im->pages, im->sorted[i]));
	return rc;
}
