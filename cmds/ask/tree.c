/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard tree: who called whom, in order, read from the recorded control flow. */
#include <cmds/ask/asking.h>
#include <cmds/base/cmds.h>
#include <cmds/ask/tree_at.h>
#include <cmds/ask/tree_trace.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <replayer/answers/call_tree.h>
#include <replayer/answers/function_names.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *to)
{
	fprintf(
	    to,
	    "usage: lizard tree [options] RECORDING\n\n"
	    "Prints the tree of calls: time downwards, callees to the right, each call with\n"
	    "the instant at which it begins. Nothing is run.\n\n"
	    "      --root FUNCTION     only calls of this function, and what is below them\n"
	    "      --depth N           at most N levels\n"
	    "      --limit N           at most N lines\n"
	    "      --fold              equal subtrees that follow each other become one line,\n"
	    "                          with their number\n"
	    "      --at POS            around this instant: who called what runs then (*), what\n"
	    "                          else that called, and what is called until it returns;\n"
	    "                          --depth levels below it (1), --limit lines before and\n"
	    "                          behind the instant (10)\n"
	    "      --dot FILE          write the folded tree for Graphviz (-: to stdout)\n"
	    "      --trace FILE        write calls, system calls, signals, turns and output as\n"
	    "                          trace events, for Perfetto (-: to stdout)\n" LZ_ASKING_HELP);
}

struct wishes {
	struct lz_asking asking;
	const char *root, *dot, *trace, *at;
	uint64_t depth, limit, lines;
	bool fold;
};

enum { ENOUGH = -2 }; /* the limit is reached, or nobody reads on */

static void indent(uint64_t level)
{
	for (uint64_t i = 0; i < level; i++)
		fputs("  ", stdout);
}

static bool is_enough(struct wishes *w)
{
	return w->lines++ >= w->limit || ferror(stdout);
}

/* ---- each call ---- */

static int print_line(void *arg, const struct lz_tree_line *line)
{
	struct wishes *w = arg;
	const struct lz_asked *a = &w->asking.asked;
	const uint32_t tid = lz_asked_tid(a, line->thread);
	char at[LZ_INSTANT_TEXT];

	if (is_enough(w))
		return ENOUGH;
	lz_asked_instant(tid, line->from, at);
	if (w->asking.json) {
		json_t *o = json_object();
		json_object_set_new(o, "function", lz_json_text(lz_asked_name(a, line->fn)));
		json_object_set_new(o, "level", json_integer(line->level));
		json_object_set_new(o, "thread", json_integer(tid));
		json_object_set_new(o, "from", json_string(at));
		return lz_json_print(o);
	}
	indent(line->level);
	lz_print(stdout, "%s  %s\n", lz_asked_short_name(a, line->fn), at);
	return 0;
}

/* ---- folded ---- */

static int print_run(struct wishes *w, const struct lz_tree *t, const struct lz_tree_run *run,
                     uint64_t level)
{
	const struct lz_tree_node *node = &t->node[run->node];
	const char *name = lz_asking_name(&w->asking, node->fn);
	int rc = 0;

	if (is_enough(w))
		return ENOUGH;
	if (w->asking.json) {
		json_t *o = json_object();
		json_object_set_new(o, "function", lz_json_text(name));
		json_object_set_new(o, "level", json_integer((json_int_t)level));
		json_object_set_new(o, "times", json_integer((json_int_t)run->times));
		rc = lz_json_print(o);
	} else {
		indent(level);
		if (run->times > 1)
			lz_print(stdout, "%s  x%" PRIu64 "\n", name, run->times);
		else
			lz_print(stdout, "%s\n", name);
	}
	for (uint32_t i = 0; rc == 0 && i < node->n; i++)
		rc = print_run(w, t, &t->run[node->first + i], level + 1);
	return rc;
}

static int print_folded(struct wishes *w, const struct lz_tree *t)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < t->n_top; i++)
		rc = print_run(w, t, &t->top[i], 0);
	return rc;
}

/* A name in quotes. */
static void write_name(const char *name, FILE *to)
{
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			fputc('\\', to);
		lz_print(to, "%c", *name);
	}
}

struct graph {
	const struct lz_asked *a;
	const struct lz_tree *t;
};

