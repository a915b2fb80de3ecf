/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/compare/ways.h"

#include "replayer/answers/last_frames.h"
#include "replayer/program/block_calls.h"
#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>

/* ---- source lines ---- */

static struct lz_source source_of(const struct lz_tokens *t, const struct lz_fn *fn, uint32_t line)
{
	const struct lz_cfg_line *l = &fn->f->lines[line];
	struct lz_cfg *cfg = lz_module_cfg(t->a->modules, fn->mod);

	return (struct lz_source){lz_cfg_file_name(cfg, l->file), l->line};
}

static struct lz_source first_line(const struct lz_tokens *t, const struct lz_fn *fn, uint32_t node)
{
	const struct lz_cfg_block *b = node < fn->f->graph.n_nodes ? &fn->f->blocks[node] : NULL;

	return b && b->n_lines ? source_of(t, fn, b->first_line) : (struct lz_source){0};
}

static struct lz_source last_line(const struct lz_tokens *t, const struct lz_fn *fn, uint32_t node)
{
	const struct lz_cfg_block *b = node < fn->f->graph.n_nodes ? &fn->f->blocks[node] : NULL;

	return b && b->n_lines ? source_of(t, fn, b->first_line + b->n_lines - 1)
	                       : (struct lz_source){0};
}

/* ---- paths ---- */

enum { MOST_OWN = 16 };

/* Of one run, the way of the activation from its last common marker on: over its own next ones, as
 * far as they are in the window. */
struct path {
	const struct lz_fn *fn;
	uint32_t own[MOST_OWN]; /* those markers; LZ_SET_EXIT is the last */
	size_t n_own;
	uint32_t *node;
	size_t n, room;
	size_t n_first; /* of the nodes, those before the first of these markers */
};

/* What the activation writes itself, behind what it calls. */
static void find_own(const struct lz_tokens *t, struct path *p)
{
	const uint32_t depth = t->n ? lz_tokens_at(t, 0)->depth : 0;

	for (size_t i = 0; i < t->n && p->n_own < MOST_OWN; i++) {
		const struct lz_token *k = lz_tokens_at(t, i);

		if (k->depth > depth || (k->code == LZ_ENTER && k->depth == depth))
			continue;
		if (k->depth < depth || k->code == LZ_LANDING)
			return;
		if (k->code == LZ_EXIT || k->code == LZ_TAIL) {
			p->own[p->n_own++] = LZ_SET_EXIT;
			return;
		}
		p->own[p->n_own++] = k->id;
	}
}

static uint32_t leads_to(const struct lz_graph *g, uint32_t marker)
{
	for (size_t i = 0; i < g->n_edges; i++)
		if (g->edges[i].marker == marker)
			return g->edges[i].dst;
	return UINT32_MAX;
}

/* Blocks without lines lead to the next one that has some. */
static uint32_t with_lines(const struct lz_cfg_func *f, uint32_t node)
{
	for (unsigned steps = 0; steps < 16; steps++) {
		uint32_t next = UINT32_MAX, n = 0;

		if (node >= f->graph.n_nodes || f->blocks[node].n_lines)
			break;
		for (size_t i = 0; i < f->graph.n_edges; i++)
			if (f->graph.edges[i].src == node)
				next = f->graph.edges[i].dst, n++;
		if (n != 1)
			break;
		node = next;
	}
	return node;
}

