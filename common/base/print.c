/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/base/print.h>
#include <common/base/printable.h>
#include <printf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* One that is printed: where to, which arguments are left, and whether these may have several
 * lines. */
struct print {
	FILE *to;
	va_list args;
	bool lines;
};

static void put(const struct print *p, const char *text)
{
	while (p->lines && strchr(text, '\n')) {
		char *line = strndup(text, strcspn(text, "\n"));

		lz_put_printable(p->to, line ? line : "no memory", "");
		free(line);
		fputs("\n  ", p->to);
		text = strchr(text, '\n') + 1;
	}
	lz_put_printable(p->to, text, "");
}

/* Passes over an argument. */
static void pass(struct print *p, int type)
{
	switch (type & ~PA_FLAG_MASK) {
	case PA_STRING:
	case PA_POINTER: (void)va_arg(p->args, void *); break;
	case PA_DOUBLE:
		if (type & PA_FLAG_LONG_DOUBLE)
			(void)va_arg(p->args, long double);
		else
			(void)va_arg(p->args, double);
		break;
	default:
		if (type & (PA_FLAG_LONG | PA_FLAG_LONG_LONG))
			(void)va_arg(p->args, long long);
		else
			(void)va_arg(p->args, int);
	}
}

/* A stretch of a format without control characters: those in its output come from arguments. */
static void put_stretch(struct print *p, const char *fmt)
{
	enum { TYPES = 32 };
	int types[TYPES], n = (int)parse_printf_format(fmt, TYPES, types);
	char *text = NULL;
	va_list args;

	va_copy(args, p->args);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	put(p, text ? text : "no memory");
	free(text);
	for (int i = 0; i < n && i < TYPES; i++)
		pass(p, types[i]);
}

static bool is_control(char c)
{
	return (unsigned char)c < ' ';
}

static void put_all(struct print *p, const char *fmt)
{
	for (size_t n; *fmt; fmt += n) {
		for (n = 0; fmt[n] && !is_control(fmt[n]); n++)
			;
		if (n) {
			char *stretch = strndup(fmt, n);

			put_stretch(p, stretch ? stretch : "no memory");
			free(stretch);
		}
		for (; is_control(fmt[n]) && fmt[n]; n++)
			fputc(fmt[n], p->to);
	}
}

static char *printed(const char *fmt, va_list args, bool lines)
{
	char *text = NULL;
	size_t len;
	struct print p = {.to = open_memstream(&text, &len), .lines = lines};

	if (!p.to)
		return NULL;
	va_copy(p.args, args);
	put_all(&p, fmt);
	va_end(p.args);
	fclose(p.to);
	return text;
}

/* How many bytes of S may have to be escaped. */
static size_t odd(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s < ' ' || *s == 127;
	return n;
}

/* At once: others may print on the same terminal. Nearly all arguments have none of those bytes,
 * and are printed the quick way. */
static void print(FILE *to, const char *fmt, va_list args, bool lines)
{
	char quick[512];
	va_list again;

	va_copy(again, args);
	int n = vsnprintf(quick, sizeof quick, fmt, again);
	va_end(again);
	if (n >= 0 && (size_t)n < sizeof quick && odd(quick) == odd(fmt)) {
		fputs(quick, to);
		return;
	}
	char *text = printed(fmt, args, lines);

	fputs(text ? text : "no memory\n", to);
	free(text);
}

void lz_print(FILE *to, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print(to, fmt, args, false);
	va_end(args);
}

void lz_print_lines(FILE *to, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	lz_vprint_lines(to, fmt, args);
	va_end(args);
}

void lz_vprint_lines(FILE *to, const char *fmt, va_list args)
{
	print(to, fmt, args, true);
}

char *lz_printed_lines(const char *fmt, va_list args)
{
	return printed(fmt, args, true);
}
