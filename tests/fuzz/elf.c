/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads damaged copies of an ELF file: elf FILE COPY FROM TO
 *
 * For each seed from FROM to TO: FILE with a few bytes changed in what Lizard reads is written to COPY, then the
 * readers of .lizard, line tables, symbols and unwind rules are asked about addresses all over it. That they
 * end, and what they touch, is the test: there is nothing to compare with. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <lizard/cfg.h>
#include <lizard/error.h>
#include <replayer/program/lines.h>
#include <tests/fuzz/random.h>

static volatile uint64_t sink;

static void use_source(const struct lz_cfg_func *f)
{
	const struct lz_source_graph *g = f->source;

	for (uint32_t i = 0; g && i < g->n_blocks; i++) {
		const struct lz_source_block *b = &g->blocks[i];

		sink += (b->callee ? strlen(b->callee) : 0) + b->node;
		for (uint32_t k = 0; k < b->n_lines; k++)
			sink += f->lines[b->first_line + k].line;
	}
	for (uint32_t i = 0; g && i < g->n_arcs; i++)
		for (uint32_t k = 0; k < g->arcs[i].n_refs; k++)
			sink += g->arcs[i].src + g->arcs[i].dst +
			        f->graph.edges[g->refs[g->arcs[i].first_ref + k]].src;
}

static void use_func(const struct lz_cfg *cfg, const struct lz_cfg_func *f)
{
	uint32_t *ids, n_ids = 0;

	sink += strlen(f->name) + (f->file ? strlen(f->file) : 0) + f->line + f->n_markers;
	for (size_t i = 0; i < f->graph.n_edges; i++)
		sink += f->graph.edges[i].src + f->graph.edges[i].dst + f->graph.edges[i].marker;
	for (uint32_t b = 0; b < f->graph.n_nodes; b++) {
		const struct lz_cfg_block *k = &f->blocks[b];

		sink += f->graph.node_marker[b];
		for (uint32_t i = 0; i < k->n_lines; i++) {
			const struct lz_cfg_line *l = &f->lines[k->first_line + i];
			const char *file = lz_cfg_file_name(cfg, l->file);

			sink += l->line + (file ? strlen(file) : 0);
		}
		for (uint32_t i = 0; i < k->n_pre; i++)
			sink += k->pre[i];
		for (uint32_t i = 0; i < k->n_post; i++)
			sink += k->post[i];
		n_ids += k->n_pre;
	}
	use_source(f);
	if (n_ids &&
	    lz_graph_path(&f->graph, LZ_SET_ENTER, 1 + rnd() % (f->n_markers + 1), &ids) > 0)
		free(ids);
}

static void use_cfg(const char *path)
{
	struct lz_cfg *cfg = lz_cfg_open(path);
	const struct lz_cfg_site *sites;
	const struct lz_cfg_label *labels;
	size_t n;

	if (!cfg) {
		sink += strlen(lz_error());
		return;
	}
	for (size_t i = 0; i < lz_cfg_n_funcs(cfg); i++) {
		const struct lz_cfg_func *f = lz_cfg_func(cfg, i);

		use_func(cfg, f);
		sink += lz_cfg_func_at(cfg, f->entry) != NULL;
	}
	sites = lz_cfg_sites(cfg, &n);
	for (size_t i = 0; i < n; i++)
		sink += sites[i].func < lz_cfg_n_funcs(cfg);
	labels = lz_cfg_labels(cfg, &n);
	for (size_t i = 0; i < n; i++) {
		const struct lz_cfg_label *l =
		    lz_cfg_label_before(cfg, labels[i].addr + rnd() % 64);

		/* An index that is given out must be one. */
		if (l)
			sink += lz_cfg_func(cfg, l->func)->blocks[l->block].n_lines;
	}
	lz_cfg_close(cfg);
}

static bool read_word(void *arg, uint64_t addr, uint64_t *word)
{
	(void)arg;
	*word = addr * 3;
	return addr & 8;
}

static void use_lines(const char *path, uint64_t low, uint64_t high)
{
	struct lz_lines *l = lz_lines_open(path, path);

	for (uint64_t addr = low; l && addr < high; addr += (high - low) / 300 + 1) {
		struct user_regs_struct r = {.rip = addr, .rsp = 0x7fff0000, .rbp = 0x7fff0100};
		struct lz_sal sal = lz_lines_find(l, addr);
		struct lz_range range;
		struct lz_inline calls[8];
		uint64_t cfa;
		size_t n;

		sink += sal.line && sal.file ? strlen(sal.file) : 0;
		if (lz_lines_function(l, addr, &range) && range.name)
			sink += strlen(range.name);
		n = lz_lines_inlines(l, addr, calls, 8);
		for (size_t i = 0; i < n; i++)
			sink += calls[i].entry + calls[i].call_symtab;
		sink += lz_lines_in_plt(l, addr);
		sink += lz_lines_cfa(l, addr, &r, read_word, NULL, &cfa);
	}
	lz_lines_close(l);
}

static uint8_t *slurp(const char *path, size_t *n)
{
	struct stat st;
	FILE *f = fopen(path, "rb");
	uint8_t *p;

	if (!f || fstat(fileno(f), &st) < 0)
		return NULL;
	*n = (size_t)st.st_size;
	p = malloc(*n + 1);
	if (p && fread(p, 1, *n, f) != *n)
		*n = 0;
	fclose(f);
	return p;
}

static void one(const char *original, const char *copy, const uint8_t *bytes, size_t n, uint64_t s)
{
	size_t from, len;
	uint8_t *p = malloc(n);
	FILE *f = fopen(copy, "wb");

	seed(s);
	memcpy(p, bytes, n);
	pick_elf_range(original, &from, &len);
	if (from < n && len <= n - from)
		flip(p + from, len > 600 && rnd() & 1 ? 600 : len);
	if (!f || fwrite(p, 1, n, f) != n || fclose(f)) {
		perror(copy);
		exit(1);
	}
	free(p);
	/* Where a program's code usually is. */
	use_cfg(copy);
	use_lines(copy, 0x1000, 0x6000);
}

int main(int argc, char **argv)
{
	uint8_t *bytes;
	size_t n;

	if (argc != 5 || !(bytes = slurp(argv[1], &n)) || !n) {
		fprintf(stderr, "usage: elf FILE COPY FROM TO\n");
		return 2;
	}
	elf_version(EV_CURRENT);
	for (uint64_t s = strtoull(argv[3], NULL, 10); s <= strtoull(argv[4], NULL, 10); s++) {
		/* For whoever finds it dead: the seed is the last line. */
		printf("%llu\n", (unsigned long long)s);
		fflush(stdout);
		one(argv[1], argv[2], bytes, n, s);
	}
	free(bytes);
	return 0;
}
