/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include <lizard/recording.h>

/* V with a comma between each three digits, as people read it. */
static void commas(uint64_t v, char out[32])
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);
	char *p = out;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = 0;
}

void lz_pos_print(const struct lz_pos *p, char buf[LZ_POS_TEXT])
{
	char marker[32], event[32];

	commas(p->marker, marker);
	commas(p->event, event);
	snprintf(buf, LZ_POS_TEXT, "%u:%s.%s@0x%llx#%u", p->tid, marker, event,
	         (unsigned long long)p->ip, p->n);
}

/* A number that ends at the character STOP (or the end of the text, if STOP is 0); commas are
 * skipped. */
static int number(const char **text, char stop, uint64_t max, uint64_t *out)
{
	char digits[72];
	size_t n = 0;
	const char *p = *text;
	char *end;

	for (; *p && *p != stop; p++) {
		if (*p == ',')
			continue;
		if (!isxdigit((unsigned char)*p) && *p != 'x')
			return -1;
		if (n == sizeof(digits) - 1)
			return -1;
		digits[n++] = *p;
	}
	if (!n)
		return -1;
	digits[n] = 0;
	errno = 0;
	*out = strtoull(digits, &end, !strncmp(digits, "0x", 2) ? 16 : 10);
	if (*end || errno || *out > max || *p != stop)
		return -1;
	*text = p + (stop != 0);
	return 0;
}

int lz_pos_parse(const char *text, struct lz_pos *p)
{
	const char *t = text;
	bool counted = strchr(text, '#');
	uint64_t tid, n = 1;

	if (number(&t, ':', UINT32_MAX, &tid) < 0 || number(&t, '.', UINT64_MAX, &p->marker) < 0 ||
	    number(&t, '@', UINT64_MAX, &p->event) < 0 ||
	    number(&t, counted ? '#' : 0, UINT64_MAX, &p->ip) < 0 ||
	    (counted && number(&t, 0, UINT32_MAX, &n) < 0) || !n)
		return lz_fail("`%s` is not a position: THREAD:MARKER.EVENT@ADDRESS#N is one",
		               text);
	p->tid = (uint32_t)tid;
	p->n = (uint32_t)n;
	return 0;
}

int lz_instant_parse(const char *text, struct lz_pos *p)
{
	const char *t = text;
	uint64_t tid;

	*p = (struct lz_pos){0};
	if (number(&t, ':', UINT32_MAX, &tid) < 0 || number(&t, 0, UINT64_MAX, &p->marker) < 0)
		return lz_fail("`%s` is no instant: THREAD:MARKER is one", text);
	p->tid = (uint32_t)tid;
	return 0;
}

bool lz_pos_same(const struct lz_pos *a, const struct lz_pos *b)
{
	return a->tid == b->tid && a->event == b->event && a->marker == b->marker &&
	       a->ip == b->ip && a->n == b->n;
}
