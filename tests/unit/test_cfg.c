/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CFG reader on a program that lizard-cc built, whole and damaged. */
#include "tests/unit/suite.h"

#include <check.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <common/cfg/cfg_record.h>
#include <lizard/cfg.h>
#include <lizard/cfg_format.h>
#include <lizard/error.h>
#include <lizard/marker.h>

static char dir[256], program[300], damaged[300];
static char *bytes; /* of the program */
static size_t size;
static GElf_Shdr section;

static const char source[] = "int printf(const char *, ...);\n"
                             "static int twice(int x)\n"
                             "{\n"
                             "	return x * 2;\n"
                             "}\n"
                             "int collatz(int n)\n"
                             "{\n"
                             "	int steps = 0;\n"
                             "	while (n != 1) {\n"
                             "		if (n % 2)\n"
                             "			n = 3 * n + 1;\n"
                             "		else\n"
                             "			n /= 2;\n"
                             "		steps++;\n"
                             "	}\n"
                             "	return steps;\n"
                             "}\n"
                             "int main(int argc, char **argv)\n"
                             "{\n"
                             "	printf(\"%d\\n\", twice(collatz(27)) + (argv ? argc : 0));\n"
                             "	return 0;\n"
                             "}\n"
                             "int level;\n"
                             "static int kept, taken;\n"
                             "int *note(int by)\n"
                             "{\n"
                             "	int own = by, given = 0, *at = &given;\n"
                             "	if (by > 3)\n"
                             "		kept = own;\n"
                             "	taken = *at;\n"
                             "	return by ? &taken : &level;\n"
                             "}\n";

static void write_file(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "w");

	ck_assert(f && fwrite(data, 1, n, f) == n && fclose(f) == 0);
}

static void find_section(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *scn = NULL;
	size_t names;

	ck_assert(elf && elf_getshdrstrndx(elf, &names) == 0);
	while ((scn = elf_nextscn(elf, scn))) {
		gelf_getshdr(scn, &section);
		if (strcmp(elf_strptr(elf, names, section.sh_name), LZ_CFG_SECTION) == 0)
			break;
	}
	ck_assert(scn != NULL);
	elf_end(elf);
}

static void build(void)
{
	const char *bin = getenv("LIZARD_BIN"), *tmp = getenv("LIZARD_TMP");
	char command[1000];
	FILE *f;

	snprintf(dir, sizeof(dir), "%s/cfg-XXXXXX", tmp ? tmp : "/tmp");
	ck_assert(mkdtemp(dir) != NULL);
	snprintf(command, sizeof(command), "%s/collatz.c", dir);
	write_file(command, source, sizeof(source) - 1);
	snprintf(program, sizeof(program), "%s/collatz", dir);
	snprintf(damaged, sizeof(damaged), "%s/damaged", dir);
	snprintf(command, sizeof(command), "cd %s && %s/lizard-cc -g collatz.c -o collatz", dir,
	         bin ? bin : "build/bin");
	ck_assert_int_eq(system(command), 0);
	f = fopen(program, "r");
	ck_assert(f != NULL);
	bytes = malloc(1 << 20);
	size = fread(bytes, 1, 1 << 20, f);
	elf_version(EV_CURRENT);
	find_section(fileno(f));
	fclose(f);
}

static void clean(void)
{
	char command[400];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(command), 0);
	free(bytes);
}

static const struct lz_cfg_func *by_name(const struct lz_cfg *cfg, const char *name)
{
	for (size_t i = 0; i < lz_cfg_n_funcs(cfg); i++)
		if (strcmp(lz_cfg_func(cfg, i)->name, name) == 0)
			return lz_cfg_func(cfg, i);
	return NULL;
}

static bool has_line(const struct lz_cfg *cfg, const struct lz_cfg_func *f, uint32_t node,
                     uint32_t line)
{
	const struct lz_cfg_block *b = &f->blocks[node];

	for (uint32_t i = 0; i < b->n_lines; i++)
		if (f->lines[b->first_line + i].line == line &&
		    strstr(lz_cfg_file_name(cfg, f->lines[b->first_line + i].file), "collatz.c"))
			return true;
	return false;
}

