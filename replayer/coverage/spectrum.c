/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/coverage/spectrum.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs ---- */

static int by_place(const void *a, const void *b)
{
	const struct lz_suspect *x = a, *y = b;

	return lz_source_place_order(&x->at, &y->at);
}

static void add_up(struct lz_spectrum *s)
{
	size_t n = 0;

	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_place);
	for (size_t i = 0; i < s->n; i++) {
		const struct lz_suspect *one = &s->v[i];

		if (n && !by_place(&s->v[n - 1], one)) {
			s->v[n - 1].failed += one->failed;
			s->v[n - 1].passed += one->passed;
			s->v[n - 1].times_failed += one->times_failed;
			s->v[n - 1].times_passed += one->times_passed;
		} else {
			s->v[n++] = *one;
		}
	}
	s->n = n;
}

/* Control was there TIMES times in one run. */
static int add(struct lz_spectrum *s, struct lz_suspect one, uint64_t times, bool failed)
{
	if (!times)
		return 0;
	if (lz_reserve(s->v, s->room, s->n + 1) < 0)
		return -1;
	one.failed = failed;
	one.passed = !failed;
	one.times_failed = failed ? times : 0;
	one.times_passed = failed ? 0 : times;
	s->v[s->n++] = one;
	return 0;
}

static int add_lines(struct lz_spectrum *s, const struct lz_coverage *run, const uint32_t *file,
                     bool failed)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < run->n_lines; i++) {
		const struct lz_covered_line *l = &run->line[i];

		rc = add(s, (struct lz_suspect){.at = {.file = file[l->file], .line = l->line}},
		         l->n, failed);
	}
	return rc;
}

static int add_branches(struct lz_spectrum *s, const struct lz_coverage *run, const uint32_t *file,
                        const uint32_t *fn, bool failed)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < run->n_branches; i++) {
		const struct lz_covered_branch *b = &run->branch[i];

		rc = add(s,
		         (struct lz_suspect){.at = {.file = file[b->at.file],
		                                    .line = b->at.line,
		                                    .fn = fn[b->at.fn],
		                                    .block = b->at.block,
		                                    .way = b->at.way},
		                             .to = b->to},
		         b->taken, failed);
	}
	return rc;
}

static int number_all(struct lz_spectrum *s, const struct lz_coverage *run, uint32_t *file,
                      uint32_t *fn)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < run->n_files; i++)
		rc = lz_number_of(&s->files, run->file[i], 0, &file[i]);
	for (size_t i = 0; rc == 0 && s->branches && i < run->n_fns; i++)
		rc = lz_number_of(&s->fns, run->fn[i].name, 0, &fn[i]);
	return rc;
}

int lz_spectrum_add(struct lz_spectrum *s, const struct lz_coverage *run, bool failed)
{
	uint32_t *file = calloc((size_t)run->n_files + 1, sizeof(*file));
	uint32_t *fn = calloc(run->n_fns + 1, sizeof(*fn));
	int rc = file && fn ? number_all(s, run, file, fn) : lz_fail("out of memory");

	if (rc == 0)
		rc = s->branches ? add_branches(s, run, file, fn, failed)
		                 : add_lines(s, run, file, failed);
	free(file);
	free(fn);
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
	return by_place(a, b);
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
	lz_numbers_free(&s->files);
	lz_numbers_free(&s->fns);
	free(s->v);
	*s = (struct lz_spectrum){0};
}
