/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/cfg/cfg_record.h>

#include <stdlib.h>
#include <string.h>
#include <common/base/array.h>
#include <lizard/error.h>

/* The parts of a record, as pointers into the section. */
struct parts {
	struct lz_cfg_header h;
	const char *rows, *nodes, *edges, *lines, *words, *strings;
	const char *source;  /* NULL: none */
	const char *assigns; /* NULL: none */
	size_t n_rows;
};

static int damaged(size_t offset, const char *what)
{
	return lz_fail("section " LZ_CFG_SECTION ", record at offset %zu: %s; rebuild the program",
	               offset, what);
}

static int check_header(const struct lz_cfg *cfg, size_t offset, struct parts *p)
{
	size_t left = cfg->section_size - offset;

	if (left < LZ_CFG_HEADER_SIZE)
		return damaged(offset, "it is cut short");
	memcpy(&p->h, cfg->section + offset, LZ_CFG_HEADER_SIZE);
	if (p->h.magic != LZ_CFG_MAGIC)
		return damaged(offset, "there is no record");
	if (p->h.version < LZ_CFG_VERSION || p->h.version > LZ_CFG_VERSION_ASSIGNS)
		return lz_fail("section " LZ_CFG_SECTION
		               " has version %u, this Lizard reads versions %u to %u: "
		               "rebuild the program with this Lizard's lizard-cc",
		               p->h.version, LZ_CFG_VERSION, LZ_CFG_VERSION_ASSIGNS);
	if (p->h.size > left || p->h.size < LZ_CFG_HEADER_SIZE || p->h.size % 8)
		return damaged(offset, "its size is absurd");
	return 0;
}

/* What records of later versions have behind the first SIZE bytes. */
static int split_rest(const struct lz_cfg *cfg, size_t offset, struct parts *p, uint64_t *size)
{
	const struct lz_cfg_header *h = &p->h;
	const bool optional = h->version >= LZ_CFG_VERSION_ASSIGNS;
	uint64_t more;

	if (h->version < LZ_CFG_VERSION_SOURCE || *size > h->size)
		return 0;
	p->source = cfg->section + offset + *size;
	if (lz_cfg_source_size(p->source, h->size - *size, optional, &more) < 0)
		return damaged(offset, "its source graph is cut short");
	*size += more;
	if (!optional)
		return 0;
	p->assigns = cfg->section + offset + *size;
	if (lz_cfg_assigns_size(p->assigns, h->size - *size, &more) < 0)
		return damaged(offset, "its assigned variables are cut short");
	*size += more;
	return 0;
}

static int split_record(const struct lz_cfg *cfg, size_t offset, struct parts *p)
{
	const struct lz_cfg_header *h = &p->h;
	const char *at = cfg->section + offset + LZ_CFG_HEADER_SIZE;
	uint64_t size = LZ_CFG_HEADER_SIZE;

	if (check_header(cfg, offset, p) < 0)
		return -1;
	if (h->rows_size > h->size || h->rows_size % sizeof(struct lz_cfg_row))
		return damaged(offset, "its rows have an absurd size");
	/* 32-bit counts times small sizes: the sum can't overflow */
	size += h->rows_size + (uint64_t)h->n_nodes * sizeof(struct lz_cfg_node) +
	        (uint64_t)h->n_edges * sizeof(struct lz_cfg_edge) +
	        (uint64_t)h->n_lines * sizeof(struct lz_cfg_line_ref) +
	        (uint64_t)h->n_words * sizeof(uint32_t) + h->strings_size;
	if (split_rest(cfg, offset, p, &size) < 0)
		return -1;
	if (size != h->size)
		return damaged(offset, "its parts don't add up to its size");
	p->n_rows = h->rows_size / sizeof(struct lz_cfg_row);
	p->rows = at;
	p->nodes = p->rows + h->rows_size;
	p->edges = p->nodes + (size_t)h->n_nodes * sizeof(struct lz_cfg_node);
	p->lines = p->edges + (size_t)h->n_edges * sizeof(struct lz_cfg_edge);
	p->words = p->lines + (size_t)h->n_lines * sizeof(struct lz_cfg_line_ref);
	p->strings = p->words + (size_t)h->n_words * sizeof(uint32_t);
	if (h->strings_size == 0 || p->strings[h->strings_size - 1] != 0)
		return damaged(offset, "its strings don't end");
	if (h->file >= h->strings_size || h->entry_node >= h->n_nodes || h->exit_node >= h->n_nodes)
		return damaged(offset, "an index is out of range");
	return 0;
}