START_TEST(functions_are_there)
{
	struct lz_cfg *cfg = lz_cfg_open(program);
	const struct lz_cfg_func *f;
	unsigned lines_seen = 0;

	ck_assert_msg(cfg != NULL, "%s", lz_error());
	ck_assert_uint_eq(lz_cfg_n_funcs(cfg), 4);
	f = by_name(cfg, "collatz");
	ck_assert(f && !(f->flags & LZ_FN_OPTIMIZED) && f->line == 6);
	ck_assert(strcmp(f->file, "collatz.c") == 0 && f->n_markers == 2);
	ck_assert_ptr_eq(lz_cfg_func_at(cfg, f->entry), f);
	ck_assert(lz_cfg_func_at(cfg, f->entry + 1) == NULL);
	for (uint32_t line = 8; line < 17; line++)
		for (uint32_t v = 0; v < f->graph.n_nodes; v++)
			if (has_line(cfg, f, v, line)) {
				lines_seen++;
				break;
			}
	/* 8 9 10 11 13 14 16: the braces and `else' have no code */
	ck_assert_uint_eq(lines_seen, 7);
	lz_cfg_close(cfg);
}
END_TEST

static const struct lz_assigned *variable(const struct lz_cfg_func *f, const char *name)
{
	for (uint32_t i = 0; i < f->assigns->n_vars; i++)
		if (strcmp(f->assigns->vars[i].name, name) == 0)
			return &f->assigns->vars[i];
	return NULL;
}

static bool assigns_in(const struct lz_cfg *cfg, const char *name, uint32_t flags, uint32_t line)
{
	const struct lz_cfg_func *f = by_name(cfg, "note");
	const struct lz_assigned *v = variable(f, name);

	return v && v->flags == flags && v->n == 1 && has_line(cfg, f, v->nodes[0], line);
}

START_TEST(variables_are_there)
{
	struct lz_cfg *cfg = lz_cfg_open(program);
	const struct lz_cfg_func *f = by_name(cfg, "note");

	ck_assert(assigns_in(cfg, "own", LZ_VAR_LOCAL | LZ_VAR_SCALAR, 27));
	ck_assert(assigns_in(cfg, "at", LZ_VAR_LOCAL | LZ_VAR_SCALAR, 27));
	ck_assert(assigns_in(cfg, "kept", LZ_VAR_SCALAR, 29));
	ck_assert(variable(f, "by")->flags == (LZ_VAR_LOCAL | LZ_VAR_SCALAR) &&
	          variable(f, "by")->n == 0);
	ck_assert(variable(f, "given")->flags & LZ_VAR_ESCAPES);
	ck_assert(!variable(f, "taken") && !variable(f, "level"));
	ck_assert(variable(by_name(cfg, "collatz"), "steps")->n == 2);
	ck_assert(variable(by_name(cfg, "collatz"), "n")->n == 2);
	ck_assert(lz_cfg_taken(cfg, "taken") && lz_cfg_taken(cfg, "level"));
	ck_assert(!lz_cfg_taken(cfg, "kept") && !lz_cfg_taken(cfg, "own"));
	lz_cfg_close(cfg);
}
END_TEST

static const unsigned char *code_at(uint64_t addr)
{
	/* the first segments of a small program lie in the file as in memory */
	ck_assert_uint_lt(addr, size - 16);
	return (const unsigned char *)bytes + addr;
}

START_TEST(sites_are_marker_instructions)
{
	struct lz_cfg *cfg = lz_cfg_open(program);
	const struct lz_cfg_site *s;
	unsigned edges = 0;
	size_t n;

	ck_assert(cfg != NULL);
	s = lz_cfg_sites(cfg, &n);
	for (size_t i = 0; i < n; i++) {
		static const unsigned char movb[] = {0x41, 0xc6, 0x07};
		const unsigned char *code = code_at(s[i].addr);

		ck_assert_mem_eq(code, movb, 3);
		ck_assert_uint_eq(code[3], s[i].code);
		ck_assert(lz_marker_size(s[i].code) != 0);
		ck_assert(i == 0 || s[i - 1].addr < s[i].addr);
		edges += s[i].id != 0;
		if (s[i].id)
			ck_assert_uint_eq(s[i].id, s[i].code);
	}
	/* two in collatz, one or more in main */
	ck_assert_uint_ge(edges, 3);
	lz_cfg_close(cfg);
}
END_TEST

