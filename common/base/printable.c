/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/base/printable.h>
#include <lizard/text.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The length of the UTF-8 character C at S, where N bytes are; 0: it may go on behind them; -1: it
 * is none. */
static int decode(const unsigned char *s, size_t n, uint32_t *c)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	int len = *s < 0x80 ? 1 : *s < 0xc0 ? -1 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;

	*c = len > 1 ? *s & (0x7fu >> len) : *s;
	for (int i = 1; i < len; i++) {
		if ((size_t)i == n)
			return 0;
		if ((s[i] & 0xc0) != 0x80)
			return -1;
		*c = *c << 6 | (s[i] & 0x3f);
	}
	bool surrogate = *c >= 0xd800 && *c < 0xe000;

	return len < 0 || *s >= 0xf8 || *c < least[len] || *c > 0x10ffff || surrogate ? -1 : len;
}

static bool steers(uint32_t c)
{
	bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
	bool turns = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	             (c >= 0x2066 && c <= 0x2069);

	return control || turns || c == 0x2028 || c == 0x2029;
}

/* The same of a sequence that sets a colour. */
static int colour(const char *s, size_t n)
{
	size_t i = 1;

	if (i < n && s[i] != '[')
		return -1;
	for (i++; i < n && strchr("0123456789;:", s[i]); i++)
		;
	if (i < n)
		return s[i] == 'm' && i + 1 < LZ_PRINTABLE ? (int)i + 1 : -1;
	return n + 1 < LZ_PRINTABLE ? 0 : -1;
}

/* How many of the N bytes at S are the next character, and whether it is PLAIN; 0: what comes
 * behind them decides. */
static unsigned look(const char *s, size_t n, const char *keep, bool *plain)
{
	uint32_t c;
	int len = decode((const unsigned char *)s, n, &c);

	*plain = len > 0 && (!steers(c) || (c && c < 0x20 && strchr(keep, (int)c)));
	if (*plain && c == '\033') {
		len = colour(s, n);
		*plain = len > 0;
	}
	return len < 0 ? 1 : (unsigned)len;
}

static unsigned give(const char *s, unsigned n, bool plain, char out[LZ_PRINTABLE])
{
	unsigned len = plain ? n : 0;

	memcpy(out, s, len);
	for (; !plain && n; n--)
		len += (unsigned)sprintf(out + len, "\\x%02x", (unsigned char)*s++);
	out[len] = 0;
	return len;
}

unsigned lz_printable(const char **s, const char *keep, char out[LZ_PRINTABLE])
{
	const char *from = *s;
	bool plain = *from >= ' ' && *from < 127;
	unsigned n = plain ? 1 : look(from, strnlen(from, LZ_PRINTABLE), keep, &plain);

	n = n ? n : 1; /* the text ends within it */
	*s += n;
	return give(from, n, plain, out);
}

void lz_put_printable(FILE *to, const char *s, const char *keep)
{
	char c[LZ_PRINTABLE];

	while (*s) {
		lz_printable(&s, keep, c);
		fputs(c, to);
	}
}

void lz_copy_printable(char *to, size_t size, const char *s, const char *keep)
{
	char c[LZ_PRINTABLE];
	unsigned len;

	for (; *s && (len = lz_printable(&s, keep, c)) < size; size -= len, to += len)
		memcpy(to, c, len);
	*to = 0;
}

char *lz_dup_printable(const char *s)
{
	size_t size = 4 * strlen(s) + 1;
	char *out = malloc(size);

	if (out)
		lz_copy_printable(out, size, s, "");
	return out;
}

_Static_assert(sizeof(((struct lz_text_stream *)0)->held) == LZ_PRINTABLE, "a character fits");

char *lz_text_stream(struct lz_text_stream *s, const char *bytes, size_t n, bool colours)
{
	char *all = malloc(s->n + n), *out = malloc(4 * (s->n + n) + 1), *end = out;
	size_t at = 0;
	bool plain;

	n += s->n;
	if (all && out) {
		memcpy(all, s->held, s->n);
		memcpy(all + s->n, bytes, n - s->n);
		for (unsigned len; at < n && (len = look(all + at, n - at,
		                                         colours ? "\n\t\033" : "\n\t", &plain));
		     at += len)
			end += give(all + at, len, plain, end);
		s->n = n - at;
		memcpy(s->held, all + at, s->n);
		*end = 0;
	}
	free(all);
	if (all)
		return out;
	free(out);
	return NULL;
}
