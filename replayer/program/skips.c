/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares as skip.c of GDB does. */
#include "replayer/program/skips.h"

#include <common/base/array.h>
#include <common/base/cleanup.h>
#include <ctype.h>
#include <fnmatch.h>
#include <lizard/error.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

struct skip {
	char *file, *function; /* "": any */
	bool is_glob, is_regexp;
	regex_t regexp;
};

struct lz_skips {
	struct skip *v;
	size_t n, room;
	uint64_t number;
	char *text; /* of which it was made */
};

/* ---- reading ---- */

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The text that LEN hexadecimal digits are; malloced. NULL: they are none. */
static char *text_of(const char *hex, size_t len)
{
	char *text = calloc(len / 2 + 1, 1);

	for (size_t i = 0; text && i < len / 2; i++) {
		const int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);

		if (high < 0 || low < 0 || !(high | low)) {
			free(text);
			return NULL;
		}
		text[i] = (char)(high << 4 | low);
	}
	return text;
}

/* Takes "WORD:DIGITS" off *AT, WORD one of two. False: it is something else. */
static bool take_part(const char **at, const char *const word[2], bool *second, char **pattern)
{
	const size_t len = strcspn(*at, ":");

	*second = len == strlen(word[1]) && !strncmp(*at, word[1], len);
	if ((!*second && (len != strlen(word[0]) || strncmp(*at, word[0], len) != 0)) ||
	    (*at)[len] != ':')
		return false;
	*at += len + 1;
	const size_t digits = strspn(*at, "0123456789abcdef");
	*pattern = text_of(*at, digits);
	*at += digits;
	return *pattern && digits % 2 == 0;
}

static bool take_skip(const char **at, struct skip *s)
{
	static const char *const files[2] = {"file", "glob"};
	static const char *const functions[2] = {"function", "regexp"};

	return take_part(at, files, &s->is_glob, &s->file) && *(*at)++ == ':' &&
	       take_part(at, functions, &s->is_regexp, &s->function) && (!**at || **at == ' ');
}

static void free_skip(struct skip *s)
{
	free(s->file);
	free(s->function);
	if (s->is_regexp)
		regfree(&s->regexp);
}

static int add(struct lz_skips *s, const char **at)
{
	struct skip one = {0};
	bool ok = take_skip(at, &one);

	/* as long as there is none, there is nothing to free */
	const bool is_regexp = one.is_regexp;
	one.is_regexp = false;
	if (ok && is_regexp)
		ok = one.is_regexp = !regcomp(&one.regexp, one.function, REG_EXTENDED | REG_NOSUB);
	if (ok && lz_reserve(s->v, s->room, s->n + 1) == 0) {
		s->v[s->n++] = one;
		return 0;
	}
	free_skip(&one);
	return ok ? lz_fail("out of memory for what is skipped")
	          : lz_fail("what is to be skipped is not understood");
}

struct lz_skips *lz_skips_new(const char *text)
{
	static uint64_t last;
	struct lz_skips *s = calloc(1, sizeof(*s));

	if (!s || !(s->text = strdup(text))) {
		lz_skips_free(s);
		lz_fail("out of memory for what is skipped");
		return NULL;
	}
	s->number = ++last;
	for (text += strspn(text, " "); *text; text += strspn(text, " "))
		if (add(s, &text) < 0) {
			lz_skips_free(s);
			return NULL;
		}
	return s;
}

void lz_skips_free(struct lz_skips *s)
{
	for (size_t i = 0; s && i < s->n; i++)
		free_skip(&s->v[i]);
	if (s) {
		free(s->v);
		free(s->text);
	}
	free(s);
}

bool lz_skips_is(const struct lz_skips *s, const char *text)
{
	return s && !strcmp(s->text, text);
}

uint64_t lz_skips_number(const struct lz_skips *s)
{
	return s ? s->number : 0;
}

/* ---- comparing ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* PATTERN is the file's path, or its last parts. */
static bool is_file(const char *path, const char *pattern)
{
	const size_t n = strlen(path), m = strlen(pattern);

	return m && m <= n && !strcmp(path + n - m, pattern) &&
	       (n == m || *pattern == '/' || path[n - m - 1] == '/');
}

static bool fits_glob(const char *path, const char *pattern)
{
	const int flags = FNM_FILE_NAME | FNM_NOESCAPE;

	return fnmatch(pattern, path, flags) == 0 ||
	       (!strchr(pattern, '/') && fnmatch(pattern, base_name(path), flags) == 0);
}

/* Spaces do not count, and parameters may be left out. */
static bool is_function(const char *name, const char *wanted)
{
	for (;;) {
		name += strspn(name, " ");
		wanted += strspn(wanted, " ");
		if (!*wanted)
			return !*name || *name == '(';
		if (*name++ != *wanted++)
			return false;
	}
}

static bool fits(const struct skip *s, const char *function, const char *file)
{
	const bool by_file =
	    *s->file && file && (s->is_glob ? fits_glob(file, s->file) : is_file(file, s->file));
	const bool by_function =
	    *s->function && (s->is_regexp ? !regexec(&s->regexp, function, 0, NULL, 0)
	                                  : is_function(function, s->function));

	return *s->file && *s->function ? by_file && by_function : by_file || by_function;
}

bool lz_skips_has(const struct lz_skips *s, const char *function, const char *file)
{
	for (size_t i = 0; s && i < s->n; i++)
		if (fits(&s->v[i], function, file))
			return true;
	return false;
}
