/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/strace/show.h"

#include <common/base/print.h>
#include <ctype.h>
#include <inttypes.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { MOST_VECTORS = 1024, SHOWN_VECTORS = 32, MOST_STRINGS = 32 };

/* A byte that is no plain character; NEXT: the one behind it, -1: none. */
static void escape(struct lz_show *s, uint8_t c, int next)
{
	static const char plain[] = "\"\\\n\t\r\v\f", letter[] = "\"\\ntrvf";
	const char *at = c ? strchr(plain, c) : NULL;

	if (at)
		lz_print(s->to, "\\%c", letter[at - plain]);
	else if (c >= ' ' && c < 0x7f)
		lz_print(s->to, "%c", c);
	else if (next >= '0' && next <= '7')
		fprintf(s->to, "\\%03o", c);
	else
		fprintf(s->to, "\\%o", c);
}

void lz_show_quoted(struct lz_show *s, const uint8_t *bytes, size_t known, uint64_t n, bool hex)
{
	fputc('"', s->to);
	for (size_t i = 0; i < known; i++) {
		if (hex)
			fprintf(s->to, "\\x%02x", bytes[i]);
		else
			escape(s, bytes[i], i + 1 < known ? bytes[i + 1] : -1);
	}
	fputs(known < n ? "\"..." : "\"", s->to);
}

/* Of a buffer that is written somewhere, as many bytes as the result says. */
static uint64_t result_bytes(const struct lz_show *s)
{
	return s->ev->result > 0 ? (uint64_t)s->ev->result : 0;
}

static size_t shown(const struct lz_show *s, uint64_t len)
{
	enum { MOST = 1 << 24 };
	const uint64_t most = s->o->string < MOST ? s->o->string : MOST;

	return (size_t)(len < most ? len : most);
}

/* Shows LEN bytes, of which the call may have taken fewer. */
static void show_bytes(struct lz_show *s, uint64_t addr, uint64_t len, bool hex)
{
	const size_t want = shown(s, len);
	uint8_t *bytes = malloc(want + 1);
	const size_t known = bytes && addr ? lz_show_peek(s, addr, bytes, want) : 0;

	if (!addr || known < want)
		lz_show_address(s, addr);
	else
		lz_show_quoted(s, bytes, known, len, hex);
	free(bytes);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void lz_show_buffer(struct lz_show *s, uint64_t addr, uint64_t len, bool hex)
{
	show_bytes(s, addr, len, hex);
	lz_show_taken(s, addr, least(len, result_bytes(s)));
}

/* Memory may end behind the string. */
static size_t read_string(struct lz_show *s, uint64_t addr, uint8_t *bytes, size_t room)
{
	enum { PIECE = 256 };
	size_t n = 0;

	while (n < room) {
		size_t want = PIECE - (size_t)((addr + n) % PIECE);
		if (want > room - n)
			want = room - n;
		const size_t got = lz_show_peek(s, addr + n, bytes + n, want);
		n += got;
		if (got < want || memchr(bytes + n - got, 0, got))
			break;
	}
	return n;
}

void lz_show_string(struct lz_show *s, uint64_t addr, bool whole)
{
	const size_t most = whole ? PATH_MAX : shown(s, UINT64_MAX);
	uint8_t *bytes = malloc(most + 1);
	const size_t n = bytes && addr ? read_string(s, addr, bytes, most + 1) : 0;
	const uint8_t *end = n ? memchr(bytes, 0, n) : NULL;

	lz_show_taken(s, addr, end ? (uint64_t)(end - bytes) + 1 : n);
	if (end)
		lz_show_quoted(s, bytes, (size_t)(end - bytes), (uint64_t)(end - bytes), false);
	else if (n == most + 1)
		lz_show_quoted(s, bytes, most, n, false);
	else
		lz_show_address(s, addr);
	free(bytes);
}

void lz_show_strings(struct lz_show *s, uint64_t addr, bool count)
{
	enum { MOST = 100000 };
	uint64_t at = 0, n = 0;

	if (!addr || lz_show_bytes(s, addr, &at, sizeof(at)) < sizeof(at)) {
		lz_show_address(s, addr);
		return;
	}
	if (!count)
		fputc('[', s->to);
	for (; at && n < MOST && (count || n < MOST_STRINGS); n++) {
		if (!count) {
			fputs(n ? ", " : "", s->to);
			lz_show_string(s, at, false);
		}
		if (lz_show_bytes(s, addr + 8 * (n + 1), &at, sizeof(at)) < sizeof(at))
			break;
	}
	if (count)
		lz_print(s->to, "%#" PRIx64 " /* %" PRIu64 " var%s */", addr, n, n == 1 ? "" : "s");
	else
		fputs(at ? ", ...]" : "]", s->to);
}

static void show_vector(struct lz_show *s, const struct iovec *v, uint64_t left)
{
	fputs("{iov_base=", s->to);
	show_bytes(s, (uintptr_t)v->iov_base, least(v->iov_len, left), false);
	fprintf(s->to, ", iov_len=%zu}", v->iov_len);
}

static void take_vectors(struct lz_show *s, const struct iovec *v, size_t n)
{
	uint64_t left = result_bytes(s);

	for (size_t i = 0; i < n; i++) {
		const uint64_t len = least(v[i].iov_len, left);
		lz_show_taken(s, (uintptr_t)v[i].iov_base, len);
		left -= len;
	}
}

void lz_show_vectors(struct lz_show *s, uint64_t addr, uint64_t n, uint64_t total)
{
	struct iovec v[SHOWN_VECTORS];
	const bool out = s->out;
	const size_t want = n < SHOWN_VECTORS ? (size_t)n : SHOWN_VECTORS;

	s->out = false;
	const bool known =
	    n <= MOST_VECTORS && lz_show_bytes(s, addr, v, want * sizeof(*v)) == want * sizeof(*v);
	s->out = out;
	if (!known) {
		lz_show_address(s, addr);
		return;
	}
	fputc('[', s->to);
	for (size_t i = 0; i < want; i++) {
		fputs(i ? ", " : "", s->to);
		show_vector(s, &v[i], total);
		total -= least(v[i].iov_len, total);
	}
	fputs(want < n ? ", ...]" : "]", s->to);
	take_vectors(s, v, want);
}