static int add_nodes(struct path *p, const uint32_t *node, size_t n)
{
	if (lz_reserve(p->node, p->room, p->n + n) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		p->node[p->n++] = node[i];
	return 0;
}

/* 1: from marker A to marker B there is a way; 0: none. */
static int add_way(struct lz_graph_walker *w, struct path *p, uint32_t a, uint32_t b)
{
	uint32_t *node = NULL;
	const int64_t n = lz_graph_walker_path(w, a, b, &node);
	const int rc = n < 0 ? lz_fail("out of memory for a path") : add_nodes(p, node, (size_t)n);

	free(node);
	return rc < 0 ? -1 : n > 0;
}

static int add_ways(struct lz_graph_walker *w, struct path *p, uint32_t last)
{
	const uint32_t end = p->n_own ? p->own[p->n_own - 1] : LZ_SET_EXIT;
	int rc = 1;

	for (size_t i = 0; rc > 0 && i < p->n_own; i++) {
		rc = add_way(w, p, i ? p->own[i - 1] : last, p->own[i]);
		if (!i)
			p->n_first = p->n;
	}
	if (rc <= 0 || end == LZ_SET_EXIT)
		return rc < 0 ? -1 : 0;
	const uint32_t to = leads_to(&p->fn->f->graph, end), lined = with_lines(p->fn->f, to);
	return to == UINT32_MAX ? 0 : add_nodes(p, (uint32_t[]){to, lined}, 2);
}

/* In which block the activation TOP is when the recording ends; false: it is not known. */
static bool find_last_block(const struct lz_tokens *t, const struct lz_act *top, uint32_t *node)
{
	const uint32_t tid = lz_asked_tid(t->a, t->thread);
	const bool at_end = t->end && !t->n && t->a->to == lz_stream_len(t->a->stream);
	uint32_t n = 0;
	struct lz_last_frames *f = at_end ? lz_last_frames_find(t->a, &n) : NULL;
	bool found = false;

	for (uint32_t i = 0; f && i < n; i++)
		if (f[i].tid == tid && f[i].n && f[i].v[0].fn == top->fn) {
			*node = f[i].v[0].node;
			found = true;
		}
	lz_last_frames_free(f, n);
	return found;
}

/* Up to where the run ends. */
static int add_last_way(struct lz_graph_walker *w, const struct lz_tokens *t,
                        const struct lz_act *top, struct path *p)
{
	uint32_t last, *node = NULL;

	if (!find_last_block(t, top, &last))
		return 0;
	const int64_t n = lz_graph_walker_path_to(w, top->last, last, &node);
	const int rc = n < 0 ? lz_fail("out of memory for a path") : add_nodes(p, node, (size_t)n);
	free(node);
	p->n_first = p->n;
	return rc;
}

static int find_path(const struct lz_tokens *t, const struct lz_act *top, struct path *p)
{
	find_own(t, p);
	p->fn = lz_stream_fn(t->a->stream, top->fn);
	if (!p->fn || top->last == LZ_LAST_LANDING)
		return 0;
	struct lz_graph_walker *w = lz_graph_walker_open(&p->fn->f->graph);
	if (!w)
		return lz_fail("out of memory for the paths of a function");
	lz_graph_walker_avoid(w, true);
	const int rc = p->n_own ? add_ways(w, p, top->last) : add_last_way(w, t, top, p);
	lz_graph_walker_close(w);
	return rc;
}

/* Up to the first marker that is not the same, and the block behind it. */
static size_t common(const struct path p[2])
{
	size_t n = 0;

	while (n < p[0].n && n < p[1].n && n <= p[0].n_first && n <= p[1].n_first &&
	       p[0].node[n] == p[1].node[n])
		n++;
	return n;
}

/* ---- ways ---- */

static bool is_delivery(const struct lz_tokens *t, const struct lz_token *k)
{
	size_t n;
	const struct lz_delivery *v = lz_modules_deliveries(t->a->modules, &n);
	size_t i = lz_lower_bound(m, n, v[m].marker < k->offset);

	for (; i < n && v[i].marker == k->offset; i++)
		for (size_t f = 0; f < t->fns->n_fns[t->side]; f++) {
			const struct lz_fn *fn = lz_stream_fn(t->a->stream, (uint32_t)f);

			if (fn->entry == (uint32_t)v[i].handler &&
			    lz_paired_fn(t->fns, t->side, (uint32_t)f) == k->id)
				return true;
		}
	return false;
}

static const struct lz_cfg_func *function(const struct lz_tokens *t, uint32_t number)
{
	for (size_t i = 0; i < t->fns->n_fns[t->side]; i++)
		if (t->fns->number[t->side][i] == number)
			return lz_stream_fn(t->a->stream, (uint32_t)i)->f;
	return NULL;
}

static struct lz_source definition(const struct lz_tokens *t, uint32_t number)
{
	const struct lz_cfg_func *f = function(t, number);

	return f ? (struct lz_source){f->file, f->line} : (struct lz_source){0};
}

/* By the marker alone. */
static struct lz_way way_of_marker(const struct lz_tokens *t, const struct path *p)
{
	const struct lz_token *k = t->n ? lz_tokens_at(t, 0) : NULL;
	struct lz_way w = {.kind = LZ_WAY_END};

	if (!k)
		return w;
	switch (k->code) {
	case LZ_ENTER:
		w.kind = is_delivery(t, k) ? LZ_WAY_SIGNAL : LZ_WAY_CALL;
		w.fn = k->id;
		w.source = definition(t, k->id);
		break;
	case LZ_LANDING:
		w.kind = LZ_WAY_LANDING;
		w.fn = k->id;
		break;
	case LZ_EXIT:
	case LZ_TAIL: w.kind = LZ_WAY_RETURN; break;
	default:
		w.kind = LZ_WAY_LINE;
		if (p->fn)
			w.source = first_line(
			    t, p->fn, with_lines(p->fn->f, leads_to(&p->fn->f->graph, k->id)));
	}
	return w;
}

static bool is_same_line(const struct lz_source *x, const struct lz_source *y)
{
	return x->line == y->line && x->file == y->file;
}

/* The path goes on at node number FROM: to the first line that is not the branch's. */
static void follow_path(const struct lz_tokens *t, const struct path *p, size_t from,
                        struct lz_way *w)
{
	if (w->kind == LZ_WAY_END) {
		w->source = last_line(t, p->fn, p->node[p->n - 1]);
		return;
	}
	w->kind = p->own[p->n_own - 1] == LZ_SET_EXIT ? LZ_WAY_RETURN : LZ_WAY_LINE;
	w->source = (struct lz_source){0};
	for (size_t i = from; i < p->n; i++) {
		const struct lz_source line = first_line(t, p->fn, p->node[i]);

		if (!line.file || (w->source.file && is_same_line(&line, &w->branch)))
			continue;
		w->kind = LZ_WAY_LINE;
		w->source = line;
		if (!is_same_line(&line, &w->branch))
			return;
	}
}

static void find_branch(const struct lz_tokens *t, const struct path *p, size_t upto,
                        struct lz_way *w)
{
	for (size_t i = upto; i-- > 0 && !w->branch.file;)
		w->branch = last_line(t, p->fn, p->node[i]);
}

static enum lz_block_call surest_call(const struct lz_tokens *t, const struct path *p, size_t from,
                                      size_t to, const struct lz_cfg_func *callee)
{
	enum lz_block_call surest = LZ_CALLS_NOT;

	for (size_t i = from; i < to; i++) {
		const enum lz_block_call kind =
		    lz_block_calls(t->a->modules, p->fn->mod, p->fn->f, p->node[i], callee);
		if (kind > surest)
			surest = kind;
	}
	return surest;
}

/* The run enters a function next, and its path leaves the other run's at node number N. Is the call
 * made before that? Then it is what differs: one by a pointer, or of code that calls back. A call
 * that names the function would be the same in both. */
static bool is_call_before(const struct lz_tokens *t, const struct path *p, size_t n)
{
	const struct lz_token *k = t->n ? lz_tokens_at(t, 0) : NULL;
	const struct lz_cfg_func *callee = k && k->code == LZ_ENTER ? function(t, k->id) : NULL;

	if (!callee || !p->n)
		return false;
	const enum lz_block_call before = surest_call(t, p, 0, n, callee);
	return (before == LZ_CALLS_FOREIGN || before == LZ_CALLS_INDIRECT) &&
	       before > surest_call(t, p, n, p->n_first, callee);
}

int lz_ways_find(const struct lz_tokens t[2], const struct lz_act *top[2], struct lz_way way[2])
{
	struct path p[2] = {0};
	bool before[2];
	int rc = 0;

	for (int i = 0; i < 2; i++) {
		if (rc == 0 && top[i])
			rc = find_path(&t[i], top[i], &p[i]);
		way[i] = way_of_marker(&t[i], &p[i]);
	}
	const size_t n = common(p);
	const bool part = n && p[0].own[0] != p[1].own[0];
	for (int i = 0; i < 2; i++)
		before[i] = part && is_call_before(&t[i], &p[i], n);
	for (int i = 0; i < 2; i++) {
		/* one path, with other calls on it: where exactly is not known */
		const size_t upto = before[0] || before[1] || !part ? p[i].n > 0 : n;

		find_branch(&t[i], &p[i], upto, &way[i]);
		if (part && !before[i] && way[i].kind != LZ_WAY_SIGNAL)
			follow_path(&t[i], &p[i], n, &way[i]);
	}
	for (int i = 0; i < 2; i++)
		free(p[i].node);
	return rc;
}
