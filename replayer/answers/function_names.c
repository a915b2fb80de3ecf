/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/function_names.h"
#include "replayer/program/cxx_names.h"

#include <common/base/cleanup.h>
#include <common/base/nearest.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* As GDB's break does: namespaces and classes may be left out from the left. */
static bool ends_with(const char *name, const char *typed)
{
	const size_t n = strlen(name), m = strlen(typed);

	if (n < m || strcmp(name + n - m, typed) != 0)
		return false;
	return n == m || (n >= m + 2 && !strncmp(name + n - m - 2, "::", 2));
}

static bool is_called(const char *function, const char *typed)
{
	lz_auto_free char *name = lz_cxx_demangled(function);

	if (!name)
		return false;
	if (ends_with(name, typed))
		return true;
	lz_cxx_shorten(name);
	return ends_with(name, typed);
}

/* ---- those of a recording ---- */

static void see(struct lz_nearest *n, const char *function)
{
	lz_auto_free char *name = lz_cxx_demangled(function);

	if (name)
		lz_cxx_shorten(name);
	for (const char *from = name ? name : function; from; from = strstr(from, "::")) {
		from += !strncmp(from, "::", 2) ? 2 : 0;
		lz_nearest_see(n, from);
	}
}

static int fail_unknown(const struct lz_asked *a, const char *typed)
{
	struct lz_nearest n = {.word = typed};

	for (size_t i = 0; i < lz_stream_n_fns(a->stream); i++)
		see(&n, lz_asked_name(a, (uint32_t)i));
	if (*n.name)
		return lz_fail("no instrumented function has the name %s: did you mean %s?", typed,
		               n.name);
	return lz_fail("no instrumented function has the name %s: it may have been inlined, or not "
	               "built with lizard-cc; `lizard calls --names` lists all",
	               typed);
}

int lz_functions_named(const struct lz_asked *a, const char *name, uint8_t **wanted)
{
	const size_t n = lz_stream_n_fns(a->stream);
	bool found = false;

	if (!*wanted && !(*wanted = calloc(n + 1, 1)))
		return lz_fail("out of memory for %zu functions", n);
	for (int cpp = 0; cpp < 2 && !found; cpp++)
		for (size_t i = 0; i < n; i++) {
			const char *function = lz_asked_name(a, (uint32_t)i);

			if (cpp ? !is_called(function, name) : strcmp(function, name) != 0)
				continue;
			(*wanted)[i] = LZ_WATCH_ALL;
			found = true;
		}
	return found ? 0 : fail_unknown(a, name);
}