static uint32_t hash_string(const char *s)
{
	uint32_t hash = 2166136261u;

	for (; *s; s++)
		hash = (hash ^ (unsigned char)*s) * 16777619u;
	return hash;
}

static int rehash_files(struct lz_cfg *cfg)
{
	size_t n = cfg->n_hash ? 4 * cfg->n_hash : 256;
	uint32_t *table;

	if (2 * cfg->n_files < cfg->n_hash)
		return 0;
	table = calloc(n, sizeof(*table));
	if (!table)
		return lz_fail("out of memory reading the control-flow graphs");
	for (size_t i = 0; i < cfg->n_files; i++) {
		size_t slot = hash_string(cfg->files[i]) % n;

		while (table[slot])
			slot = (slot + 1) % n;
		table[slot] = (uint32_t)i + 1;
	}
	free(cfg->file_hash);
	cfg->file_hash = table;
	cfg->n_hash = n;
	return 0;
}

/* The number of file NAME, the same for equal names. -1 if memory is short. */
static int64_t file_number(struct lz_cfg *cfg, const char *name)
{
	size_t slot;

	if (rehash_files(cfg) < 0 || lz_reserve(cfg->files, cfg->room_files, cfg->n_files + 1) < 0)
		return -1;
	slot = hash_string(name) % cfg->n_hash;
	for (; cfg->file_hash[slot]; slot = (slot + 1) % cfg->n_hash)
		if (strcmp(cfg->files[cfg->file_hash[slot] - 1], name) == 0)
			return cfg->file_hash[slot] - 1;
	cfg->files[cfg->n_files] = name;
	cfg->file_hash[slot] = (uint32_t)cfg->n_files + 1;
	return (int64_t)cfg->n_files++;
}

static int read_lines(struct lz_cfg *cfg, const struct parts *p, size_t offset,
                      struct lz_cfg_func *f)
{
	for (uint32_t i = 0; i < p->h.n_lines; i++) {
		struct lz_cfg_line_ref ref;
		int64_t file;

		memcpy(&ref, p->lines + i * sizeof(ref), sizeof(ref));
		if (ref.file >= p->h.strings_size)
			return damaged(offset, "a file name is out of range");
		file = file_number(cfg, p->strings + ref.file);
		if (file < 0)
			return -1;
		f->lines[i] = (struct lz_cfg_line){(uint32_t)file, ref.line};
	}
	return 0;
}

static int read_edges(const struct parts *p, size_t offset, struct lz_cfg_func *f)
{
	for (uint32_t i = 0; i < p->h.n_edges; i++) {
		struct lz_cfg_edge e;

		memcpy(&e, p->edges + i * sizeof(e), sizeof(e));
		if (e.src >= p->h.n_nodes || e.dst >= p->h.n_nodes || e.marker > p->h.n_markers)
			return damaged(offset, "an edge is out of range");
		f->graph.edges[i] =
		    (struct lz_edge){e.src, e.dst, e.weight, e.unmarkable != 0, e.marker};
	}
	return 0;
}

/* Edges looked at for the sets that a file leaves out: a second. A few megabytes of a stranger's
 * could ask for days. */
#define WORK_MAX (1ULL << 28)

