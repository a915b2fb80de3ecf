/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmds/dump.h>
#include <common/base/text.h>
#include <common/base/array.h>
#include <common/base/print.h>
#include <lizard/cfg.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include <replayer/stream/decode.h>
#include <replayer/program/modules.h>
#include <replayer/stream/threads.h>

/* A function that was entered. */
struct fn {
	const struct lz_cfg *cfg;
	const struct lz_cfg_func *f;
	uint32_t *edge; /* [f->n_markers + 1]: graph edge with this marker id + 1, 0 = none */
};

/* Where an entry address led last, for as long as its module stays mapped. */
struct hint {
	uint32_t entry, fn;
	uint64_t from, to;
};
enum { N_HINTS = 4096 };

struct names {
	struct lz_modules *modules; /* NULL: numbers only */
	struct fn *fn;
	uint32_t n, cap;
	struct hint hint[N_HINTS];
	struct lz_dump *d;
	struct lz_turns turns; /* none: not known */
	struct lz_stream_threads threads;
	uint32_t tid;  /* whose markers these are */
	uint32_t turn; /* the one at hand */
};

/* ---- which function ---- */

static uint32_t add_fn(struct names *s, const struct lz_cfg *cfg, const struct lz_cfg_func *f)
{
	struct fn *fn;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->fn[i].f == f)
			return i;
	if (lz_reserve(s->fn, s->cap, s->n + 1) < 0)
		return LZ_FN_NONE;
	fn = &s->fn[s->n];
	*fn = (struct fn){cfg, f, calloc((size_t)f->n_markers + 1, sizeof(uint32_t))};
	for (size_t i = 0; fn->edge && i < f->graph.n_edges; i++)
		if (f->graph.edges[i].marker <= f->n_markers)
			fn->edge[f->graph.edges[i].marker] = (uint32_t)i + 1;
	return s->n++;
}

static uint32_t find_in(struct names *s, struct lz_module *mod, uint32_t entry)
{
	uint64_t addr = (mod->start & ~0xffffffffull) | entry;
	const struct lz_cfg_func *f;
	struct lz_cfg *cfg;

	if (addr < mod->start)
		addr += 1ull << 32;
	if (addr >= mod->end || !(cfg = lz_module_cfg(s->modules, mod)))
		return LZ_FN_NONE;
	f = lz_cfg_func_at(cfg, addr - mod->bias);
	return f ? add_fn(s, cfg, f) : LZ_FN_NONE;
}

static uint32_t resolve(void *arg, uint32_t entry, uint64_t offset)
{
	struct names *s = arg;
	struct hint *h = &s->hint[(entry >> 4) % N_HINTS];

	if (h->entry == entry && offset >= h->from && offset < h->to)
		return h->fn;
	for (size_t i = 0; s->modules && i < lz_modules_count(s->modules); i++) {
		struct lz_module *mod = lz_modules_get(s->modules, i);
		uint32_t fn;

		if (offset < mod->from_marker || offset >= mod->to_marker)
			continue;
		fn = find_in(s, mod, entry);
		if (fn != LZ_FN_NONE) {
			*h = (struct hint){entry, fn, mod->from_marker, mod->to_marker};
			return fn;
		}
	}
	return LZ_FN_NONE;
}

static uint32_t n_markers(void *arg, uint32_t fn)
{
	struct names *s = arg;

	return fn < s->n ? s->fn[fn].f->n_markers : UINT32_MAX;
}

/* ---- what to say of it ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "file.c:17" of a block's first line, "" if it has none. */
static void place_of(const struct fn *fn, uint32_t node, char out[128])
{
	const struct lz_cfg_block *b;
	const struct lz_cfg_line *l;
	const char *file;

	*out = 0;
	if (node >= fn->f->graph.n_nodes || !fn->f->blocks[node].n_lines)
		return;
	b = &fn->f->blocks[node];
	l = &fn->f->lines[b->first_line];
	file = lz_cfg_file_name(fn->cfg, l->file);
	snprintf(out, 128, "%.100s:%u", file ? base_name(file) : "?", l->line);
}

static const char *code_name(uint8_t code)
{
	switch (code) {
	case LZ_ENTER: return "enter";
	case LZ_EXIT: return "exit";
	case LZ_TAIL: return "tail";
	case LZ_LANDING: return "landing";
	default: return "edge";
	}
}

/* The function that a marker is about: for ENTER and LANDING the one that it names. */
static const struct fn *fn_of(struct names *s, struct lz_decoder *d, const struct lz_mark *m)
{
	const struct lz_act *top = lz_decoder_top(d);
	uint32_t fn = top ? top->fn : LZ_FN_NONE;

	if (m->code == LZ_ENTER || m->code == LZ_LANDING)
		fn = resolve(s, m->entry, m->offset);
	return fn < s->n ? &s->fn[fn] : NULL;
}

static const struct lz_edge *edge_of(const struct fn *fn, const struct lz_mark *m)
{
	uint32_t e = fn && fn->edge && m->id && m->id <= fn->f->n_markers ? fn->edge[m->id] : 0;

	return e ? &fn->f->graph.edges[e - 1] : NULL;
}

static void print_text(struct names *s, const struct fn *fn, const struct lz_mark *m)
{
	const struct lz_edge *e = edge_of(fn, m);
	char from[128], to[128];

	lz_print(stdout, "marker %u:%" PRIu64 "  %s", s->tid, m->offset, code_name(m->code));
	if (m->id)
		printf(" %u", m->id);
	if (fn)
		lz_print(stdout, "  %s", fn->f->name);
	else if (m->code == LZ_ENTER || m->code == LZ_LANDING)
		printf("  0x%x", m->entry);
	if (m->code == LZ_ENTER && fn && fn->f->file)
		lz_print(stdout, "  %s:%u", base_name(fn->f->file), fn->f->line);
	if (m->code == LZ_LANDING)
		printf("  frame 0x%x", m->frame);
	if (e) {
		place_of(fn, e->src, from);
		place_of(fn, e->dst, to);
		lz_print(stdout, "  %s -> %s", *from ? from : "?", *to ? to : "?");
	}
	putchar('\n');
}

