/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/program/cxx_names.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_REPETITIONS = 24, /* some thousand times the length */
	MOST_BYTES = 4096      /* of a readable name: many of them are kept */
};

/* What follows an S or a T that stands for an earlier part. */
#define REPEATED "_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

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

/* What refers to an earlier part of a name, which is then written once more: two of them in each
 * part double the length with each part. 200 bytes of a forged name would become gigabytes. */
static size_t repetitions(const char *name)
{
	size_t n = 0;

	for (; *name; name++)
		n += (*name == 'S' || *name == 'T') && name[1] && strchr(REPEATED, name[1]);
	return n;
}

char *lz_cxx_demangled(const char *name)
{
	int status;

	if (strncmp(name, "_Z", 2) != 0 || repetitions(name) > MOST_REPETITIONS || !demangler())
		return NULL;
	char *readable = demangler()(name, NULL, NULL, &status);
	if (readable && strlen(readable) <= MOST_BYTES)
		return readable;
	free(readable);
	return NULL;
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

void lz_cxx_shorten(char *name)
{
	char *clone = strstr(name, " [clone ");

	if (clone)
		*clone = 0;
	cut_end(name, " const");
	cut_parameters(name);
	cut_returned(name);
}