/* The set at INDEX of the words; where the writer left it out, computes it. */
static int read_set(const struct parts *p, size_t offset, uint32_t index, struct lz_cfg_func *f,
                    struct lz_graph_walker *w, uint32_t node, bool post)
{
	const uint32_t **out = post ? &f->blocks[node].post : &f->blocks[node].pre;
	uint32_t *n_out = post ? &f->blocks[node].n_post : &f->blocks[node].n_pre;
	const uint32_t *found;
	uint32_t *ids;
	int64_t n;

	if (index != LZ_CFG_NO_SET) {
		if (index >= p->h.n_words)
			return damaged(offset, "a marker set is out of range");
		if (f->words[index] > p->h.n_words - index - 1)
			return damaged(offset, "a marker set is too long");
		*out = f->words + index + 1;
		*n_out = f->words[index];
		return 0;
	}
	n = lz_graph_walker_set(w, node, post, &found);
	if (n < 0)
		return damaged(offset, "its marker sets are too much work");
	ids = malloc((size_t)n * sizeof(*ids) + 1);
	if (!ids)
		return lz_fail("out of memory reading the control-flow graphs");
	memcpy(ids, found, (size_t)n * sizeof(*ids));
	*out = ids;
	*n_out = (uint32_t)n;
	return 0;
}

static int read_sets(struct lz_cfg *cfg, const struct parts *p, size_t offset,
                     struct lz_cfg_func *f)
{
	struct lz_graph_walker *w = lz_graph_walker_open(&f->graph);
	int result = 0;

	if (!w)
		return lz_fail("out of memory reading the control-flow graphs");
	lz_graph_walker_limit(w, WORK_MAX - cfg->work);
	for (uint32_t v = 0; v < p->h.n_nodes && result == 0; v++) {
		struct lz_cfg_node node;

		memcpy(&node, p->nodes + v * sizeof(node), sizeof(node));
		if (read_set(p, offset, node.pre, f, w, v, false) < 0 ||
		    read_set(p, offset, node.post, f, w, v, true) < 0)
			result = -1;
	}
	cfg->work = WORK_MAX - lz_graph_walker_left(w);
	lz_graph_walker_close(w);
	return result;
}

static int read_nodes(struct lz_cfg *cfg, const struct parts *p, size_t offset,
                      struct lz_cfg_func *f)
{
	struct lz_cfg_node node;
	uint8_t *flags = (uint8_t *)f->graph.node_flags;

	for (uint32_t v = 0; v < p->h.n_nodes; v++) {
		memcpy(&node, p->nodes + v * sizeof(node), sizeof(node));
		if (node.marker > p->h.n_markers || node.first_line > p->h.n_lines ||
		    node.n_lines > p->h.n_lines - node.first_line)
			return damaged(offset, "a node is out of range");
		f->graph.node_marker[v] = node.marker;
		flags[v] = (uint8_t)node.flags;
		f->blocks[v].first_line = node.first_line;
		f->blocks[v].n_lines = node.n_lines;
	}
	return read_sets(cfg, p, offset, f);
}

static int read_rows(struct lz_cfg *cfg, const struct parts *p, size_t offset)
{
	for (size_t i = 0; i < p->n_rows; i++) {
		struct lz_cfg_row row;
		uint32_t func = (uint32_t)cfg->n_funcs;

		memcpy(&row, p->rows + i * sizeof(row), sizeof(row));
		if (row.kind == LZ_ROW_LABEL) {
			if (row.id >= p->h.n_nodes)
				return damaged(offset, "a label's node is out of range");
			if (lz_reserve(cfg->labels, cfg->room_labels, cfg->n_labels + 1) < 0)
				return -1;
			cfg->labels[cfg->n_labels++] =
			    (struct lz_cfg_label){row.addr, func, row.id};
		} else if (row.kind == LZ_ROW_SITE) {
			if (row.id > p->h.n_markers)
				return damaged(offset, "a marker is out of range");
			if (lz_reserve(cfg->sites, cfg->room_sites, cfg->n_sites + 1) < 0)
				return -1;
			cfg->sites[cfg->n_sites++] =
			    (struct lz_cfg_site){row.addr, func, row.id, row.code};
		} else {
			return damaged(offset, "a row is of an unknown kind");
		}
	}
	return 0;
}

