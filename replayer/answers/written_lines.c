/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/written_lines.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

struct lz_written_line *lz_written_line(struct lz_written_lines *l, uint32_t fd)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].fd == fd)
			return &l->v[i];
	if (lz_reserve(l->v, l->room, l->n + 1) < 0)
		return NULL;
	l->v[l->n] = (struct lz_written_line){.fd = fd, .begins = true};
	return &l->v[l->n++];
}

int lz_written_line_take(void *line, const uint8_t *bytes, size_t n)
{
	struct lz_written_line *l = line;
	const size_t room = LZ_WRITTEN_MOST - (l->n - l->old);

	if (n > room)
		n = room;
	if (lz_reserve(l->text, l->room, l->n + n + 1) < 0)
		return -1;
	memcpy(l->text + l->n, bytes, n);
	l->text[l->n += n] = 0;
	return n == room;
}

void lz_written_line_over(struct lz_written_line *l)
{
	const uint8_t *end = l->n ? memrchr(l->text, '\n', l->n) : NULL;
	size_t cut = end ? (size_t)(end + 1 - l->text) : 0;

	if (end)
		l->begins = true;
	if (l->n - cut > LZ_WRITTEN_BEFORE) {
		cut = l->n - LZ_WRITTEN_BEFORE;
		l->begins = false;
	}
	if (cut)
		memmove(l->text, l->text + cut, l->n - cut + 1);
	l->old = l->n -= cut;
}

bool lz_written_line_match(const struct lz_written_line *l, const regex_t *pattern, regmatch_t *m)
{
	const char *text = l->text ? (const char *)l->text : "";

	for (size_t at = 0; at <= l->n; at = (size_t)m->rm_so + 1) {
		const bool begins = at ? text[at - 1] == '\n' : l->begins;
		*m = (regmatch_t){(regoff_t)at, (regoff_t)l->n};
		if (regexec(pattern, text, 1, m, REG_STARTEND | (begins ? 0 : REG_NOTBOL)))
			return false;
		if ((size_t)m->rm_eo > l->old || (!l->old && l->n))
			return true;
	}
	return false;
}

void lz_written_lines_free(struct lz_written_lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].text);
	free(l->v);
	*l = (struct lz_written_lines){0};
}
