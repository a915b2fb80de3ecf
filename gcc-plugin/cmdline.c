/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a command line for GCC as far as lizard-cc has to know what it asks for. */
#include "cmdline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *lz_cc_checked(void *p)
{
	if (!p) {
		fputs("lizard-cc: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

void lz_cc_push(struct args *a, const char *arg)
{
	if (a->n + 2 > a->room) {
		a->room = a->room ? 2 * a->room : 64;
		a->v = lz_cc_checked(realloc(a->v, a->room * sizeof(*a->v)));
	}
	a->v[a->n++] = arg;
	a->v[a->n] = NULL;
}

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* OPTION is one of those that -Wl,... passes to the linker. */
static bool for_linker(const char *arg, const char *option)
{
	size_t n = strlen(option);

	if (!starts(arg, "-Wl,"))
		return false;
	for (const char *p = arg + 3; p; p = strchr(p + 1, ','))
		if (starts(p + 1, option) && (p[1 + n] == 0 || p[1 + n] == ','))
			return true;
	return false;
}

/* Options whose value is the next argument. */
static bool takes_value(const char *arg)
{
	static const char *const names[] = {
	    "-o",
	    "-x",
	    "-I",
	    "-L",
	    "-D",
	    "-U",
	    "-include",
	    "-imacros",
	    "-isystem",
	    "-iquote",
	    "-idirafter",
	    "-isysroot",
	    "-iprefix",
	    "-imultilib",
	    "-iwithprefix",
	    "-iwithprefixbefore",
	    "-MF",
	    "-MT",
	    "-MQ",
	    "-T",
	    "-u",
	    "-z",
	    "-e",
	    "-Xlinker",
	    "-Xassembler",
	    "-Xpreprocessor",
	    "--param",
	    "-B",
	    "-A",
	    "-aux-info",
	    "-dumpbase",
	    "-dumpdir",
	    "-dumpbase-ext",
	    "-wrapper",
	    "-specs",
	    "--sysroot",
	    "--entry",
	    "-G",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(arg, names[i]) == 0)
			return true;
	return false;
}

static void note_option(struct command *c, const char *arg)
{
	static const char *const no_link[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"};

	for (size_t i = 0; i < sizeof(no_link) / sizeof(*no_link); i++)
		c->no_link |= strcmp(arg, no_link[i]) == 0;
	c->shared |= strcmp(arg, "-shared") == 0 || strcmp(arg, "--shared") == 0 ||
	             for_linker(arg, "-shared") || for_linker(arg, "--shared") ||
	             for_linker(arg, "-Bshareable");
	c->relocatable |=
	    strcmp(arg, "-r") == 0 || for_linker(arg, "-r") || for_linker(arg, "--relocatable");
	if (strcmp(arg, "-m32") == 0 || strcmp(arg, "-mx32") == 0 || strcmp(arg, "-m16") == 0)
		c->narrow = true;
	if (strcmp(arg, "-m64") == 0)
		c->narrow = false;
	c->check |= strcmp(arg, "-flizard-check") == 0;
	if (starts(arg, "--gcc="))
		c->gcc = arg + strlen("--gcc=");
	c->version |= strcmp(arg, "--version") == 0;
	c->help |= strcmp(arg, "--help") == 0;
	c->nostdlib |= strcmp(arg, "-nostdlib") == 0 || strcmp(arg, "-nostartfiles") == 0;
	c->entry |= starts(arg, "-Wl,-e") || starts(arg, "-Wl,--entry") || starts(arg, "--entry") ||
	            starts(arg, "-Wl,-T") || starts(arg, "-Wl,--script") || starts(arg, "-T") ||
	            strcmp(arg, "-e") == 0;
	if (starts(arg, "-fuse-ld="))
		c->gold = strcmp(arg, "-fuse-ld=gold") == 0;
	if (for_linker(arg, "--gc-sections"))
		c->gc = true;
	if (for_linker(arg, "--no-gc-sections"))
		c->gc = false;
	c->is_static |= strcmp(arg, "-static") == 0 || strcmp(arg, "-static-pie") == 0;
}

/* -Xlinker WORD is another way of -Wl,WORD. */
static void note_linker_option(struct command *c, const char *word)
{
	char arg[64];

	if (snprintf(arg, sizeof(arg), "-Wl,%s", word) < (int)sizeof(arg))
		note_option(c, arg);
}

/* The next word of a response file: blanks separate, quotes and backslashes
 * protect. NULL at the end. */
static char *next_word(const char **text)
{
	const char *p = *text;
	char *word, *out, quote = 0;

	p += strspn(p, " \t\n\r\f\v");
	if (!*p)
		return NULL;
	out = word = lz_cc_checked(malloc(strlen(p) + 1));
	for (; *p && (quote || !strchr(" \t\n\r\f\v", *p)); p++) {
		if (*p == '\\' && p[1])
			*out++ = *++p;
		else if (quote ? *p == quote : (*p == '"' || *p == '\''))
			quote = quote ? 0 : *p;
		else
			*out++ = *p;
	}
	*out = 0;
	*text = p;
	return word;
}

static char *read_whole(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t room = 1 << 16, n = 0, got;
	char *text;

	if (!f)
		return NULL;
	text = lz_cc_checked(malloc(room + 1));
	while ((got = fread(text + n, 1, room - n, f)) > 0) {
		n += got;
		if (n == room)
			text = lz_cc_checked(realloc(text, (room *= 2) + 1));
	}
	text[n] = 0;
	fclose(f);
	return text;
}

void lz_cc_expand(struct args *flat, const char *arg, int depth)
{
	char *text = arg[0] == '@' && depth < 16 ? read_whole(arg + 1) : NULL;
	const char *p = text;
	char *word;

	if (!text) {
		lz_cc_push(flat, arg);
		return;
	}
	while ((word = next_word(&p)))
		lz_cc_expand(flat, word, depth + 1);
	free(text);
}

/* LANGUAGE as -x names it, or NULL. */
static bool is_header(const char *file, const char *language)
{
	static const char *const suffixes[] = {".h",   ".H",   ".hh", ".hpp",
	                                       ".hxx", ".h++", ".hp", ".tcc"};
	const char *end;

	if (language && strcmp(language, "none") != 0) {
		end = strchr(language, '-');
		return end && strcmp(end, "-header") == 0;
	}
	end = strrchr(file, '.');
	for (size_t i = 0; end && i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (strcmp(end, suffixes[i]) == 0)
			return true;
	return false;
}

struct command lz_cc_understand(const struct args *flat)
{
	struct command c = {.headers = true};
	const char *language = NULL;

	for (size_t i = 0; i < flat->n; i++) {
		const char *arg = flat->v[i];

		if (arg[0] != '-' || strcmp(arg, "-") == 0 || starts(arg, "-l")) {
			c.inputs = true;
			c.headers &= arg[0] != '-' && is_header(arg, language);
			continue;
		}
		note_option(&c, arg);
		if (strcmp(arg, "-Xlinker") == 0 && i + 1 < flat->n)
			note_linker_option(&c, flat->v[i + 1]);
		if (starts(arg, "-x"))
			language = arg[2] || i + 1 == flat->n ? arg + 2 : flat->v[i + 1];
		if (takes_value(arg))
			i++;
	}
	c.headers &= c.inputs;
	return c;
}
