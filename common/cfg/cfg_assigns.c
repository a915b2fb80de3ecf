/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The variables of a record that its blocks may assign. */
#include <common/cfg/cfg_record.h>

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

enum { VAR_SIZE = sizeof(struct lz_cfg_assigned) };

static int damaged(size_t offset, const char *what)
{
	return lz_fail("section " LZ_CFG_SECTION
	               ", assigned variables of the record at offset %zu: %s; rebuild the program",
	               offset, what);
}

int lz_cfg_assigns_size(const char *at, uint64_t left, uint64_t *size)
{
	struct lz_cfg_assigns h;

	if (left < sizeof(h))
		return -1;
	memcpy(&h, at, sizeof(h));
	*size = sizeof(h) + (uint64_t)h.n_vars * VAR_SIZE + (uint64_t)h.n_nodes * sizeof(uint32_t);
	return *size <= left && h.n_nodes % 2 == 0 ? 0 : -1;
}

/* Each node belongs to one variable. */
static int read_vars(const char *at, const struct lz_cfg_header *h, const char *strings,
                     size_t offset, struct lz_assigns *a)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < a->n_vars; i++) {
		struct lz_cfg_assigned v;

		memcpy(&v, at + (size_t)i * VAR_SIZE, sizeof(v));
		if (v.name >= h->strings_size)
			return damaged(offset, "a name is out of range");
		if (v.first != next || v.n > a->n_nodes - next)
			return damaged(offset, "a variable's blocks are out of range");
		next += v.n;
		a->vars[i] = (struct lz_assigned){.name = strings + v.name,
		                                  .flags = v.flags,
		                                  .nodes = a->nodes + v.first,
		                                  .n = v.n};
	}
	for (uint32_t i = 0; i < next; i++)
		if (a->nodes[i] >= h->n_nodes)
			return damaged(offset, "a block is out of range");
	return 0;
}

struct lz_assigns *lz_cfg_read_assigns(const char *at, const struct lz_cfg_header *h,
                                       const char *strings, size_t offset)
{
	struct lz_assigns *a = calloc(1, sizeof(*a));
	struct lz_cfg_assigns counts;
	int rc = -1;

	memcpy(&counts, at, sizeof(counts));
	at += sizeof(counts);
	if (a) {
		a->n_vars = counts.n_vars;
		a->n_nodes = counts.n_nodes;
		a->vars = calloc((size_t)a->n_vars + 1, sizeof(*a->vars));
		a->nodes = calloc((size_t)a->n_nodes + 1, sizeof(*a->nodes));
	}
	if (!a || !a->vars || !a->nodes) {
		lz_fail("out of memory reading the control-flow graphs");
	} else {
		memcpy(a->nodes, at + (size_t)a->n_vars * VAR_SIZE,
		       (size_t)a->n_nodes * sizeof(*a->nodes));
		rc = read_vars(at, h, strings, offset, a);
	}
	if (rc == 0)
		return a;
	lz_cfg_free_assigns(a);
	return NULL;
}

void lz_cfg_free_assigns(struct lz_assigns *a)
{
	if (!a)
		return;
	free(a->vars);
	free(a->nodes);
	free(a);
}
