/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is refused is named, once. */
#include "tracer/calls/calls.h"

#include <lizard/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static void tell(const char *what, int64_t error)
{
	static char *told[MOST];
	static size_t n;

	for (size_t i = 0; i < n; i++)
		if (!told[i] || strcmp(told[i], what) == 0)
			return;
	if (n == MOST)
		return;
	told[n++] = strdup(what);
	lz_warn("%s is not supported: the program gets %s", what, strerrorname_np((int)-error));
	if (n == MOST)
		lz_warn("what else is not supported is not named any more");
}

int64_t lz_refused(int64_t error, const char *fmt, ...)
{
	char what[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	tell(what, error);
	return error;
}