START_TEST(labels_cover_the_blocks)
{
	struct lz_cfg *cfg = lz_cfg_open(program);
	const struct lz_cfg_func *f = by_name(cfg, "collatz");
	const struct lz_cfg_label *l;
	bool seen[64] = {0};
	size_t n;

	l = lz_cfg_labels(cfg, &n);
	for (size_t i = 0; i < n; i++) {
		ck_assert(i == 0 || l[i - 1].addr <= l[i].addr);
		if (lz_cfg_func(cfg, l[i].func) == f)
			seen[l[i].block] = true;
		ck_assert_uint_eq(lz_cfg_label_before(cfg, l[i].addr)->addr, l[i].addr);
	}
	for (uint32_t v = 0; v < f->graph.n_nodes; v++)
		ck_assert(seen[v] == (v != f->graph.exit));
	ck_assert(lz_cfg_label_before(cfg, 0) == NULL);
	ck_assert(lz_cfg_label_before(cfg, UINT64_MAX) == NULL);
	/* before its first label the function has no block */
	ck_assert(lz_cfg_label_before(cfg, f->entry) == NULL ||
	          lz_cfg_func(cfg, lz_cfg_label_before(cfg, f->entry)->func) == f);
	lz_cfg_close(cfg);
}
END_TEST

START_TEST(programs_without_sections)
{
	struct lz_cfg *cfg = lz_cfg_open("/proc/self/exe");

	ck_assert_msg(cfg != NULL, "%s", lz_error());
	ck_assert_uint_eq(lz_cfg_n_funcs(cfg), 0);
	ck_assert(lz_cfg_func_at(cfg, 0x1000) == NULL && lz_cfg_func(cfg, 0) == NULL);
	lz_cfg_close(cfg);
	ck_assert(lz_cfg_open("/dev/null") == NULL);
	ck_assert(strstr(lz_error(), "not an ELF file") != NULL);
	ck_assert(lz_cfg_open("/nonexistent/program") == NULL);
}
END_TEST

START_TEST(unknown_version_is_named)
{
	uint16_t version = 77;
	char *copy = malloc(size);

	memcpy(copy, bytes, size);
	memcpy(copy + section.sh_offset + 4, &version, 2);
	write_file(damaged, copy, size);
	free(copy);
	ck_assert(lz_cfg_open(damaged) == NULL);
	ck_assert(strstr(lz_error(), "version 77") && strstr(lz_error(), "versions 1 to 3"));
}
END_TEST

static uint64_t seed = 4711;

static size_t rnd(size_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(seed >> 20) % n;
}

/* Reads everything that a damaged file still offers. */
static void use(struct lz_cfg *cfg)
{
	for (size_t i = 0; i < lz_cfg_n_funcs(cfg); i++) {
		const struct lz_cfg_func *f = lz_cfg_func(cfg, i);
		size_t sum = strlen(f->name) + strlen(f->file);

		for (uint32_t v = 0; v < f->graph.n_nodes; v++) {
			uint32_t *ids;

			sum += f->blocks[v].n_pre ? f->blocks[v].pre[f->blocks[v].n_pre - 1] : 0;
			sum += f->blocks[v].n_post ? f->blocks[v].post[0] : 0;
			ck_assert_int_ge(lz_graph_preset(&f->graph, v, &ids), 0);
			free(ids);
		}
		for (uint32_t v = 0; v < f->graph.n_nodes; v++)
			for (uint32_t k = 0; k < f->blocks[v].n_lines; k++)
				ck_assert(lz_cfg_file_name(
				    cfg, f->lines[f->blocks[v].first_line + k].file));
		for (uint32_t k = 0; f->assigns && k < f->assigns->n_vars; k++)
			sum += lz_cfg_taken(cfg, f->assigns->vars[k].name);
		ck_assert(lz_cfg_func_at(cfg, f->entry) && sum + 1);
	}
	lz_cfg_close(cfg);
}

static void try_damaged(char *copy, size_t n)
{
	struct lz_cfg *cfg;

	write_file(damaged, copy, n);
	cfg = lz_cfg_open(damaged);
	if (cfg)
		use(cfg);
	else
		ck_assert(strlen(lz_error()) > 10);
	memcpy(copy, bytes, size);
}

