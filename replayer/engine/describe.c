/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A difference of the marker stream, said at source level where the program's CFG is known. */
#include "replayer/engine/engine.h"
#include "replayer/stream/stream.h"
#include <lizard/marker.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct teller {
	FILE *f;
	struct lz_stream *st;
	const struct lz_fn *fn; /* in which the marker is written; NULL unknown */
};

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "?";
}

static void print_line(const struct teller *t, uint32_t block, bool last)
{
	const struct lz_cfg_func *f = t->fn->f;
	const struct lz_cfg_block *b = block < f->graph.n_nodes ? &f->blocks[block] : NULL;

	if (!b || !b->n_lines) {
		fprintf(t->f, "%s:%" PRIu32, base_name(f->file), f->line);
		return;
	}
	const struct lz_cfg_line *l = &f->lines[b->first_line + (last ? b->n_lines - 1 : 0)];
	fprintf(t->f, "%s:%" PRIu32, base_name(lz_cfg_file_name(t->fn->mod->cfg, l->file)),
	        l->line);
}

/* Blocks without lines of their own lead to the next one that has some. */
static uint32_t with_lines(const struct lz_cfg_func *f, uint32_t block)
{
	for (unsigned steps = 0; steps < 16; steps++) {
		uint32_t next = UINT32_MAX, n = 0;
		if (block >= f->graph.n_nodes || f->blocks[block].n_lines)
			break;
		for (size_t i = 0; i < f->graph.n_edges; i++)
			if (f->graph.edges[i].src == block)
				next = f->graph.edges[i].dst, n++;
		if (n != 1)
			break;
		block = next;
	}
	return block;
}

static void print_edge(const struct teller *t, uint32_t id)
{
	const struct lz_cfg_func *f = t->fn ? t->fn->f : NULL;

	for (size_t i = 0; f && i < f->graph.n_edges; i++) {
		if (f->graph.edges[i].marker != id)
			continue;
		print_line(t, f->graph.edges[i].src, true);
		fprintf(t->f, " -> ");
		print_line(t, with_lines(f, f->graph.edges[i].dst), false);
		fprintf(t->f, " (edge %" PRIu32 ")", id);
		return;
	}
	fprintf(t->f, "edge %" PRIu32, id);
}

static void print_function(const struct teller *t, uint32_t entry)
{
	for (size_t i = 0; t->st && i < lz_stream_n_fns(t->st); i++) {
		const struct lz_fn *fn = lz_stream_fn(t->st, (uint32_t)i);
		if ((uint32_t)(fn->f->entry + fn->mod->bias) != entry)
			continue;
		fprintf(t->f, "%s (%s:%" PRIu32 ")", fn->f->name, base_name(fn->f->file),
		        fn->f->line);
		return;
	}
	fprintf(t->f, "the function at ...%08" PRIx32, entry);
}

static void print_marker(const struct teller *t, const uint8_t *p, size_t len)
{
	unsigned size = len ? lz_marker_size(*p) : 0;
	const char *name = t->fn ? t->fn->f->name : "the function";
	uint32_t v = 0;

	if (!size || size > len) {
		fprintf(t->f, "nothing");
		return;
	}
	memcpy(&v, p + 1, size - 1 < sizeof v ? size - 1 : sizeof v);
	switch (*p) {
	case LZ_WIDE:
	case LZ_WIDE32: print_edge(t, v); break;
	case LZ_ENTER:
		fprintf(t->f, "a call of ");
		print_function(t, v);
		break;
	case LZ_EXIT: fprintf(t->f, "the return from %s", name); break;
	case LZ_TAIL: fprintf(t->f, "a tail call from %s", name); break;
	case LZ_LANDING:
		fprintf(t->f, "a landing in ");
		print_function(t, v);
		break;
	default: print_edge(t, *p);
	}
}

/* The function that has written the marker before stream offset OFFSET in the thread that runs. */
static const struct lz_fn *function_at(struct lz_engine *e, struct lz_stream *st,
                                       const struct lz_stream_threads *t, uint64_t offset)
{
	struct lz_decoder *d =
	    st ? lz_stream_stack(st, offset, lz_stream_thread_at(t, e->event)) : NULL;
	struct lz_act *top = d ? lz_decoder_top(d) : NULL;

	return top && top->fn != LZ_FN_NONE ? lz_stream_fn(st, top->fn) : NULL;
}

char *lz_describe_markers(struct lz_engine *e, uint64_t offset, const uint8_t *got, size_t len)
{
	struct lz_reader *r = e->rp->reader;
	const struct lz_turns *turns = lz_replay_turns(e->rp);
	struct lz_stream_threads threads = {0};
	uint8_t want[LZ_MARKER_MAX_SIZE];
	char *text = NULL;
	size_t text_len;
	int64_t n = lz_reader_markers(r, e->rp->tid, offset, want, sizeof want);
	struct teller t = {.f = open_memstream(&text, &text_len)};

	if (!t.f)
		return NULL;
	struct lz_modules *m = lz_modules_new(r);
	if (m && turns && !lz_stream_threads_init(&threads, turns))
		t.st = lz_stream_new(r, m, &threads);
	t.fn = function_at(e, t.st, &threads, offset);
	fprintf(t.f, "marker %" PRIu64, offset);
	if (t.fn)
		fprintf(t.f, " in %s", t.fn->f->name);
	fprintf(t.f, ": expected ");
	print_marker(&t, want, n > 0 ? (size_t)n : 0);
	fprintf(t.f, ", got ");
	print_marker(&t, got, len);
	fclose(t.f);
	lz_stream_free(t.st);
	lz_stream_threads_free(&threads);
	lz_modules_free(m);
	return text;
}

/* Where the program is now: "in NAME at FILE:LINE". */
static void print_place(FILE *f, struct lz_engine *e, struct lz_modules *m)
{
	struct lz_module *mod = m ? lz_modules_at(m, e->regs.rip, e->event) : NULL;
	struct lz_lines *l = mod ? lz_module_lines(m, mod) : NULL;
	struct lz_range fn = {0};

	if (!l || !lz_lines_function(l, e->regs.rip - mod->bias, &fn) || !fn.name) {
		fprintf(f, "at %#" PRIx64, (uint64_t)e->regs.rip);
		return;
	}
	struct lz_sal sal = lz_lines_find(l, e->regs.rip - mod->bias);
	fprintf(f, "in %s", fn.name);
	if (sal.line)
		fprintf(f, " at %s:%" PRIu32, base_name(sal.file), sal.line);
}

char *lz_describe_flow(struct lz_engine *e, uint64_t from, uint64_t upto)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	struct lz_modules *m = lz_modules_new(e->rp->reader);
	fprintf(f,
	        "the markers from %" PRIu64 " to %" PRIu64
	        " are not those recorded, of which there is only a checksum; the program is now ",
	        from, upto);
	print_place(f, e, m);
	lz_modules_free(m);
	fclose(f);
	return text;
}
