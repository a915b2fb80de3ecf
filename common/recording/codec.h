/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a frame's payload is packed with: XOR to the page before, run lengths, zlib, zstd, LZ4. */
#ifndef LIZARD_CODEC_H
#define LIZARD_CODEC_H

#include <common/base/bytes.h>
#include <lizard/format.h>

/* Compressor state, reused from frame to frame. Zero-initialised is ready. */
struct lz_packer {
	struct ZSTD_CCtx_s *zstd;
	int haste; /* of LZ4: the more the faster, and the larger what comes of it */
};
void lz_packer_free(struct lz_packer *p);

/* Appends the packed bytes to OUT; -1 with lz_error(). */
int lz_pack(struct lz_packer *p, int codec, const void *in, size_t len, struct lz_buf *out);
/* Unpacks into OUT, which has room for exactly RAW_LEN bytes; anything else than that length
 * fails. */
int lz_unpack(int codec, const void *in, size_t len, void *out, size_t raw_len);

/* dst = a ^ b, a page each; no alignment needed; dst may be a. */
void lz_xor_pages(uint8_t *dst, const uint8_t *a, const uint8_t *b);
/* rle of format.h, one page. */
void lz_rle_put(struct lz_buf *b, const uint8_t *page);
int lz_rle_get(struct lz_cur *c, uint8_t *page);

#endif
