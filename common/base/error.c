/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Error texts and warnings: see include/lizard/error.h. */
#include <lizard/error.h>
#include <common/base/print.h>
#include <common/base/printable.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread char text[2048] = "no error";

/* What it says may come from a recording. Line breaks stay: a divergence has several lines. */
static void keep(const char *fresh)
{
	lz_copy_printable(text, sizeof text, fresh, "\n");
}

int lz_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char fresh[sizeof text];
	vsnprintf(fresh, sizeof fresh, fmt, ap);
	va_end(ap);
	keep(fresh);
	return -1;
}

int lz_fail_errno(const char *fmt, ...)
{
	int saved = errno;
	char fresh[sizeof text];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(fresh, sizeof fresh / 2, fmt, ap);
	va_end(ap);
	size_t len = strlen(fresh);

	snprintf(fresh + len, sizeof fresh - len, ": %s", strerror(saved));
	keep(fresh);
	errno = saved;
	return -1;
}

int lz_fail_in(const char *fmt, ...)
{
	char context[sizeof text / 4], fresh[sizeof text];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(context, sizeof context, fmt, ap);
	va_end(ap);
	snprintf(fresh, sizeof fresh, "%s: %.1500s", context, text);
	keep(fresh);
	return -1;
}

const char *lz_error(void)
{
	return text;
}

static void print_line(const char *fmt, va_list ap)
{
	char *line = NULL;

	if (asprintf(&line, "lizard: %s\n", fmt) < 0)
		line = NULL;
	lz_vprint_lines(stderr, line ? line : fmt, ap);
	free(line);
}

void lz_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_line(fmt, ap);
	va_end(ap);
}

void lz_debug(const char *fmt, ...)
{
	static int wanted = -1;
	va_list ap;

	if (wanted < 0)
		wanted = getenv("LIZARD_DEBUG") != NULL;
	if (!wanted)
		return;
	va_start(ap, fmt);
	print_line(fmt, ap);
	va_end(ap);
}
