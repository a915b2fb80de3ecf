/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>
#include <common/recording/codec.h>
#include <lizard/error.h>
#include <lizard/recording.h>

/* Higher levels do not keep up with a page-cache disk on one core (docs/measurements.md,
 * "Dependencies"). */
enum { ZSTD_LEVEL = 1, ZLIB_LEVEL = 1 };

void lz_packer_free(struct lz_packer *p)
{
	ZSTD_freeCCtx(p->zstd);
	p->zstd = NULL;
}

static int pack_zlib(const void *in, size_t len, struct lz_buf *out)
{
	uLongf n = compressBound(len);
	uint8_t *p = lz_buf_room(out, n);

	if (!p)
		return lz_fail("no memory to compress %zu bytes", len);
	int rc = compress2(p, &n, in, len, ZLIB_LEVEL);
	if (rc != Z_OK)
		return lz_fail("zlib: %s", zError(rc));
	out->len += n;
	return 0;
}

static int pack_zstd(struct lz_packer *pk, const void *in, size_t len, struct lz_buf *out)
{
	size_t n = ZSTD_compressBound(len);
	uint8_t *p = lz_buf_room(out, n);

	if (!pk->zstd)
		pk->zstd = ZSTD_createCCtx();
	if (!p || !pk->zstd)
		return lz_fail("no memory to compress %zu bytes", len);
	n = ZSTD_compressCCtx(pk->zstd, p, n, in, len, ZSTD_LEVEL);
	if (ZSTD_isError(n))
		return lz_fail("zstd: %s", ZSTD_getErrorName(n));
	out->len += n;
	return 0;
}

static int pack_lz4(const struct lz_packer *pk, const void *in, size_t len, struct lz_buf *out)
{
	int room = len <= LZ4_MAX_INPUT_SIZE ? LZ4_compressBound((int)len) : 0;
	uint8_t *p = room ? lz_buf_room(out, (size_t)room) : NULL;

	if (!p)
		return lz_fail("no memory to compress %zu bytes", len);
	int n = LZ4_compress_fast(in, (char *)p, (int)len, room, pk->haste);
	if (n <= 0)
		return lz_fail("LZ4: cannot compress %zu bytes", len);
	out->len += (size_t)n;
	return 0;
}

int lz_pack(struct lz_packer *p, int codec, const void *in, size_t len, struct lz_buf *out)
{
	switch (codec) {
	case LZ_CODEC_RAW:
		lz_put(out, in, len);
		return out->failed ? lz_fail("no memory for %zu bytes", len) : 0;
	case LZ_CODEC_ZLIB: return pack_zlib(in, len, out);
	case LZ_CODEC_ZSTD: return pack_zstd(p, in, len, out);
	case LZ_CODEC_LZ4: return pack_lz4(p, in, len, out);
	}
	return lz_fail("unknown compression %d", codec);
}

static int unpack_lz4(const void *in, size_t len, void *out, size_t *raw_len)
{
	if (len > LZ4_MAX_INPUT_SIZE || *raw_len > LZ4_MAX_INPUT_SIZE)
		return lz_fail("LZ4: %zu bytes are too many", len);
	int n = LZ4_decompress_safe(in, out, (int)len, (int)*raw_len);
	if (n < 0)
		return lz_fail("LZ4: damaged data");
	*raw_len = (size_t)n;
	return 0;
}

int lz_unpack(int codec, const void *in, size_t len, void *out, size_t raw_len)
{
	size_t n = raw_len;
	uLongf zn = raw_len;

	switch (codec) {
	case LZ_CODEC_RAW:
		if (len != raw_len)
			return lz_fail("%zu bytes where %zu were announced", len, raw_len);
		memcpy(out, in, len);
		return 0;
	case LZ_CODEC_ZLIB: {
		int rc = uncompress(out, &zn, in, len);
		if (rc != Z_OK)
			return lz_fail("zlib: %s", zError(rc));
		n = zn;
		break;
	}
	case LZ_CODEC_ZSTD:
		n = ZSTD_decompress(out, raw_len, in, len);
		if (ZSTD_isError(n))
			return lz_fail("zstd: %s", ZSTD_getErrorName(n));
		break;
	case LZ_CODEC_LZ4:
		if (unpack_lz4(in, len, out, &n) < 0)
			return -1;
		break;
	default: return lz_fail("unknown compression %d", codec);
	}
	if (n != raw_len)
		return lz_fail("%zu bytes unpacked where %zu were announced", n, raw_len);
	return 0;
}

void lz_xor_pages(uint8_t *dst, const uint8_t *a, const uint8_t *b)
{
	for (size_t i = 0; i < LZ_PAGE; i += 32) {
		uint64_t x[4], y[4];

		memcpy(x, a + i, 32);
		memcpy(y, b + i, 32);
		for (int k = 0; k < 4; k++)
			x[k] ^= y[k];
		memcpy(dst + i, x, 32);
	}
}

static size_t zeroes_at(const uint8_t *page, size_t i)
{
	size_t start = i;
	uint64_t w;

	while (i + 8 <= LZ_PAGE && (memcpy(&w, page + i, 8), w == 0))
		i += 8;
	while (i < LZ_PAGE && !page[i])
		i++;
	return i - start;
}

/* A literal run goes on over gaps of fewer than 4 zeroes: two lengths would cost as much. */
static size_t literals_at(const uint8_t *page, size_t i)
{
	size_t start = i, gap = 0;

	for (; i < LZ_PAGE && gap < 4; i++)
		gap = page[i] ? 0 : gap + 1;
	return i - gap - start;
}

void lz_rle_put(struct lz_buf *b, const uint8_t *page)
{
	for (size_t i = 0; i < LZ_PAGE;) {
		size_t zeroes = zeroes_at(page, i);
		size_t n = literals_at(page, i + zeroes);

		lz_put_var(b, zeroes);
		lz_put_var(b, n);
		lz_put(b, page + i + zeroes, n);
		i += zeroes + n;
	}
}

int lz_rle_get(struct lz_cur *c, uint8_t *page)
{
	for (size_t i = 0; i < LZ_PAGE;) {
		size_t zeroes = lz_get_max(c, LZ_PAGE - i);
		size_t n = lz_get_max(c, LZ_PAGE - i - zeroes);
		const uint8_t *p = lz_get(c, n);

		if (!p || zeroes + n == 0)
			return lz_fail("bad run lengths in a page");
		memset(page + i, 0, zeroes);
		memcpy(page + i + zeroes, p, n);
		i += zeroes + n;
	}
	return 0;
}