START_TEST(damaged_files_do_no_harm)
{
	char *copy = malloc(size);

	memcpy(copy, bytes, size);
	for (int i = 0; i < 300; i++) { /* in the section */
		for (size_t k = 1 + rnd(4); k > 0; k--)
			copy[section.sh_offset + rnd(section.sh_size)] ^= (char)(1 << rnd(8));
		try_damaged(copy, size);
	}
	for (int i = 0; i < 100; i++) { /* whole words of it */
		uint32_t word = rnd(2) ? 0xffffffff : (uint32_t)rnd(1 << 16);

		memcpy(copy + section.sh_offset + (rnd(section.sh_size) & ~3u), &word, 4);
		try_damaged(copy, size);
	}
	for (int i = 0; i < 100; i++) { /* ELF header and section headers */
		uint64_t shoff;
		size_t at;

		memcpy(&shoff, bytes + 0x28, 8);
		at = rnd(4) ? shoff + rnd(size - shoff) : rnd(64);
		copy[at] ^= (char)(1 << rnd(8));
		try_damaged(copy, size);
	}
	for (int i = 0; i < 100; i++)
		try_damaged(copy, rnd(size));
	free(copy);
}
END_TEST

static size_t ranges_of(const char *path)
{
	struct lz_cfg *cfg = lz_cfg_open(path);
	size_t n = cfg->n_ranges;

	lz_cfg_close(cfg);
	return n;
}

/* Section headers take 64 bytes each, and each could name all symbols again. */
START_TEST(symbols_are_read_once)
{
	char *copy = malloc(size);
	Elf64_Ehdr head;
	Elf64_Shdr sh, symbols = {0};

	memcpy(copy, bytes, size);
	memcpy(&head, bytes, sizeof(head));
	for (int i = 0; i < head.e_shnum; i++) {
		memcpy(&sh, bytes + head.e_shoff + i * sizeof(sh), sizeof(sh));
		if (sh.sh_type == SHT_SYMTAB)
			symbols = sh;
	}
	ck_assert_uint_eq(symbols.sh_type, SHT_SYMTAB);
	for (int i = 0; i < head.e_shnum; i++) {
		memcpy(&sh, bytes + head.e_shoff + i * sizeof(sh), sizeof(sh));
		if (sh.sh_type == SHT_NOTE)
			memcpy(copy + head.e_shoff + i * sizeof(sh), &symbols, sizeof(sh));
	}
	write_file(damaged, copy, size);
	free(copy);
	ck_assert_uint_eq(ranges_of(damaged), ranges_of(program));
}
END_TEST

/* A function of N blocks one behind the other, without markers: each block's sets lead through all. */
static void *long_chain(uint32_t n, size_t *len)
{
	struct lz_cfg_header h = {.magic = LZ_CFG_MAGIC,
	                          .version = LZ_CFG_VERSION,
	                          .entry = 1,
	                          .n_nodes = n,
	                          .exit_node = n - 1,
	                          .n_edges = n - 1,
	                          .strings_size = 8};
	struct lz_cfg_node node = {.pre = LZ_CFG_NO_SET, .post = LZ_CFG_NO_SET};
	char *all, *to;

	h.size = *len = LZ_CFG_HEADER_SIZE + n * sizeof(node) +
	                (n - 1) * sizeof(struct lz_cfg_edge) + h.strings_size;
	all = to = calloc(*len, 1);
	memcpy(to, &h, LZ_CFG_HEADER_SIZE);
	to += LZ_CFG_HEADER_SIZE;
	for (uint32_t v = 0; v < n; v++, to += sizeof(node))
		memcpy(to, &node, sizeof(node));
	for (uint32_t v = 0; v + 1 < n; v++, to += sizeof(struct lz_cfg_edge))
		memcpy(to, &(struct lz_cfg_edge){.src = v, .dst = v + 1},
		       sizeof(struct lz_cfg_edge));
	return all;
}

static int64_t read_chain(uint32_t n)
{
	struct lz_cfg *cfg = calloc(1, sizeof(*cfg));

	cfg->section = long_chain(n, &cfg->section_size);
	int64_t size = lz_cfg_add_record(cfg, 0);
	lz_cfg_close(cfg);
	return size;
}

