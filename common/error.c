/* Error texts and warnings: see include/lizard/error.h. */
#include <lizard/error.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread char text[2048] = "no error";

int lz_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char fresh[sizeof text];
	vsnprintf(fresh, sizeof fresh, fmt, ap);
	va_end(ap);
	memcpy(text, fresh, sizeof text);
	return -1;
}

int lz_fail_errno(const char *fmt, ...)
{
	int saved = errno;
	char fresh[sizeof text / 2];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(fresh, sizeof fresh, fmt, ap);
	va_end(ap);
	snprintf(text, sizeof text, "%s: %s", fresh, strerror(saved));
	errno = saved;
	return -1;
}

int lz_fail_in(const char *fmt, ...)
{
	char old[sizeof text], context[sizeof text / 4];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(context, sizeof context, fmt, ap);
	va_end(ap);
	memcpy(old, text, sizeof old);
	snprintf(text, sizeof text, "%s: %.1500s", context, old);
	return -1;
}

const char *lz_error(void)
{
	return text;
}

static void print_line(const char *fmt, va_list ap)
{
	char line[sizeof text];

	vsnprintf(line, sizeof line, fmt, ap);
	fprintf(stderr, "lizard: %s\n", line);
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
