/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cmds/ask/tree_at.h>

#include <common/base/print.h>
#include <common/base/text.h>
#include <replayer/answers/tree_around.h>
#include <stdio.h>

enum { DEPTH = 1, LIMIT = 10 };

static void indent(uint32_t level)
{
	for (uint32_t i = 0; i < level; i++)
		fputs("  ", stdout);
}

/* Lines are left out here. */
static int print_gap(const struct lz_asking *asking, uint32_t level)
{
	if (asking->json)
		return lz_json_print(json_pack("{sb}", "omitted", true));
	fputs("  ", stdout);
	indent(level);
	puts("...");
	return 0;
}

static int print_line(const struct lz_asking *asking, const struct lz_tree_line *line, bool runs,
                      uint32_t level)
{
	const struct lz_asked *a = &asking->asked;
	const uint32_t tid = lz_asked_tid(a, line->thread);
	const char *name = lz_asking_name(asking, line->fn);
	char at[LZ_INSTANT_TEXT];

	lz_asked_instant(tid, line->from, at);
	if (asking->json)
		return lz_json_print(json_pack("{so si si ss sb}", "function", lz_json_text(name),
		                               "level", (int)line->level, "thread", (int)tid,
		                               "from", at, "runs", (int)runs));
	fputs(runs ? "* " : "  ", stdout);
	indent(level);
	lz_print(stdout, "%s  %s\n", name, at);
	return 0;
}

static int print(const struct lz_asking *asking, const struct lz_tree_around *t)
{
	const uint32_t outermost = t->n ? t->v[0].level : 0;
	int rc = t->no_outermost ? print_gap(asking, 0) : 0;

	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		const uint32_t level = t->v[i].level - outermost;
		if (i == t->n_callers && t->no_first)
			rc = print_gap(asking, level);
		if (rc == 0)
			rc = print_line(asking, &t->v[i], i == t->running, level);
	}
	return rc == 0 && t->no_last ? print_gap(asking, t->v[t->n - 1].level - outermost) : rc;
}

int lz_tree_print_around(struct lz_asking *asking, const char *at, uint64_t depth, uint64_t limit)
{
	struct lz_tree_around_options o = {.depth = depth == UINT64_MAX ? DEPTH : depth,
	                                   .most = limit == UINT64_MAX ? LIMIT : limit};
	struct lz_tree_around t;

	if (lz_asked_offset(&asking->asked, at, &o.offset) < 0)
		return -1;
	int rc = lz_tree_around(&asking->asked, &o, &t);
	if (rc == 0)
		rc = print(asking, &t);
	lz_tree_around_free(&t);
	return rc;
}