START_TEST(work_has_a_limit)
{
	ck_assert_int_gt(read_chain(1000), 0);
	ck_assert_int_eq(read_chain(200000), -1);
	ck_assert_msg(strstr(lz_error(), "too much work") != NULL, "%s", lz_error());
}
END_TEST

/* What a record of three blocks says of them. */
struct indices {
	uint32_t entry, exit, file, kind, id; /* kind, id: of its only row */
};

static bool is_taken(struct indices n)
{
	struct lz_cfg *cfg = calloc(1, sizeof(*cfg));
	struct lz_cfg_row row = {.addr = 1, .id = n.id, .kind = (uint8_t)n.kind};
	struct lz_cfg_header h;
	size_t len;
	char *record = long_chain(3, &len), *all = malloc(len + sizeof(row));

	memcpy(&h, record, LZ_CFG_HEADER_SIZE);
	h.size = cfg->section_size = len + sizeof(row);
	h.rows_size = sizeof(row);
	h.entry_node = n.entry;
	h.exit_node = n.exit;
	h.file = n.file;
	memcpy(all, &h, LZ_CFG_HEADER_SIZE);
	memcpy(all + LZ_CFG_HEADER_SIZE, &row, sizeof(row));
	memcpy(all + LZ_CFG_HEADER_SIZE + sizeof(row), record + LZ_CFG_HEADER_SIZE,
	       len - LZ_CFG_HEADER_SIZE);
	free(record);
	cfg->section = all;
	bool taken = lz_cfg_add_record(cfg, 0) >= 0;
	lz_cfg_close(cfg);
	return taken;
}

/* A source graph of three blocks, two arcs and two references, in a record of three nodes and two
 * edges. */
struct source_part {
	struct lz_cfg_source head;
	struct lz_cfg_source_block block[3];
	struct lz_cfg_source_arc arc[2];
	uint32_t ref[2];
};

static struct source_part good_source(void)
{
	return (struct source_part){.head = {.n_blocks = 3, .n_arcs = 2, .n_refs = 2},
	                            .block = {{.node = 0, .callee = LZ_CFG_NO_CALLEE},
	                                      {.node = LZ_CFG_NO_NODE, .callee = LZ_CFG_NO_CALLEE},
	                                      {.node = 2, .callee = 7}},
	                            .arc = {{.src = 0, .dst = 2, .n_refs = 1},
	                                    {.src = 2, .dst = 1, .first_ref = 1, .n_refs = 1}},
	                            .ref = {0, 1}};
}

/* Is a record of this version taken with the part, PART_SIZE bytes without the last CUT, behind it? */
static bool is_part_taken(unsigned version, const void *part, size_t part_size, size_t cut)
{
	struct lz_cfg *cfg = calloc(1, sizeof(*cfg));
	struct lz_cfg_header h;
	size_t len;
	char *record = long_chain(3, &len);

	record = realloc(record, len + part_size);
	memcpy(&h, record, LZ_CFG_HEADER_SIZE);
	h.version = (uint16_t)version;
	h.size = cfg->section_size = len + part_size - cut;
	memcpy(record, &h, LZ_CFG_HEADER_SIZE);
	memcpy(record + len, part, part_size);
	cfg->section = record;
	const bool taken = lz_cfg_add_record(cfg, 0) >= 0;
	lz_cfg_close(cfg);
	return taken;
}

static bool is_source_taken(struct source_part p, size_t cut)
{
	return is_part_taken(LZ_CFG_VERSION_SOURCE, &p, sizeof(p), cut);
}