static int print_json(struct names *s, const struct fn *fn, const struct lz_mark *m)
{
	const struct lz_edge *e = edge_of(fn, m);
	json_t *o = json_object();
	char place[128];

	json_object_set_new(o, "part", json_string("marker"));
	json_object_set_new(o, "tid", json_integer(s->tid));
	json_object_set_new(o, "offset", json_integer((json_int_t)m->offset));
	json_object_set_new(o, "kind", json_string(code_name(m->code)));
	if (m->id)
		json_object_set_new(o, "id", json_integer(m->id));
	if (fn)
		json_object_set_new(o, "function", lz_json_text(fn->f->name));
	if (m->code == LZ_ENTER || m->code == LZ_LANDING)
		json_object_set_new(o, "entry", lz_json_hex(m->entry));
	if (m->code == LZ_LANDING)
		json_object_set_new(o, "frame", lz_json_hex(m->frame));
	if (e) {
		place_of(fn, e->src, place);
		json_object_set_new(o, "from", lz_json_text(place));
		place_of(fn, e->dst, place);
		json_object_set_new(o, "to", lz_json_text(place));
	}
	return lz_json_print(o);
}

enum { ENOUGH = -2 }; /* the limit is reached, or nobody reads on */

static int print_mark(void *arg, struct lz_decoder *d, const struct lz_mark *m)
{
	struct names *s = arg;
	const struct fn *fn;

	if (s->d->lines >= s->d->limit || ferror(stdout))
		return ENOUGH;
	s->d->lines++;
	fn = fn_of(s, d, m);
	if (s->d->json)
		return print_json(s, fn, m);
	print_text(s, fn, m);
	return 0;
}

/* ---- the stream ---- */

/* Up to the next turn that begins behind START; those that begin there are begun. */
static int begin_turns(struct names *s, struct lz_decoder *dec, uint64_t start, uint64_t *end)
{
	const struct lz_turns *t = &s->turns;

	while (s->turn + 1 < t->n && t->v[s->turn + 1].marker <= start)
		s->turn++;
	if (s->turn + 1 < t->n && t->v[s->turn + 1].marker < *end)
		*end = t->v[s->turn + 1].marker;
	if (!t->n)
		return 0;
	s->tid = t->v[s->turn].tid;
	return lz_decoder_switch(dec, s->threads.number[s->turn]);
}

static int dump_bytes(struct names *s, struct lz_decoder *dec, const uint8_t *buf, uint64_t start,
                      uint64_t len)
{
	for (uint64_t at = start, end; at < start + len; at = end) {
		end = start + len;
		if (begin_turns(s, dec, at, &end) < 0)
			return -1;
		int64_t n =
		    lz_decoder_feed(dec, buf + (at - start), end - at, at, NULL, print_mark, s);
		if (n < 0)
			return (int)n;
		if ((uint64_t)n != end - at)
			return lz_fail("the marker stream, byte %" PRIu64 ": no marker",
			               at + (uint64_t)n);
	}
	return 0;
}

static int dump_block(struct names *s, struct lz_decoder *dec, uint32_t tid, uint64_t start,
                      uint64_t len)
{
	uint8_t *buf = malloc(len + 1);
	int64_t n = buf ? lz_reader_markers(s->d->r, tid, start, buf, len)
	                : lz_fail("no memory for a block of markers");

	if (n >= 0)
		n = dump_bytes(s, dec, buf, start, (uint64_t)n);
	free(buf);
	return (int)n;
}

static int dump_stream(struct names *s, uint32_t tid)
{
	struct lz_decoder dec;
	int rc = 0;

	lz_decoder_init(&dec);
	dec.resolve = resolve;
	dec.n_markers = n_markers;
	dec.arg = s;
	s->tid = tid;
	if (s->d->limit == UINT64_MAX)
		lz_reader_expect(s->d->r, tid, 0, lz_reader_n_blocks(s->d->r, tid));
	for (uint32_t i = 0; rc == 0 && i < lz_reader_n_blocks(s->d->r, tid); i++) {
		uint64_t start, len;

		rc = lz_reader_block(s->d->r, tid, i, &start, &len);
		if (rc == 0)
			rc = dump_block(s, &dec, tid, start, len);
	}
	lz_decoder_free(&dec);
	return rc;
}

static void find_turns(struct names *s)
{
	if (lz_turns_read(&s->turns, s->d->r) == 0 &&
	    lz_stream_threads_init(&s->threads, &s->turns) == 0)
		return;
	lz_warn("which thread wrote what is not known: %s", lz_error());
	lz_turns_free(&s->turns);
}

static void free_names(struct names *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->fn[i].edge);
	lz_stream_threads_free(&s->threads);
	lz_turns_free(&s->turns);
	lz_modules_free(s->modules);
	free(s->fn);
	free(s);
}

int lz_dump_markers(struct lz_dump *d)
{
	struct names *s = calloc(1, sizeof(*s));
	int rc = 0;

	if (!s)
		return lz_fail("no memory");
	s->d = d;
	s->modules = lz_modules_new(d->r);
	if (!s->modules)
		lz_warn("no function names: %s", lz_error());
	find_turns(s);
	for (uint32_t i = 0; rc == 0 && i < lz_reader_n_threads(d->r); i++)
		rc = dump_stream(s, lz_reader_tid(d->r, i));
	free_names(s);
	return rc == ENOUGH ? 0 : rc;
}
