/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the function's record: see include/lizard/cfg_format.h. */
#include "gcc.h"
#include "plugin.h"
#include "macros.h"

/* Above this many set members the reader computes the sets itself. */
static const unsigned max_words = 1 << 18;

struct strings {
	auto_vec<char> text;
	hash_map<nofree_string_hash, unsigned> offsets;
};

static unsigned add_string(struct strings *s, const char *text)
{
	bool known;
	unsigned &offset = s->offsets.get_or_insert(text, &known);

	if (!known) {
		offset = s->text.length();
		for (const char *p = text;; p++) {
			s->text.safe_push(*p);
			if (!*p)
				break;
		}
	}
	return offset;
}

struct sets {
	auto_vec<unsigned> words;
	hash_map<int_hash<unsigned, 0xffffffff, 0xfffffffe>, unsigned> by_hash;
};

static bool same_set(const struct sets *s, unsigned at, const uint32_t *ids, unsigned n)
{
	return s->words[at] == n && memcmp(s->words.address() + at + 1, ids, n * sizeof(*ids)) == 0;
}

/* Neighbours mostly share their sets: each different one is stored once. */
static unsigned add_set(struct sets *s, const uint32_t *ids, int64_t n)
{
	unsigned hash = 2166136261u, at;
	bool known;

	if (s->words.length() + n > max_words)
		return LZ_CFG_NO_SET;
	for (int64_t i = 0; i < n; i++)
		hash = (hash ^ ids[i]) * 16777619u;
	unsigned &slot = s->by_hash.get_or_insert(hash & 0x7fffffff, &known);
	if (known && same_set(s, slot, ids, n))
		return slot;
	at = slot = s->words.length();
	s->words.safe_push(n);
	for (int64_t i = 0; i < n; i++)
		s->words.safe_push(ids[i]);
	return at;
}

static void longs(FILE *out, const unsigned *value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "%s%u", i % 12 == 0 ? "\n\t.long " : ",", value[i]);
	if (n)
		fputc('\n', out);
}

static void write_nodes(FILE *out, const struct lz_function *f, struct sets *s)
{
	struct lz_graph_walker *w = lz_graph_walker_open(&f->graph);

	for (unsigned v = 0; v < f->graph.n_nodes; v++) {
		const uint32_t *ids;
		unsigned word[6] = {f->graph.node_marker[v], f->graph.node_flags[v],
		                    f->first_line[v],        f->n_lines[v],
		                    LZ_CFG_NO_SET,           LZ_CFG_NO_SET};
		int64_t n;

		if (w && s->words.length() < max_words) {
			n = lz_graph_walker_set(w, v, false, &ids);
			word[4] = add_set(s, ids, n);
			n = lz_graph_walker_set(w, v, true, &ids);
			word[5] = add_set(s, ids, n);
		}
		longs(out, word, 6);
	}
	lz_graph_walker_close(w);
}

static void write_edges(FILE *out, const struct lz_function *f)
{
	for (size_t i = 0; i < f->graph.n_edges; i++) {
		const struct lz_edge *e = &f->graph.edges[i];
		unsigned word[4] = {e->src, e->dst, e->marker, e->unmarkable};

		longs(out, word, 4);
		fprintf(out, "\t.quad %llu\n", (unsigned long long)e->weight);
	}
}

static void write_strings(FILE *out, struct strings *s)
{
	unsigned start = 0;

	while (s->text.length() % 8)
		s->text.safe_push('\0');
	while (start < s->text.length()) {
		unsigned end = MIN(start + 64, s->text.length());

		fputs("\t.byte ", out);
		for (unsigned i = start; i < end; i++)
			fprintf(out, "%s%u", i > start ? "," : "", (unsigned char)s->text[i]);
		fputc('\n', out);
		start = end;
	}
}

static void write_source(FILE *out, const struct lz_function *f, const auto_vec<unsigned> &callees)
{
	const unsigned n_refs = f->refs.length() + f->refs.length() % 2;
	const unsigned counts[] = {f->source_blocks.length(), f->source_arcs.length(), n_refs, 0};

	longs(out, counts, ARRAY_SIZE(counts));
	for (unsigned i = 0; i < f->source_blocks.length(); i++) {
		const struct lz_block_record *b = &f->source_blocks[i];
		const unsigned word[] = {b->node, b->first_line, b->n_lines, callees[i]};

		longs(out, word, ARRAY_SIZE(word));
	}
	for (const struct lz_arc_record &a : f->source_arcs) {
		const unsigned word[] = {a.src, a.dst, a.flags, a.first_ref, a.n_refs, 0};

		longs(out, word, ARRAY_SIZE(word));
	}
	longs(out, f->refs.address(), f->refs.length());
	if (n_refs > f->refs.length())
		fputs("\t.long 0\n", out);
}

static const char *var_name(const struct lz_var_record *v)
{
	return v->flags & LZ_VAR_LOCAL ? IDENTIFIER_POINTER(DECL_NAME(v->decl))
	                               : lz_asm_name(v->decl);
}