/* The highest value of each field, and the one above. */
START_TEST(source_graphs_are_checked)
{
	struct source_part p = good_source();

	ck_assert(is_source_taken(p, 0));
	ck_assert(!is_source_taken(p, 8));
	ck_assert(!is_source_taken(p, sizeof(p)));
#define REFUSED(field, value)                                                                      \
	do {                                                                                       \
		p = good_source();                                                                 \
		p.field = (value);                                                                 \
		ck_assert_msg(!is_source_taken(p, 0), #field " %u", (unsigned)(value));            \
	} while (0)
	REFUSED(head.n_blocks, 1);
	REFUSED(head.n_blocks, UINT32_MAX);
	REFUSED(head.n_arcs, UINT32_MAX);
	REFUSED(head.n_refs, UINT32_MAX - 1);
	REFUSED(block[2].node, 3);
	REFUSED(block[2].callee, 8);
	REFUSED(block[2].n_lines, 1);
	REFUSED(block[2].first_line, 1);
	REFUSED(arc[0].src, 3);
	REFUSED(arc[0].dst, 3);
	REFUSED(arc[0].first_ref, 1);
	REFUSED(arc[1].n_refs, 2);
	REFUSED(ref[1], 2);
#undef REFUSED
}
END_TEST

/* No source graph, two variables and two nodes, in a record of three nodes. */
struct assigns_part {
	struct lz_cfg_source source;
	struct lz_cfg_assigns head;
	struct lz_cfg_assigned var[2];
	uint32_t node[2];
};

static struct assigns_part good_assigns(void)
{
	return (struct assigns_part){.head = {.n_vars = 2, .n_nodes = 2},
	                             .var = {{.name = 7, .n = 1}, {.first = 1, .n = 1}},
	                             .node = {0, 2}};
}

static bool is_assigns_taken(struct assigns_part p, size_t cut)
{
	return is_part_taken(LZ_CFG_VERSION_ASSIGNS, &p, sizeof(p), cut);
}

START_TEST(assigned_variables_are_checked)
{
	struct assigns_part p = good_assigns();

	ck_assert(is_assigns_taken(p, 0));
	for (size_t cut = 8; cut <= sizeof(p); cut += 8)
		ck_assert(!is_assigns_taken(p, cut));
#define REFUSED(field, value)                                                                      \
	do {                                                                                       \
		p = good_assigns();                                                                \
		p.field = (value);                                                                 \
		ck_assert_msg(!is_assigns_taken(p, 0), #field " %u", (unsigned)(value));           \
	} while (0)
	REFUSED(source.n_blocks, 1);
	REFUSED(source.n_arcs, 1);
	REFUSED(head.n_vars, UINT32_MAX);
	REFUSED(head.n_nodes, UINT32_MAX - 1);
	REFUSED(var[0].name, 8);
	REFUSED(var[0].first, 1);
	REFUSED(var[1].n, 2);
	REFUSED(var[1].first, UINT32_MAX);
	REFUSED(node[1], 3);
#undef REFUSED
}
END_TEST

/* The highest value of each, and the one above. */
START_TEST(indices_have_limits)
{
	ck_assert(is_taken((struct indices){2, 2, 7, LZ_ROW_LABEL, 2}));
	ck_assert(!is_taken((struct indices){3, 2, 7, LZ_ROW_LABEL, 2}));
	ck_assert(!is_taken((struct indices){2, 3, 7, LZ_ROW_LABEL, 2}));
	ck_assert(!is_taken((struct indices){2, 2, 8, LZ_ROW_LABEL, 2}));
	ck_assert(!is_taken((struct indices){2, 2, 7, LZ_ROW_LABEL, 3}));
	ck_assert(is_taken((struct indices){2, 2, 7, LZ_ROW_SITE, 0}));
	ck_assert(!is_taken((struct indices){2, 2, 7, LZ_ROW_SITE, 1}));
	ck_assert(!is_taken((struct indices){2, 2, 7, LZ_ROW_SITE + 1, 0}));
	ck_assert(!is_taken((struct indices){2, 2, 7, 0, 0}));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cfg");
	TCase *t = tcase_create("reader");

	tcase_set_timeout(t, 120);
	tcase_add_unchecked_fixture(t, build, clean);
	tcase_add_test(t, functions_are_there);
	tcase_add_test(t, variables_are_there);
	tcase_add_test(t, sites_are_marker_instructions);
	tcase_add_test(t, labels_cover_the_blocks);
	tcase_add_test(t, programs_without_sections);
	tcase_add_test(t, unknown_version_is_named);
	tcase_add_test(t, damaged_files_do_no_harm);
	tcase_add_test(t, symbols_are_read_once);
	tcase_add_test(t, work_has_a_limit);
	tcase_add_test(t, source_graphs_are_checked);
	tcase_add_test(t, assigned_variables_are_checked);
	tcase_add_test(t, indices_have_limits);
	suite_add_tcase(s, t);
	return run_suite(s);
}
