/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coverage as a tracefile of lcov: the format is described in man geninfo. */
#include "replayer/coverage/coverage.h"

#include <common/base/print.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <stdio.h>

static void write_functions(const struct lz_coverage *c, uint32_t file, FILE *to)
{
	size_t found = 0, hit = 0;

	for (size_t i = 0; i < c->n_fns; i++)
		if (c->fn[i].file == file)
			lz_print(to, "FN:%u,%s\n", c->fn[i].line, c->fn[i].name);
	for (size_t i = 0; i < c->n_fns; i++) {
		const struct lz_covered_fn *f = &c->fn[i];

		if (f->file != file)
			continue;
		lz_print(to, "FNDA:%" PRIu64 ",%s\n", f->calls, f->name);
		found++;
		hit += f->calls > 0;
	}
	fprintf(to, "FNF:%zu\nFNH:%zu\n", found, hit);
}

/* Of a block that control did not come to, nothing is known of its ways. */
static void write_branches(const struct lz_coverage *c, uint32_t file, FILE *to)
{
	size_t found = 0, hit = 0;

	for (size_t i = 0; i < c->n_branches; i++) {
		const struct lz_covered_branch *b = &c->branch[i];

		if (b->at.file != file)
			continue;
		fprintf(to, "BRDA:%u,%u,%u,", b->at.line, b->at.block, b->at.way);
		if (b->reached)
			fprintf(to, "%" PRIu64 "\n", b->taken);
		else
			fprintf(to, "-\n");
		found++;
		hit += b->taken > 0;
	}
	fprintf(to, "BRF:%zu\nBRH:%zu\n", found, hit);
}

static void write_lines(const struct lz_coverage *c, uint32_t file, FILE *to)
{
	size_t found = 0, hit = 0;

	for (size_t i = 0; i < c->n_lines; i++) {
		const struct lz_covered_line *l = &c->line[i];

		if (l->file != file)
			continue;
		fprintf(to, "DA:%u,%" PRIu64 "\n", l->line, l->n);
		found++;
		hit += l->n > 0;
	}
	fprintf(to, "LF:%zu\nLH:%zu\n", found, hit);
}

int lz_coverage_write_lcov(const struct lz_coverage *c, FILE *to)
{
	for (uint32_t file = 0; file < c->n_files; file++) {
		if (!c->file[file])
			continue;
		lz_print(to, "TN:\nSF:%s\n", c->file[file]);
		write_functions(c, file, to);
		write_branches(c, file, to);
		write_lines(c, file, to);
		fputs("end_of_record\n", to);
	}
	return fflush(to) || ferror(to) ? lz_fail_errno("the coverage cannot be written") : 0;
}
