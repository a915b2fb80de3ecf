/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/call_tree.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* An activation of which not all callees are known yet. */
struct open {
	uint32_t fn;
	struct lz_tree_run *run;
	size_t n, room;
};

/* Of a thread, the root first. */
struct branch {
	struct open *v;
	size_t n, room;
};

struct folding {
	struct lz_tree *t;
	struct branch *branch; /* [n_threads] */
};

static uint64_t mix(uint64_t hash, uint64_t with)
{
	hash = (hash ^ with) * 0x9E3779B97F4A7C15u;
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct open *o)
{
	uint64_t hash = mix(o->n, o->fn);

	for (size_t i = 0; i < o->n; i++)
		hash = mix(mix(hash, o->run[i].node), o->run[i].times);
	return hash;
}

static bool is_same(const struct lz_tree *t, const struct lz_tree_node *node, const struct open *o)
{
	if (node->fn != o->fn || node->n != o->n)
		return false;
	for (size_t i = 0; i < o->n; i++)
		if (t->run[node->first + i].node != o->run[i].node ||
		    t->run[node->first + i].times != o->run[i].times)
			return false;
	return true;
}

static int add_node(struct lz_tree *t, const struct open *o)
{
	if (t->n_runs + o->n > UINT32_MAX || t->n_nodes == UINT32_MAX)
		return lz_fail(
		    "the tree is too large: ask about a piece (--from, --to, --root), or "
		    "for fewer levels (--depth)");
	if (lz_reserve(t->node, t->nodes_room, t->n_nodes + 1) < 0 ||
	    lz_reserve(t->run, t->runs_room, t->n_runs + o->n) < 0)
		return -1;
	t->node[t->n_nodes++] = (struct lz_tree_node){o->fn, (uint32_t)t->n_runs, (uint32_t)o->n};
	if (o->n)
		memcpy(t->run + t->n_runs, o->run, o->n * sizeof(*o->run));
	t->n_runs += o->n;
	return 0;
}

/* The number of the node that O has become: of an equal one, if there is one. */
static int node_of(struct lz_tree *t, const struct open *o, uint32_t *number)
{
	for (uint64_t hash = hash_of(o);; hash++) {
		struct lz_tally_row *row = lz_tally_row(&t->known, hash);

		if (!row)
			return -1;
		if (!row->n) {
			row->n = t->n_nodes + 1;
			*number = (uint32_t)t->n_nodes;
			return add_node(t, o);
		}
		*number = (uint32_t)(row->n - 1);
		if (is_same(t, &t->node[*number], o))
			return 0;
	}
}

static int append(struct lz_tree_run **run, size_t *n, size_t *room, uint32_t node)
{
	if (*n && (*run)[*n - 1].node == node) {
		(*run)[*n - 1].times++;
		return 0;
	}
	if (lz_reserve(*run, *room, *n + 1) < 0)
		return -1;
	(*run)[(*n)++] = (struct lz_tree_run){node, 1};
	return 0;
}

/* All of its callees are known. */
static int close_innermost(struct folding *f, struct branch *b)
{
	struct open *o = &b->v[--b->n], *above = b->n ? o - 1 : NULL;
	uint32_t node;
	int rc = node_of(f->t, o, &node);

	if (rc == 0)
		rc = above ? append(&above->run, &above->n, &above->room, node)
		           : append(&f->t->top, &f->t->n_top, &f->t->top_room, node);
	o->n = 0;
	return rc;
}

/* Memory of an activation that was here before is used again. */
static int on_line(void *arg, const struct lz_tree_line *line)
{
	struct folding *f = arg;
	struct branch *b = &f->branch[line->thread];
	const size_t room = b->room;
	int rc = 0;

	while (!rc && b->n > line->level)
		rc = close_innermost(f, b);
	if (rc || lz_reserve(b->v, b->room, b->n + 1) < 0)
		return -1;
	memset(b->v + room, 0, (b->room - room) * sizeof(*b->v));
	b->v[b->n++].fn = line->fn;
	return 0;
}

static int close_all(struct folding *f, uint32_t n)
{
	int rc = 0;

	for (uint32_t i = 0; i < n; i++)
		while (!rc && f->branch[i].n)
			rc = close_innermost(f, &f->branch[i]);
	return rc;
}

int lz_tree_fold(struct lz_asked *a, const struct lz_tree_options *o, struct lz_tree *t)
{
	const uint32_t n = a->threads.n;
	struct folding f = {.t = t, .branch = calloc(n + 1u, sizeof(*f.branch))};
	int rc = -1;

	*t = (struct lz_tree){0};
	if (f.branch)
		rc = lz_tree_walk(a, o, on_line, &f);
	else
		lz_fail("out of memory for %u threads", n);
	if (rc == 0)
		rc = close_all(&f, n);
	for (uint32_t i = 0; f.branch && i < n; i++) {
		for (size_t k = 0; k < f.branch[i].room; k++)
			free(f.branch[i].v[k].run);
		free(f.branch[i].v);
	}
	free(f.branch);
	return rc;
}

void lz_tree_free(struct lz_tree *t)
{
	free(t->node);
	free(t->run);
	free(t->top);
	lz_tally_free(&t->known);
	*t = (struct lz_tree){0};
}
