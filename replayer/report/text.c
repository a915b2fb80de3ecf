/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as text. */
#include "replayer/report/report.h"

#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <string.h>

static void print_part(FILE *to, const struct lz_report_part *part, const json_t *facts)
{
	lz_auto_free char *text = lz_report_lines(part, facts);

	if (!text)
		return;
	lz_print(to, "%s:\n", part->title);
	lz_report_each_line(to, text, "  ");
	fputc('\n', to);
}

void lz_report_text(FILE *to, const json_t *report)
{
	const json_t *facts, *list = json_object_get(report, "processes");
	size_t i;

	json_array_foreach(list, i, facts)
	{
		if (json_array_size(list) > 1)
			lz_print(
			    to, "Process %llu\n\n",
			    (unsigned long long)json_integer_value(json_object_get(facts, "pid")));
		for (int k = 0; k < LZ_REPORT_PARTS; k++)
			print_part(to, &lz_report_parts[k], facts);
	}
}
