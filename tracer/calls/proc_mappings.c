/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lists the program's mappings: without the recorder's, and with the name of its vDSO. */
#include "tracer/calls/calls.h"
#include "tracer/calls/proc_files.h"

#include <common/base/array.h>
#include <common/process/vdso.h>
#include <ctype.h>
#include <lizard/error.h>
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

/* NAMED: the lines that begin a mapping have names. */
static int copy(const struct lz_tracer *t, const char *text, bool named, struct lz_proc_text *to)
{
	bool ours = false;
	int ret = 0;

	for (const char *line = text, *next; *line && !ret; line = next) {
		const char *end = strchrnul(line, '\n');
		const uint64_t start = strtoull(line, NULL, 16);

		next = *end ? end + 1 : end;
		if (begins_one(line))
			ours = lz_own_pages_touch(t, start, start + 1);
		if (ours)
			continue;
		if (named && begins_one(line) && is_vdso(t, start))
			ret = add_vdso(to, line, (size_t)(end - line));
		else
			ret = add(to, line, (size_t)(next - line));
	}
	return ret;
}

int lz_proc_mappings_mend(const struct lz_tracer *t, const char *name, struct lz_proc_text *x)
{
	struct lz_proc_text mended = {0};

	if (add(&mended, "", 0) < 0 ||
	    copy(t, x->bytes, strcmp(name, "numa_maps") != 0, &mended) < 0) {
		free(mended.bytes);
		return -1;
	}
	free(x->bytes);
	*x = mended;
	return 0;
}
