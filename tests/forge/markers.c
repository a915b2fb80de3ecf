/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The marker stream, and the headers of all frames. */
#include "tests/forge/forge.h"

#include <string.h>
#include <lizard/marker.h>
#include <tests/fuzz/pieces.h>

static const char *stream_name(void)
{
	static char name[64];
	struct lz_meta m;

	*name = 0;
	if (lz_meta_read(".", &m) < 0)
		return name;
	snprintf(name, sizeof(name), "markers-%u", m.tid);
	lz_meta_free(&m);
	return name;
}

/* Another edge, another function, or what is no marker. */
static void forge_bytes(struct lz_buf *raw)
{
	static const uint8_t codes[] = {0,        1,       LZ_EDGE_MAX, LZ_WIDE,    LZ_WIDE32,
	                                LZ_ENTER, LZ_EXIT, LZ_TAIL,     LZ_LANDING, 0xff};
	size_t goal = pick((uint32_t)raw->len), at = 0;

	for (unsigned n; at < goal && (n = lz_marker_size(raw->p[at])) && at + n < raw->len;)
		at += n;
	if (pick(2)) {
		uint32_t to = (uint32_t)value_address();
		memcpy(raw->p + at, &to, raw->len - at < 4 ? raw->len - at : 4);
		note("markers: %#x at %zu", to, at);
		return;
	}
	uint8_t code = codes[pick(N_OF(codes))];
	note("markers: %#x -> %#x at %zu", raw->p[at], code, at);
	raw->p[at] = code;
}

bool forge_markers(void)
{
	const char *name = part_pick(stream_name());
	struct pieces all = name ? take_apart(name) : (struct pieces){0};

	if (!all.n)
		return false;
	struct piece *p = &all.v[pick(all.n)];
	if (p->f.type == LZ_FRAME_MARKERS && p->f.raw_len) {
		struct lz_buf raw = piece_raw(p);
		forge_bytes(&raw);
		piece_set(p, &raw);
	} else {
		p->f.key1 = value_number(p->f.key1);
		note("checksum of markers %#llx", (unsigned long long)p->f.key1);
	}
	put_together(&all, name);
	return true;
}

static bool put_code(const char *part, const void *arg)
{
	const struct payload *code = arg;
	struct pieces all = take_apart(part);
	size_t len = (size_t)(code->end - code->code);
	bool done = false;

	for (uint32_t i = 0; i < all.n; i++) {
		struct piece *p = &all.v[i];
		if (p->f.type != LZ_FRAME_MARKERS || p->f.raw_len < len)
			continue;
		struct lz_buf raw = piece_raw(p);
		memcpy(raw.p, code->code, len);
		piece_set(p, &raw);
		done = true;
	}
	if (done)
		put_together(&all, part);
	pieces_free(&all);
	return done;
}

bool markers_become(const struct payload *code)
{
	return part_each(stream_name(), put_code, code);
}

#define H(member, kind) FIELD(struct lz_frame, member, kind)
static const struct field of_header[] = {H(count, NUMBER), H(key0, NUMBER), H(key1, NUMBER),
                                         H(flags, SMALL)};

bool forge_header(void)
{
	const char *name = pick(2)   ? part_pick("events")
	                   : pick(2) ? part_pick("checkpoints")
	                             : part_pick(stream_name());
	struct pieces all = name ? take_apart(name) : (struct pieces){0};

	if (!all.n)
		return false;
	struct piece *p = &all.v[pick(all.n)];
	field_forge(&p->f, &of_header[pick(N_OF(of_header))], "header");
	note("frame of type %u in %s", p->f.type, name);
	put_together(&all, name);
	return true;
}
