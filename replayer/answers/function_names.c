/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/function_names.h"

#include <common/base/cleanup.h>
#include <common/base/nearest.h>
#include <dlfcn.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of C++ ---- */

typedef char *demangle_fn(const char *name, char *buf, size_t *len, int *status);

/* Of libstdc++, which a recorder would load for nothing. NULL: it is not here. */
static demangle_fn *demangler(void)
{
	static demangle_fn *fn;
	static bool tried;

	if (!tried) {
		void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
		if (library)
			fn = (demangle_fn *)dlsym(library, "__cxa_demangle");
	}
	tried = true;
	return fn;
}

/* "int most<int>(int, int)"; malloced. NULL: it is no such name. */
static char *demangled(const char *name)
{
	int status;

	if (strncmp(name, "_Z", 2) != 0 || !demangler())
		return NULL;
	return demangler()(name, NULL, NULL, &status);
}

static void cut_end(char *name, const char *end)
{
	const size_t n = strlen(name), m = strlen(end);

	if (n >= m && !strcmp(name + n - m, end))
		name[n - m] = 0;
}

static void cut_parameters(char *name)
{
	const size_t n = strlen(name);
	int depth = 0;

	if (!n || name[n - 1] != ')')
		return;
	for (size_t i = n; i-- > 0;) {
		depth += name[i] == ')';
		depth -= name[i] == '(';
		if (!depth) {
			name[i] = 0;
			return;
		}
	}
}

/* Templates have it in their names. */
static void cut_returned(char *name)
{
	const size_t n = strlen(name), word = strcspn(name, " <(");

	if (n && name[n - 1] == '>' && name[word] == ' ' && !strstr(name, "operator"))
		memmove(name, name + word + 1, n - word);
}

/* "int most<int>(int, int)" becomes "most<int>", as a user types it. */
static void shorten(char *name)
{
	char *clone = strstr(name, " [clone ");

	if (clone)
		*clone = 0;
	cut_end(name, " const");
	cut_parameters(name);
	cut_returned(name);
}

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
	lz_auto_free char *name = demangled(function);

	if (!name)
		return false;
	if (ends_with(name, typed))
		return true;
	shorten(name);
	return ends_with(name, typed);
}

/* ---- those of a recording ---- */

static void see(struct lz_nearest *n, const char *function)
{
	lz_auto_free char *name = demangled(function);

	if (name)
		shorten(name);
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
	return lz_fail("no instrumented function has the name %s: `lizard calls --names` lists all",
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
