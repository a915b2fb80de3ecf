/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/places.h"

#include "replayer/answers/function_names.h"
#include <common/base/array.h>
#include <common/base/cleanup.h>
#include <errno.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static int add(struct lz_asked *a, struct lz_places *p, struct lz_module *mod, uint64_t addr)
{
	const struct lz_place one = {
	    .addr = addr, .fn = lz_stream_fn_at(a->stream, addr, mod->from_event), .mod = mod};

	if (one.fn == LZ_FN_NONE) {
		p->n_foreign++;
		p->foreign = mod->path;
		return 0;
	}
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].addr == addr && p->v[i].fn == one.fn)
			return 0;
	if (lz_reserve(p->v, p->room, p->n + 1) < 0)
		return -1;
	p->v[p->n++] = one;
	return 0;
}

/* ---- *ADDRESS ---- */

static int find_address(struct lz_asked *a, const char *text, struct lz_places *p)
{
	char *end;

	errno = 0;
	const uint64_t addr = strtoull(text, &end, 0);
	if (!*text || *end || errno)
		return lz_fail("`*%s` is no address: *0x401136 is one", text);
	for (size_t i = 0; i < lz_modules_count(a->modules); i++) {
		struct lz_module *mod = lz_modules_get(a->modules, i);

		if (addr >= mod->start && addr < mod->end && add(a, p, mod, addr) < 0)
			return -1;
	}
	return p->n || p->n_foreign ? 0 : lz_fail("no code of a file was ever at %s", text);
}

/* ---- a function ---- */

static int find_function(struct lz_asked *a, const char *name, struct lz_places *p)
{
	lz_auto_free uint8_t *wanted = NULL;

	if (lz_functions_named(a, name, &wanted) < 0)
		return -1;
	for (uint32_t i = 0; i < lz_stream_n_fns(a->stream); i++) {
		const struct lz_fn *fn = lz_stream_fn(a->stream, i);

		if (!wanted[i])
			continue;
		if (lz_reserve(p->v, p->room, p->n + 1) < 0)
			return -1;
		p->v[p->n++] = (struct lz_place){fn->f->entry + fn->mod->bias, i, fn->mod};
	}
	return 0;
}

/* ---- FILE:LINE ---- */

/* INSTRUMENTED: in files that have such code, or in the others. */
static int find_in_modules(struct lz_asked *a, const char *file, uint32_t line, bool instrumented,
                           struct lz_places *p)
{
	for (size_t i = 0; i < lz_modules_count(a->modules); i++) {
		struct lz_module *mod = lz_modules_get(a->modules, i);
		const struct lz_cfg *cfg = lz_module_cfg(a->modules, mod);
		struct lz_line_places found;

		if ((cfg && lz_cfg_n_funcs(cfg) > 0) != instrumented)
			continue;
		struct lz_lines *l = lz_module_lines(a->modules, mod);
		int rc = l ? lz_lines_places(l, file, line, &found) : 0;
		if (!l)
			continue;
		for (size_t k = 0; rc == 0 && k < found.n; k++)
			rc = add(a, p, mod, found.addr[k] + mod->bias);
		if (found.n && (!p->line || found.line < p->line))
			p->line = found.line;
		free(found.addr);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int find_line(struct lz_asked *a, const char *file, uint32_t line, struct lz_places *p)
{
	if (find_in_modules(a, file, line, true, p) < 0)
		return -1;
	if (!p->n && !p->n_foreign && find_in_modules(a, file, line, false, p) < 0)
		return -1;
	if (p->n || p->n_foreign)
		return 0;
	return lz_fail("no code of %s:%u is known: is the file's name right, and was it compiled "
	               "with -g?",
	               file, line);
}

/* FILE, malloced, and LINE. */
static char *split(const char *text, uint32_t *line)
{
	const char *colon = strrchr(text, ':');
	char *end;

	if (!colon || colon == text || colon[1] < '0' || colon[1] > '9')
		return NULL;
	errno = 0;
	const unsigned long n = strtoul(colon + 1, &end, 10);
	if (*end || errno || !n || n > UINT32_MAX)
		return NULL;
	*line = (uint32_t)n;
	return strndup(text, (size_t)(colon - text));
}

int lz_places_find(struct lz_asked *a, const char *text, struct lz_places *p)
{
	uint32_t line;
	char *file = *text == '*' ? NULL : split(text, &line);
	int rc;

	*p = (struct lz_places){0};
	if (file)
		rc = find_line(a, file, line, p);
	else
		rc = *text == '*' ? find_address(a, text + 1, p) : find_function(a, text, p);
	free(file);
	if (rc == 0 && !p->n)
		rc = lz_fail("%s is in code that lizard-cc did not compile (%s): it writes no "
		             "markers, so it is not known how often control was there",
		             text, p->foreign);
	if (rc < 0)
		lz_places_free(p);
	return rc;
}

void lz_places_free(struct lz_places *p)
{
	free(p->v);
	*p = (struct lz_places){0};
}
