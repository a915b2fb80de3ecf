/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as Markdown. All that a recording says stands in fenced blocks, whose fence is longer
 * than any row of backticks in them: nothing there can be markup. */
#include "replayer/report/report.h"

#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <string.h>

static size_t longest_row(const char *text)
{
	size_t most = 0;

	for (const char *at = strchr(text, '`'); at; at = strchr(at, '`')) {
		size_t n = strspn(at, "`");

		most = n > most ? n : most;
		at += n;
	}
	return most;
}

static void print_fence(FILE *to, size_t n)
{
	while (n--)
		fputc('`', to);
}

/* TEXT consists of whole lines. */
static void print_block(FILE *to, const char *text)
{
	size_t row = longest_row(text), fence = row < 3 ? 3 : row + 1;

	print_fence(to, fence);
	fputs("text\n", to);
	lz_report_each_line(to, text, "");
	print_fence(to, fence);
	fputs("\n\n", to);
}

static void print_part(FILE *to, const struct lz_report_part *part, const json_t *facts)
{
	lz_auto_free char *text = lz_report_lines(part, facts);

	if (!text)
		return;
	lz_print(to, "### %s\n\n", part->title);
	print_block(to, text);
}

void lz_report_markdown(FILE *to, const json_t *report)
{
	const json_t *facts, *list = json_object_get(report, "processes");
	size_t i;

	fputs("## Recording by Lizard\n\n", to);
	json_array_foreach(list, i, facts)
	{
		if (json_array_size(list) > 1)
			lz_print(
			    to, "## Process %llu\n\n",
			    (unsigned long long)json_integer_value(json_object_get(facts, "pid")));
		for (int k = 0; k < LZ_REPORT_PARTS; k++)
			print_part(to, &lz_report_parts[k], facts);
	}
}
