/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/spectrum.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs ---- */

static int file_of(struct lz_spectrum *s, const char *name, uint32_t *number)
{
	for (uint32_t i = s->n_files; i-- > 0;)
		if (!strcmp(s->file[i], name)) {
			*number = i;
			return 0;
		}
	if (lz_extend(s->file, s->n_files) < 0)
		return -1;
	if (!(s->file[s->n_files] = strdup(name)))
		return lz_fail("out of memory");
	*number = s->n_files++;
	return 0;
}

static int by_line(const void *a, const void *b)
{
	const struct lz_suspect *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void add_up(struct lz_spectrum *s)
{
	size_t n = 0;

	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_line);
	for (size_t i = 0; i < s->n; i++) {
		if (n && !by_line(&s->v[n - 1], &s->v[i])) {
			s->v[n - 1].failed += s->v[i].failed;
			s->v[n - 1].passed += s->v[i].passed;
		} else {
			s->v[n++] = s->v[i];
		}
	}
	s->n = n;
}

static int add_file(struct lz_spectrum *s, const struct lz_coverage *run, uint32_t file,
                    bool failed)
{
	uint32_t number = 0;
	int rc = file_of(s, run->file[file], &number);

	for (size_t i = 0; rc == 0 && i < run->n_lines; i++) {
		if (run->line[i].file != file || !run->line[i].n)
			continue;
		rc = lz_reserve(s->v, s->room, s->n + 1);
		if (rc == 0)
			s->v[s->n++] = (struct lz_suspect){.file = number,
			                                   .line = run->line[i].line,
			                                   .failed = failed,
			                                   .passed = !failed};
	}
	return rc;
}

int lz_spectrum_add(struct lz_spectrum *s, const struct lz_coverage *run, bool failed)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < run->n_files; i++)
		rc = add_file(s, run, i, failed);
	add_up(s);
	s->failed += failed;
	s->passed += !failed;
	return rc;
}

/* ---- ranks ---- */

static double share(uint32_t n, uint32_t all)
{
	return all ? (double)n / all : 0;
}

/* sqrt() is a library more to load, for each tracer, too. */
static double root(double x)
{
	return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)));
}

static double ochiai(const struct lz_spectrum *s, const struct lz_suspect *one)
{
	const double came = (double)one->failed + one->passed;

	return one->failed ? one->failed / root((double)s->failed * came) : 0;
}

static double tarantula(const struct lz_spectrum *s, const struct lz_suspect *one)
{
	const double failed = share(one->failed, s->failed), passed = share(one->passed, s->passed);

	return one->failed ? failed / (failed + passed) : 0;
}

static int by_score(const void *a, const void *b)
{
	const struct lz_suspect *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->failed != y->failed)
		return x->failed > y->failed ? -1 : 1;
	return by_line(a, b);
}

void lz_spectrum_rank(struct lz_spectrum *s, enum lz_formula formula)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].failed)
			s->v[n++] = s->v[i];
	s->n = n;
	for (size_t i = 0; i < n; i++)
		s->v[i].score = formula == LZ_OCHIAI ? ochiai(s, &s->v[i]) : tarantula(s, &s->v[i]);
	if (n)
		qsort(s->v, n, sizeof(*s->v), by_score);
	for (size_t i = 0; i < n; i++)
		s->v[i].rank =
		    i && s->v[i].score == s->v[i - 1].score ? s->v[i - 1].rank : (uint32_t)i + 1;
}

void lz_spectrum_free(struct lz_spectrum *s)
{
	for (uint32_t i = 0; i < s->n_files; i++)
		free(s->file[i]);
	free(s->file);
	free(s->v);
	*s = (struct lz_spectrum){0};
}
