/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cmds/ask/suspects.h>

#include <common/base/array.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <string.h>

int lz_suspects_failing(struct lz_suspects *s, char *name)
{
	if (lz_extend(s->failing, s->n) < 0)
		return -1;
	s->failing[s->n++] = name;
	if (lz_extend(s->failing, s->n) < 0)
		return -1;
	s->failing[s->n] = NULL;
	return 0;
}

int lz_suspects_formula(struct lz_suspects *s, const char *name)
{
	if (!strcmp(name, "ochiai"))
		s->formula = LZ_OCHIAI;
	else if (!strcmp(name, "tarantula"))
		s->formula = LZ_TARANTULA;
	else
		return lz_fail("--rank takes ochiai or tarantula, not `%s`", name);
	return 0;
}

/* ---- reading ---- */

static int add_run(struct lz_spectrum *s, struct lz_asking *asking, const char *name, bool failed)
{
	struct lz_coverage run = {0};

	if (lz_asking_open(asking, name) < 0)
		return -1;
	int rc = lz_coverage_add(&run, &asking->asked);
	if (rc == 0)
		rc = lz_spectrum_add(s, &run, failed);
	lz_coverage_free(&run);
	return rc;
}

/* All but the last one of all are closed. */
static int add_runs(struct lz_spectrum *s, struct lz_asking *asking, char **names, bool failed)
{
	for (; *names; names++) {
		if (add_run(s, asking, *names, failed) < 0)
			return -1;
		if (asking->asked.partial || (failed && !names[1]))
			return 0;
		lz_asking_tell_missing(asking);
		lz_asked_close(&asking->asked);
	}
	return 0;
}

/* ---- printing ---- */

static void add_branch_json(json_t *o, const struct lz_suspect *one)
{
	json_object_set_new(o, "block", json_integer(one->at.block));
	json_object_set_new(o, "way", json_integer(one->at.way));
	json_object_set_new(o, "to_line", one->to ? json_integer(one->to) : json_null());
}

static int print_json(const struct lz_spectrum *s, const struct lz_suspect *one)
{
	json_t *o = json_object();

	json_object_set_new(o, "rank", json_integer(one->rank));
	json_object_set_new(o, "score", json_real(one->score));
	json_object_set_new(o, "file", lz_json_text(s->files.v[one->at.file].name));
	json_object_set_new(o, "line", json_integer(one->at.line));
	if (s->branches)
		add_branch_json(o, one);
	json_object_set_new(o, "failing", json_integer(one->failed));
	json_object_set_new(o, "all_failing", json_integer(s->failed));
	json_object_set_new(o, "passing", json_integer(one->passed));
	json_object_set_new(o, "all_passing", json_integer(s->passed));
	json_object_set_new(o, "times_failing", json_integer((json_int_t)one->times_failed));
	json_object_set_new(o, "times_passing", json_integer((json_int_t)one->times_passed));
	return lz_json_print(o);
}

static void print_line(const struct lz_spectrum *s, const struct lz_suspect *one)
{
	char to[32] = "";

	if (s->branches && one->to)
		snprintf(to, sizeof(to), " to %u", one->to);
	else if (s->branches)
		snprintf(to, sizeof(to), " way %u", one->at.way);
	lz_print(stdout, "%5u  %.4f  failing %u of %u  passing %u of %u  %s:%u%s", one->rank,
	         one->score, one->failed, s->failed, one->passed, s->passed,
	         s->files.v[one->at.file].name, one->at.line, to);
	if (s->branches)
		lz_print(stdout, " (failing %" PRIu64 " times, passing %" PRIu64 ")",
		         one->times_failed, one->times_passed);
	lz_print(stdout, "\n");
}

static int print_all(const struct lz_spectrum *s, uint64_t top, bool json)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->n && (!top || i < top); i++) {
		if (json)
			rc = print_json(s, &s->v[i]);
		else
			print_line(s, &s->v[i]);
	}
	return rc;
}

int lz_suspects_tell(const struct lz_suspects *s, struct lz_asking *asking, char **passing)
{
	struct lz_spectrum lines = {.branches = s->branches};
	int rc = add_runs(&lines, asking, passing, false);

	if (rc == 0 && !asking->asked.partial)
		rc = add_runs(&lines, asking, s->failing, true);
	if (rc == 0 && !asking->asked.partial) {
		lz_spectrum_rank(&lines, s->formula);
		rc = print_all(&lines, s->top, asking->json);
	}
	lz_spectrum_free(&lines);
	return rc;
}
