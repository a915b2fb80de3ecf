/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/compare/pair_fns.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	const char *module; /* "" of the program */
	const char *name, *file;
	const struct lz_cfg_func *f;
	uint32_t fn;
	int side;
};

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

/* ---- order ---- */

static int by_identity(const struct entry *x, const struct entry *y)
{
	int order = strcmp(x->module, y->module);

	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->file, y->file);
}

static int by_entry(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	const int order = by_identity(x, y);

	if (order)
		return order;
	if (x->side != y->side)
		return x->side - y->side;
	if (x->f->entry != y->f->entry)
		return x->f->entry < y->f->entry ? -1 : 1;
	return x->fn < y->fn ? -1 : x->fn > y->fn;
}

/* ---- graphs ---- */

static bool is_same_edge(const struct lz_edge *x, const struct lz_edge *y)
{
	return x->src == y->src && x->dst == y->dst && x->marker == y->marker &&
	       x->unmarkable == y->unmarkable;
}

static bool is_same_graph(const struct lz_cfg_func *x, const struct lz_cfg_func *y)
{
	const struct lz_graph *g = &x->graph, *h = &y->graph;

	if (g->n_nodes != h->n_nodes || g->n_edges != h->n_edges || g->entry != h->entry ||
	    g->exit != h->exit || x->n_markers != y->n_markers ||
	    (x->flags ^ y->flags) & LZ_FN_LANDING)
		return false;
	for (size_t i = 0; i < g->n_edges; i++)
		if (!is_same_edge(&g->edges[i], &h->edges[i]))
			return false;
	return !memcmp(g->node_marker, h->node_marker, g->n_nodes * sizeof(*g->node_marker));
}

/* ---- pairing ---- */

/* Of V[0..n), which are of one side, how many follow that are the same function: one file may be
 * mapped several times. */
static size_t instances(const struct entry *v, size_t n)
{
	size_t k = 0;

	while (k < n && v[k].f == v[0].f)
		k++;
	return k;
}

static void give_number(struct lz_paired_fns *p, const struct entry *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p->number[v[i].side][v[i].fn] = p->n;
}

/* The functions of one identity: N of the first recording, M of the second. */
static void pair_group(struct lz_paired_fns *p, const struct entry *v, size_t n, size_t m)
{
	const struct entry *w = v + n;

	while (n || m) {
		const size_t i = instances(v, n), k = instances(w, m);
		enum lz_pairing kind = LZ_PAIR_ALONE;

		if (i && k)
			kind = is_same_graph(v->f, w->f) ? LZ_PAIR_SAME : LZ_PAIR_CHANGED;
		give_number(p, v, i);
		give_number(p, w, k);
		p->kind[p->n] = (uint8_t)kind;
		p->second[p->n] = !i;
		p->fn[p->n] = i ? v->fn : w->fn;
		p->name[p->n++] = i ? v->name : w->name;
		v += i, n -= i;
		w += k, m -= k;
	}
}

static void pair_all(struct lz_paired_fns *p, const struct entry *v, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		size_t firsts = 0;

		for (end = i; end < n && !by_identity(&v[i], &v[end]); end++)
			firsts += v[end].side == 0;
		pair_group(p, &v[i], firsts, end - i - firsts);
	}
}

/* ---- of other files ---- */

static bool has_same_name(const struct entry *x, const struct entry *y)
{
	return !strcmp(x->module, y->module) && !strcmp(x->name, y->name);
}

/* The only function of V[0..n), which have one name, that no other one of SIDE has as well and that
 * has no pair; NULL: there are none or several. */
static const struct entry *only_one(const struct lz_paired_fns *p, const struct entry *v, size_t n,
                                    int side)
{
	const struct entry *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (v[i].side != side || p->kind[p->number[side][v[i].fn]] != LZ_PAIR_ALONE)
			continue;
		if (found && found->f != v[i].f)
			return NULL;
		found = &v[i];
	}
	return found;
}

/* A function whose file has another name now, one of those of ALL[0..n). The second one's number
 * stands for nothing then. */
static void join(struct lz_paired_fns *p, const struct entry *v, const struct entry *w,
                 const struct entry *all, size_t n)
{
	const uint32_t number = p->number[0][v->fn], old = p->number[1][w->fn];

	p->kind[number] = is_same_graph(v->f, w->f) ? LZ_PAIR_SAME : LZ_PAIR_CHANGED;
	p->kind[old] = LZ_PAIR_SAME;
	for (size_t i = 0; i < n; i++)
		if (all[i].side == 1 && p->number[1][all[i].fn] == old)
			p->number[1][all[i].fn] = number;
}

static void pair_moved(struct lz_paired_fns *p, const struct entry *v, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && has_same_name(&v[i], &v[end]);)
			end++;
		const struct entry *first = only_one(p, &v[i], end - i, 0);
		const struct entry *second = only_one(p, &v[i], end - i, 1);
		if (first && second)
			join(p, first, second, &v[i], end - i);
	}
	for (uint32_t i = 0; i < p->n; i++)
		p->differ |= p->kind[i] != LZ_PAIR_SAME;
}

/* ---- all functions ---- */

static const char *module_name(struct lz_asked *a, const struct lz_fn *fn)
{
	uint32_t n = 0;
	const struct lz_program *program = lz_reader_programs(a->reader, &n);
	const struct lz_file *file = lz_reader_file(a->reader, fn->mod->file);

	if (program && n && program[0].file == fn->mod->file)
		return "";
	return base_name(file ? file->path : NULL);
}

static size_t collect(struct lz_asked *a, int side, struct entry *v)
{
	const size_t n = lz_stream_n_fns(a->stream);

	for (size_t i = 0; i < n; i++) {
		const struct lz_fn *fn = lz_stream_fn(a->stream, (uint32_t)i);

		v[i] = (struct entry){.module = module_name(a, fn),
		                      .name = fn->f->name ? fn->f->name : "",
		                      .file = base_name(fn->f->file),
		                      .f = fn->f,
		                      .fn = (uint32_t)i,
		                      .side = side};
	}
	return n;
}

int lz_pair_fns(struct lz_asked *a[2], struct lz_paired_fns *p)
{
	*p = (struct lz_paired_fns){0};
	for (int side = 0; side < 2; side++) {
		p->n_fns[side] = lz_stream_n_fns(a[side]->stream);
		p->number[side] = calloc(p->n_fns[side] + 1, sizeof(*p->number[side]));
	}
	const size_t n = p->n_fns[0] + p->n_fns[1];
	struct entry *v = calloc(n + 1, sizeof(*v));
	p->kind = calloc(n + 1, sizeof(*p->kind));
	p->name = calloc(n + 1, sizeof(*p->name));
	p->fn = calloc(n + 1, sizeof(*p->fn));
	p->second = calloc(n + 1, sizeof(*p->second));
	const bool ok =
	    v && p->kind && p->name && p->fn && p->second && p->number[0] && p->number[1];
	if (ok) {
		size_t firsts = collect(a[0], 0, v);
		collect(a[1], 1, v + firsts);
		qsort(v, n, sizeof(*v), by_entry);
		pair_all(p, v, n);
		pair_moved(p, v, n);
	}
	free(v);
	return ok ? 0 : lz_fail("out of memory for %zu functions", n);
}

void lz_paired_fns_free(struct lz_paired_fns *p)
{
	free(p->number[0]);
	free(p->number[1]);
	free(p->kind);
	free(p->name);
	free(p->fn);
	free(p->second);
	*p = (struct lz_paired_fns){0};
}