static int write_dot(void *arg, FILE *to)
{
	const struct graph *g = arg;
	const struct lz_tree *t = g->t;

	fputs("digraph calls {\n\tnode [shape=box];\n", to);
	for (size_t i = 0; i < t->n_nodes; i++) {
		fprintf(to, "\tn%zu [label=\"", i);
		write_name(lz_asked_full_name(g->a, t->node[i].fn), to);
		fputs("\"];\n", to);
		for (uint32_t k = 0; k < t->node[i].n; k++) {
			const struct lz_tree_run *run = &t->run[t->node[i].first + k];
			fprintf(to, "\tn%zu -> n%u [label=\"%" PRIu64 "\"];\n", i, run->node,
			        run->times);
		}
	}
	fputs("}\n", to);
	return fflush(to) || ferror(to) ? lz_fail_errno("the tree cannot be written") : 0;
}

/* ---- the question ---- */

/* Printing a deep tree goes as deep. */
enum { FOLDED_DEPTH = 10000 };

static int fold(struct wishes *w, struct lz_tree_options *o)
{
	struct lz_tree t;

	if (o->depth > FOLDED_DEPTH)
		o->depth = FOLDED_DEPTH;
	struct graph g = {&w->asking.asked, &t};
	int rc = lz_tree_fold(&w->asking.asked, o, &t);

	if (rc == 0)
		rc = w->dot ? lz_asking_write(w->dot, write_dot, &g) : print_folded(w, &t);
	lz_tree_free(&t);
	return rc;
}

static int ask(struct wishes *w)
{
	struct lz_asked *a = &w->asking.asked;
	uint8_t *roots = NULL;

	if (w->trace)
		return lz_tree_trace(&w->asking, w->trace, w->depth);
	int rc = w->root ? lz_functions_named(a, w->root, &roots) : 0;
	struct lz_tree_options o = {.roots = roots, .depth = w->depth};

	if (rc == 0)
		rc = w->fold || w->dot ? fold(w, &o) : lz_tree_walk(a, &o, print_line, w);
	free(roots);
	return rc == ENOUGH ? 0 : rc;
}

static int parse_option(void *arg, int opt)
{
	struct wishes *w = arg;

	switch (opt) {
	case 'R': w->root = optarg; return 0;
	case 'D': return lz_asking_number("--depth", optarg, &w->depth);
	case 'N': return lz_asking_number("--limit", optarg, &w->limit);
	case 'O': w->fold = true; return 0;
	case 'G': w->dot = optarg; return 0;
	case 'E': w->trace = optarg; return 0;
	case 'A': w->at = optarg; return 0;
	default: return 1;
	}
}

int lz_cmd_tree(int argc, char **argv)
{
	static const struct option options[] = {LZ_ASKING_OPTIONS,
	                                        {"root", required_argument, NULL, 'R'},
	                                        {"depth", required_argument, NULL, 'D'},
	                                        {"limit", required_argument, NULL, 'N'},
	                                        {"fold", no_argument, NULL, 'O'},
	                                        {"dot", required_argument, NULL, 'G'},
	                                        {"trace", required_argument, NULL, 'E'},
	                                        {"at", required_argument, NULL, 'A'},
	                                        {0}};
	struct wishes w = {.depth = UINT64_MAX, .limit = UINT64_MAX};
	const struct lz_asking_command c = {.usage = usage,
	                                    .letters = LZ_ASKING_LETTERS,
	                                    .longs = options,
	                                    .option = parse_option,
	                                    .arg = &w};
	int rc = lz_asking_options(&w.asking, argc, argv, &c);

	if (rc >= 0)
		return rc;
	if (optind + 1 != argc || (w.at && (w.root || w.fold || w.dot || w.trace))) {
		usage(stderr);
		return 2;
	}
	if (w.trace && (w.root || w.fold || w.dot)) {
		lz_warn("--trace writes all calls: not with --root, --fold or --dot");
		return 2;
	}
	if (lz_asking_open(&w.asking, argv[optind]) < 0) {
		lz_warn("%s", lz_error());
		return 1;
	}
	rc = w.at ? lz_tree_print_around(&w.asking, w.at, w.depth, w.limit) : ask(&w);
	return lz_asking_finish(&w.asking, rc);
}
