/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/function_names.h"
#include "replayer/answers/paths.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

struct parsing {
	const struct lz_asked *a;
	struct lz_path *p;
	char *rest;
	char *word; /* the next one; NULL: there is none */
};

static void next(struct parsing *x)
{
	do
		x->word = strsep(&x->rest, " \t\n");
	while (x->word && !*x->word);
}

static bool is_word(const struct parsing *x, const char *what)
{
	return x->word && !strcmp(x->word, what);
}

static bool is_sign(const struct parsing *x)
{
	return is_word(x, ">") || is_word(x, ">>") || is_word(x, "then") || is_word(x, "without");
}

/* Adds the function that the next word names. */
static int take_function(struct parsing *x, uint8_t **functions)
{
	if (!x->word || is_sign(x))
		return lz_fail("the path wants a function%s%s", x->word ? ", not " : " at its end",
		               x->word ? x->word : "");
	const int rc = lz_functions_named(x->a, x->word, functions);
	if (rc < 0 && strchr(x->word, '>'))
		return lz_fail("no instrumented function has the name %s: words of a path have "
		               "blanks between them",
		               x->word);
	next(x);
	return rc;
}

static int take_step(struct parsing *x, struct lz_path_chain *c, bool direct)
{
	struct lz_path *p = x->p;

	if (p->n_steps == LZ_PATH_STEPS)
		return lz_fail("a path has at most %d functions", LZ_PATH_STEPS);
	c->n++;
	p->step[p->n_steps].direct = direct;
	return take_function(x, &p->step[p->n_steps++].is);
}

static int take_chain(struct parsing *x)
{
	struct lz_path *p = x->p;

	if (p->n_chains == LZ_PATH_CHAINS)
		return lz_fail("a path has at most %d chains", LZ_PATH_CHAINS);
	struct lz_path_chain *c = &p->chain[p->n_chains++];
	*c = (struct lz_path_chain){.first = p->n_steps};
	int rc = take_step(x, c, false);
	while (rc == 0 && (is_word(x, ">") || is_word(x, ">>"))) {
		const bool direct = is_word(x, ">>");
		next(x);
		rc = take_step(x, c, direct);
	}
	if (rc < 0 || !is_word(x, "without"))
		return rc;
	next(x);
	do
		rc = take_function(x, &c->without);
	while (rc == 0 && x->word && !is_sign(x));
	return rc;
}

static int take_path(struct parsing *x)
{
	int rc = take_chain(x);

	while (rc == 0 && is_word(x, "then")) {
		next(x);
		rc = take_chain(x);
	}
	if (rc == 0 && x->word)
		return lz_fail("the path does not go on with `%s`", x->word);
	return rc;
}

int lz_path_parse(const struct lz_asked *a, const char *text, struct lz_path *p)
{
	char *copy = strdup(text);
	struct parsing x = {.a = a, .p = p, .rest = copy};

	*p = (struct lz_path){.n_steps = 0};
	if (!copy)
		return lz_fail("out of memory for a path");
	next(&x);
	const int rc = take_path(&x);
	free(copy);
	if (rc < 0)
		lz_path_free(p);
	return rc;
}

void lz_path_free(struct lz_path *p)
{
	for (unsigned i = 0; i < p->n_steps; i++)
		free(p->step[i].is);
	for (unsigned i = 0; i < p->n_chains; i++)
		free(p->chain[i].without);
	*p = (struct lz_path){.n_steps = 0};
}
