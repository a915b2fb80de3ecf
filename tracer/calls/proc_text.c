/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of files in /proc that the program is about to read. */
#include "tracer/calls/proc_files.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXTS = 8, CHUNK = 1 << 16 };

/* What is being read. */
static struct reading {
	int fd;
	uint32_t tid;
	char name[LZ_PROC_NAME];
	struct lz_proc_text text;
} readings[TEXTS];

static int load(struct lz_proc_text *x, int copy)
{
	ssize_t n;

	x->len = 0;
	do {
		if (lz_reserve(x->bytes, x->room, x->len + CHUNK + 1) < 0)
			return lz_fail("no memory for a file in /proc");
		n = pread(copy, x->bytes + x->len, CHUNK, (off_t)x->len);
		x->len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	x->bytes[x->len] = 0;
	return 0;
}

static void drop(struct reading *r)
{
	free(r->text.bytes);
	*r = (struct reading){0};
}

static bool is_of(const struct reading *r, int fd, const struct lz_proc_file *file)
{
	return r->text.bytes && r->fd == fd && r->tid == file->who->tid &&
	       !strcmp(r->name, file->name);
}

static int mend(const struct lz_tracer *t, const struct lz_proc_file *file, struct lz_proc_text *x)
{
	return strcmp(file->name, "status") == 0 ? lz_proc_status_mend(t, file->who, x)
	                                         : lz_proc_mappings_mend(t, x);
}

const struct lz_proc_text *lz_proc_text_of(const struct lz_tracer *t, int fd, int copy,
                                           const struct lz_proc_file *file, bool anew)
{
	struct reading *r = &readings[(unsigned)fd % TEXTS];

	if (!anew && is_of(r, fd, file))
		return &r->text;
	drop(r);
	r->fd = fd;
	r->tid = file->who->tid;
	memcpy(r->name, file->name, sizeof(r->name));
	if (load(&r->text, copy) == 0 && mend(t, file, &r->text) == 0)
		return &r->text;
	drop(r);
	return NULL;
}

void lz_proc_text_read(int fd)
{
	struct reading *r = &readings[(unsigned)fd % TEXTS];

	if (r->fd == fd)
		drop(r);
}
