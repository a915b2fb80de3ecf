/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lists the program's mappings: without the recorder's, and with the name of its vDSO. */
#include "tracer/calls/calls.h"
#include "tracer/calls/proc_files.h"

#include <common/base/array.h>
#include <common/process/vdso.h>
#include <ctype.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_AT = 73 };

/* What smaps tells of a mapping begins with a capital. */
static bool begins_one(const char *line)
{
	return isdigit((unsigned char)*line) || islower((unsigned char)*line);
}

static bool is_vdso(const struct lz_tracer *t, uint64_t start)
{
	const ptrdiff_t i = lz_vmas_find(&t->vmas, start);

	return i >= 0 && t->vmas.a[i].v.start == start && lz_vdso_was(&t->p, &t->vmas.a[i].v);
}

static int add(struct lz_proc_text *to, const char *bytes, size_t n)
{
	if (lz_reserve(to->bytes, to->room, to->len + n + 1) < 0)
		return lz_fail("no memory for the program's mappings");
	memcpy(to->bytes + to->len, bytes, n);
	to->len += n;
	to->bytes[to->len] = 0;
	return 0;
}

/* A line of LEN bytes, without its end. */
static int add_vdso(struct lz_proc_text *to, const char *line, size_t len)
{
	static const char name[] = "[vdso]\n";

	if (add(to, line, len) < 0)
		return -1;
	for (; len < NAMES_AT; len++)
		if (add(to, " ", 1) < 0)
			return -1;
	return add(to, name, strlen(name));
}

/* What is told of one mapping. */
struct block {
	const char *line, *details; /* further lines, up to */
	const char *end;
	uint64_t start, stop;
};

static struct block block_at(const char *line)
{
	struct block b = {.line = line};
	char *dash;

	b.start = strtoull(line, &dash, 16);
	b.stop = *dash == '-' ? strtoull(dash + 1, NULL, 16) : b.start + 1; /* numa_maps has none */
	b.details = strchrnul(line, '\n');
	b.details += *b.details == '\n';
	for (b.end = b.details; *b.end && !begins_one(b.end);) {
		b.end = strchrnul(b.end, '\n');
		b.end += *b.end == '\n';
	}
	return b;
}

/* The part [START, STOP) of B. The kernel makes one of memory of the program's and of ours that is alike. */
static int add_part(const struct lz_tracer *t, struct lz_proc_text *to, const struct block *b,
                    uint64_t start, uint64_t stop)
{
	const bool whole = start == b->start && stop == b->stop,
	           is_named = whole && b->stop > b->start + 1;
	const char *rest = whole ? b->line : strchrnul(b->line, ' ');
	const size_t len = (size_t)(b->details - rest);
	char range[40] = "";
	int ret = 0;

	if (!whole) {
		snprintf(range, sizeof(range), "%08lx-%08lx", (unsigned long)start,
		         (unsigned long)stop);
		ret = add(to, range, strlen(range));
	}
	if (ret == 0)
		ret = is_named && is_vdso(t, start) ? add_vdso(to, rest, len - 1)
		                                    : add(to, rest, len);
	return ret < 0 ? -1 : add(to, b->details, (size_t)(b->end - b->details));
}

static int copy(const struct lz_tracer *t, const char *text, struct lz_proc_text *to)
{
	struct block b;
	int ret = 0;

	for (const char *line = text; *line && !ret; line = b.end) {
		b = block_at(line);
		for (uint64_t at = b.start, end; at < b.stop && !ret; at = end) {
			const bool ours = lz_own_pages_at(t, at, &end);

			end = end < b.stop ? end : b.stop;
			if (!ours)
				ret = add_part(t, to, &b, at, end);
		}
	}
	return ret;
}

int lz_proc_mappings_mend(const struct lz_tracer *t, struct lz_proc_text *x)
{
	struct lz_proc_text mended = {0};

	if (add(&mended, "", 0) < 0 || copy(t, x->bytes, &mended) < 0) {
		free(mended.bytes);
		return -1;
	}
	free(x->bytes);
	*x = mended;
	return 0;
}