static void write_assigns(FILE *out, const struct lz_function *f, const auto_vec<unsigned> &names)
{
	unsigned n = 0;

	for (const struct lz_var_record *v : f->vars)
		n += v->nodes.length();
	const unsigned counts[] = {f->vars.length(), n + n % 2}, zero = 0;

	longs(out, counts, ARRAY_SIZE(counts));
	n = 0;
	for (unsigned i = 0; i < f->vars.length(); i++) {
		const struct lz_var_record *v = f->vars[i];
		const unsigned word[] = {names[i], v->flags, n, v->nodes.length()};

		longs(out, word, ARRAY_SIZE(word));
		n += v->nodes.length();
	}
	for (const struct lz_var_record *v : f->vars)
		longs(out, v->nodes.address(), v->nodes.length());
	longs(out, &zero, n % 2);
}

static void write_body(FILE *out, const struct lz_function *f, struct strings *str, unsigned number)
{
	auto_vec<unsigned> callees, names;
	struct sets sets;

	fprintf(out, "\tlz.piece\n.Llz.b%u:\n", number);
	write_nodes(out, f, &sets);
	write_edges(out, f);
	for (unsigned i = 0; i < f->lines.length(); i++) {
		unsigned word[2] = {add_string(str, f->lines[i].file), f->lines[i].line};

		longs(out, word, 2);
	}
	if (sets.words.length() % 2)
		sets.words.safe_push(0);
	longs(out, sets.words.address(), sets.words.length());
	fprintf(out, "\t.set .Llz.w%u, %u\n", number, sets.words.length());
	for (const struct lz_block_record &b : f->source_blocks)
		callees.safe_push(b.callee ? add_string(str, b.callee) : LZ_CFG_NO_CALLEE);
	for (const struct lz_var_record *v : f->vars)
		names.safe_push(add_string(str, var_name(v)));
	write_strings(out, str);
	write_source(out, f, callees);
	write_assigns(out, f, names);
	fprintf(out, "\t.set .Llz.t%u, %u\n", number, str->text.length());
	fprintf(out, ".Llz.e%u:\n\t.popsection\n", number);
}

static void write_header(FILE *out, const struct lz_function *f, unsigned number, unsigned file,
                         unsigned line)
{
	unsigned word[] = {line,
	                   file,
	                   f->n_markers,
	                   f->graph.n_nodes,
	                   f->graph.entry,
	                   f->graph.exit,
	                   (unsigned)f->graph.n_edges,
	                   f->lines.length()};

	fprintf(out,
	        "\tlz.piece\n\t.balign 8\n.Llz.h%u:\n\t.long 0x%x\n\t.value %u, %u\n"
	        "\t.quad .Llz.e%u - .Llz.h%u\n\t.quad .Llz.f%u\n\t.quad .Llz.b%u - .Llz.a%u\n",
	        number, LZ_CFG_MAGIC, LZ_CFG_VERSION_ASSIGNS, f->flags, number, number, number,
	        number, number);
	longs(out, word, ARRAY_SIZE(word));
	fprintf(out, "\t.long .Llz.w%u, .Llz.t%u\n.Llz.a%u:\n\t.popsection\n", number, number,
	        number);
}

/* The record of the function that is being compiled: the rows, which come with
 * its code, go between the two. */
static struct {
	bool pending;
	unsigned number;
	char *header, *body;
} record;

void lz_prepare_record(const struct lz_function *f)
{
	static unsigned number;
	expanded_location at = expand_location(DECL_SOURCE_LOCATION(current_function_decl));
	struct strings str;
	size_t size;
	unsigned file;
	FILE *header, *body;

	add_string(&str, lz_asm_name(current_function_decl));
	file = add_string(&str, at.file ? at.file : "");
	header = open_memstream(&record.header, &size);
	body = open_memstream(&record.body, &size);
	if (!header || !body)
		fatal_error(input_location, "lizard: out of memory");
	write_header(header, f, number, file, at.line);
	write_body(body, f, &str, number);
	if (fclose(header) || fclose(body))
		fatal_error(input_location, "lizard: out of memory");
	record.number = number++;
	record.pending = true;
}

static void begin_record()
{
	lz_begin_function_macros(current_function_decl, record.number);
	fputs(record.header, asm_out_file);
}

static void end_record()
{
	fputs(record.body, asm_out_file);
	free(record.header);
	free(record.body);
	record.header = record.body = NULL;
	record.pending = false;
}

namespace
{
const struct pass_data pass_data_record = {
    RTL_PASS, "lizard_record", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0,
};

class pass_record : public rtl_opt_pass
{
      public:
	pass_record(void (*work)()) : rtl_opt_pass(pass_data_record, g), work_(work)
	{
	}
	bool gate(function *) final override
	{
		return record.pending;
	}
	unsigned execute(function *) final override
	{
		work_();
		return 0;
	}

      private:
	void (*work_)();
};
} // namespace

opt_pass *lz_make_record_pass(bool begin)
{
	return new pass_record(begin ? begin_record : end_record);
}
