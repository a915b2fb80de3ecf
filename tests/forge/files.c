/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file table, and the copies that it names. */
#include "tests/forge/forge.h"

#include <stdlib.h>
#include <string.h>
#include <common/cfg/records.h>
#include <tests/fuzz/pieces.h>

static const struct field size = FIELD(struct lz_file, size, LENGTH);

/* Code somewhere in the copy, which has the right checksum then. */
static void forge_copy(struct lz_file *f, uint32_t index)
{
	const struct payload *p = payload_pick();
	size_t len = (size_t)(p->end - p->code);
	char name[300];

	snprintf(name, sizeof(name), "files/%s", f->copy);
	struct lz_buf b = slurp(name);
	uint64_t at = value_offset(index, b.len);
	if (at + len <= b.len) {
		memcpy(b.p + at, p->code, len);
		spill(name, b.p, b.len);
		f->crc = (uint32_t)crc32_z(0, b.p, b.len);
	}
	note("%s at %#llx of %s", p->name, (unsigned long long)at, f->copy);
	lz_buf_free(&b);
}

static void forge_entry(struct lz_file *f, uint32_t index, const char *other)
{
	switch (pick(*f->copy ? 6 : 3)) {
	case 0:
		f->path = strdup(value_text());
		note("file path `%.60s`", f->path);
		break;
	case 1:
		f->build_id = strndup(value_text(), 255);
		note("file build-id `%.60s`", f->build_id);
		break;
	case 2: field_forge(f, &size, "file"); break;
	case 3:
		f->copy = strdup(pick(2) ? other : pick(2) ? "" : "none");
		note("file copy `%s`", f->copy);
		break;
	default: forge_copy(f, index);
	}
}

static bool file_of(const struct piece *p, struct lz_file *f)
{
	struct lz_buf raw = piece_raw(p);
	bool well = lz_file_get(&raw, f) == 0;

	lz_buf_free(&raw);
	return well;
}

bool forge_file(void)
{
	const char *name = part_pick("events");
	struct pieces all = name ? take_apart(name) : (struct pieces){0};
	uint32_t n = 0, at[1024];
	struct lz_file f, other;
	struct lz_buf b = {0};

	for (uint32_t i = 0; i < all.n && n < N_OF(at); i++)
		if (all.v[i].f.type == LZ_FRAME_FILE)
			at[n++] = i;
	if (!n)
		return false;
	struct piece *p = &all.v[at[pick(n)]];
	if (!file_of(p, &f) || !file_of(&all.v[at[pick(n)]], &other))
		return false;
	forge_entry(&f, (uint32_t)p->f.key0, other.copy);
	lz_file_put(&b, &f);
	note("file %llu", (unsigned long long)p->f.key0);
	piece_set(p, &b);
	put_together(&all, name);
	return true;
}