static int allocate(const struct parts *p, struct lz_cfg_func *f)
{
	f->graph.n_nodes = p->h.n_nodes;
	f->graph.n_edges = p->h.n_edges;
	f->graph.entry = p->h.entry_node;
	f->graph.exit = p->h.exit_node;
	f->graph.edges = calloc((size_t)p->h.n_edges + 1, sizeof(*f->graph.edges));
	f->graph.node_marker = calloc((size_t)p->h.n_nodes + 1, sizeof(*f->graph.node_marker));
	f->graph.node_flags = calloc((size_t)p->h.n_nodes + 1, 1);
	f->blocks = calloc((size_t)p->h.n_nodes + 1, sizeof(*f->blocks));
	f->lines = calloc((size_t)p->h.n_lines + 1, sizeof(*f->lines));
	f->words = malloc((size_t)p->h.n_words * sizeof(*f->words) + 1);
	if (!f->words || !f->graph.edges || !f->graph.node_marker || !f->graph.node_flags ||
	    !f->blocks || !f->lines)
		return lz_fail("out of memory reading the control-flow graphs");
	f->n_words = p->h.n_words;
	memcpy(f->words, p->words, (size_t)p->h.n_words * sizeof(*f->words));
	return 0;
}

static void free_set(const struct lz_cfg_func *f, const uint32_t *ids)
{
	if (ids < f->words || ids > f->words + f->n_words)
		free((void *)ids);
}

void lz_cfg_free_func(struct lz_cfg_func *f)
{
	for (uint32_t v = 0; f->blocks && v < f->graph.n_nodes; v++) {
		free_set(f, f->blocks[v].pre);
		free_set(f, f->blocks[v].post);
	}
	lz_cfg_free_source(f->source);
	lz_cfg_free_assigns(f->assigns);
	free(f->words);
	free(f->blocks);
	free(f->lines);
	free(f->graph.edges);
	free(f->graph.node_marker);
	free((void *)f->graph.node_flags);
}

static int fill_func(struct lz_cfg *cfg, const struct parts *p, size_t offset,
                     struct lz_cfg_func *f)
{
	f->entry = p->h.entry;
	f->name = p->strings;
	f->file = p->strings + p->h.file;
	f->line = p->h.line;
	f->flags = p->h.flags;
	f->n_markers = p->h.n_markers;
	if (allocate(p, f) < 0 || read_lines(cfg, p, offset, f) < 0 ||
	    read_edges(p, offset, f) < 0 || read_nodes(cfg, p, offset, f) < 0)
		return -1;
	if (p->source && lz_cfg_read_source(p->source, &p->h, p->strings, offset, &f->source) < 0)
		return -1;
	if (p->assigns &&
	    !(f->assigns = lz_cfg_read_assigns(p->assigns, &p->h, p->strings, offset)))
		return -1;
	return read_rows(cfg, p, offset);
}

int64_t lz_cfg_add_record(struct lz_cfg *cfg, size_t offset)
{
	struct parts p = {0};
	struct lz_cfg_func f = {0};

	if (split_record(cfg, offset, &p) < 0)
		return -1;
	/* a linker that dropped the code but not the record */
	if (p.h.entry == 0)
		return (int64_t)p.h.size;
	if (lz_reserve(cfg->funcs, cfg->room_funcs, cfg->n_funcs + 1) < 0 ||
	    fill_func(cfg, &p, offset, &f) < 0) {
		lz_cfg_free_func(&f);
		return -1;
	}
	cfg->funcs[cfg->n_funcs++] = f;
	return (int64_t)p.h.size;
}
