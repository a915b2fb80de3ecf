/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Thunks of C++, known by their symbols: the code that adjusts `this` or a result around a virtual function. */
#include <ctype.h>
#include <string.h>
#include "replayer/program/lines_inside.h"

/* Behind a number as names have it; NULL: there is none. */
static const char *past_number(const char *p)
{
	const char *digits;

	p += *p == 'n';
	for (digits = p; isdigit((unsigned char)*p); p++)
		;
	return p > digits && *p == '_' ? p + 1 : NULL;
}

/* Behind what the C++ ABI calls a call offset, as h16_ or v0_n24_; NULL: there is none. */
static const char *past_offset(const char *p)
{
	char kind = *p;

	if (kind != 'h' && kind != 'v')
		return NULL;
	p = past_number(p + 1);
	return p && kind == 'v' ? past_number(p) : p;
}

/* What the function's name has behind its _Z if NAME is that of a thunk of it; else NULL. */
static const char *thunk_of(const char *name)
{
	const char *p;

	if (strncmp(name, "_ZT", 3) != 0)
		return NULL;
	if (name[3] != 'c')
		return past_offset(name + 3);
	p = past_offset(name + 4);
	return p ? past_offset(p) : NULL;
}

/* Whether a person reads the same in both: destructors of three kinds look alike. */
static bool read_alike(const char *a, const char *b)
{
	size_t n = strlen(a);

	if (strlen(b) != n)
		return false;
	if (n > 4 && a[n - 4] == 'D' && !strcmp(a + n - 2, "Ev"))
		return !strncmp(a, b, n - 3) && !strcmp(b + n - 2, "Ev");
	return !strcmp(a, b);
}

uint64_t lz_lines_thunk_target(struct lz_lines *l, uint64_t addr)
{
	struct lz_range thunk;
	const char *name;

	if (!lines_symbol(l, addr, &thunk) || !(name = thunk_of(thunk.name)))
		return 0;
	/* Of several GDB has the last one. */
	for (size_t i = l->n_syms; i-- > 0;)
		if (!strncmp(l->syms[i].name, "_Z", 2) && read_alike(l->syms[i].name + 2, name))
			return l->syms[i].addr;
	return 0;
}
