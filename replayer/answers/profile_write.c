/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles in the formats of other tools: callgrind's (Valgrind's manual, "Callgrind Format
 * Specification") and that of flame graphs. */
#include "replayer/answers/profile.h"

#include <common/base/print.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static int finish(FILE *to)
{
	return fflush(to) || ferror(to) ? lz_fail_errno("the profile cannot be written") : 0;
}

/* ---- chains ---- */

/* A name must not look like two. */
static void write_name(const struct lz_asked *a, uint32_t fn, FILE *to)
{
	for (const char *c = lz_asked_full_name(a, fn); *c; c++)
		lz_print(to, "%c", *c == ';' || *c == ' ' ? '_' : *c);
}

static void write_chain(const struct lz_asked *a, const struct lz_profile *p, uint32_t node,
                        FILE *to)
{
	uint32_t fn[LZ_PROFILE_DEPTH + 1], depth = 0;

	for (uint32_t i = node; i && depth <= LZ_PROFILE_DEPTH; i = p->node[i].parent)
		fn[depth++] = p->node[i].fn;
	while (depth--) {
		write_name(a, fn[depth], to);
		fputc(depth ? ';' : ' ', to);
	}
}

int lz_profile_write_folded(const struct lz_asked *a, const struct lz_profile *p, FILE *to)
{
	for (size_t i = 1; i < p->n; i++)
		if (p->node[i].self) {
			write_chain(a, p, (uint32_t)i, to);
			fprintf(to, "%" PRIu64 "\n", p->node[i].self);
		}
	return finish(to);
}

/* ---- callgrind ---- */

static const struct lz_cfg_func *func(const struct lz_asked *a, uint32_t fn)
{
	const struct lz_fn *f = lz_stream_fn(a->stream, fn);

	return f ? f->f : NULL;
}

static void write_place(const struct lz_asked *a, uint32_t fn, const char *what, FILE *to)
{
	const struct lz_cfg_func *f = func(a, fn);

	lz_print(to, "%s=%s\n", *what ? "cfi" : "fl", f && f->file ? f->file : "???");
	lz_print(to, "%sfn=(%u) %s\n", what, fn + 1, lz_asked_full_name(a, fn));
}

static unsigned line_of(const struct lz_asked *a, uint32_t fn)
{
	const struct lz_cfg_func *f = func(a, fn);

	return f ? f->line : 0;
}

/* Calls of one function by another; sum: what they took. */
static int sum_edges(const struct lz_profile *p, struct lz_tally *edges)
{
	for (size_t i = 0; i < p->edge.n; i++)
		if (lz_tally_add(edges, p->edge.v[i].key, p->edge.v[i].n) < 0)
			return -1;
	for (size_t i = 1; i < p->n; i++) {
		const struct lz_profile_node *node = &p->node[i];
		struct lz_tally_row *row;

		if (!node->parent || node->fn == LZ_FN_NONE)
			continue;
		row = lz_tally_row(edges, (uint64_t)p->node[node->parent].fn << 32 | node->fn);
		if (!row)
			return -1;
		row->sum += node->all;
	}
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct lz_tally_row *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static void write_function(const struct lz_asked *a, const struct lz_profile_fn *f,
                           const struct lz_tally *edges, FILE *to)
{
	write_place(a, f->fn, "", to);
	fprintf(to, "%u %" PRIu64 "\n", line_of(a, f->fn), f->self);
	for (size_t i = 0; i < edges->n; i++) {
		const struct lz_tally_row *e = &edges->v[i];
		const uint32_t callee = (uint32_t)e->key;

		if (e->key >> 32 != f->fn)
			continue;
		write_place(a, callee, "c", to);
		fprintf(to, "calls=%" PRIu64 " %u\n%u %" PRIu64 "\n", e->n, line_of(a, callee),
		        line_of(a, f->fn), e->sum);
	}
	fputc('\n', to);
}

int lz_profile_write_callgrind(const struct lz_asked *a, const struct lz_profile *p, FILE *to)
{
	struct lz_tally edges = {0};
	size_t n;
	struct lz_profile_fn *fns = lz_profile_fns(a, p, &n);
	int rc = fns ? sum_edges(p, &edges) : -1;

	if (rc == 0 && edges.n)
		qsort(edges.v, edges.n, sizeof(*edges.v), by_key);
	if (rc == 0)
		fputs("# callgrind format\nversion: 1\ncreator: lizard\npositions: line\n"
		      "event: Markers : bytes of recorded control flow\nevents: Markers\n\n",
		      to);
	for (size_t i = 0; rc == 0 && i < n; i++)
		write_function(a, &fns[i], &edges, to);
	free(fns);
	lz_tally_free(&edges);
	return rc < 0 ? rc : finish(to);
}
