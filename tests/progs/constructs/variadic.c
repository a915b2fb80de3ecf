/* variadic functions: integers, doubles, va_copy, passing a va_list on */
#include <stdarg.h>
#include <string.h>
#include "check.h"

static double sum(const char *kinds, ...)
{
	va_list ap, again;
	double s = 0;

	va_start(ap, kinds);
	va_copy(again, ap);
	for (const char *k = kinds; *k; k++)
		s += *k == 'i'   ? va_arg(ap, int)
		     : *k == 'l' ? (double)va_arg(ap, long)
		                 : va_arg(ap, double);
	if (*kinds == 'i')
		s += va_arg(again, int);
	va_end(again);
	va_end(ap);
	return s;
}

static void format(char *out, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out, size, fmt, ap);
	va_end(ap);
}

int main(void)
{
	char text[64];
	double s = sum("iddlididididi", 1, 2.5, 3.5, 1000L, 4, 0.25, 5, 0.25, 6, 0.5, 7, 1.0, 8);

	format(text, sizeof(text), "%d %s %.1f", 7, "words", 2.5);
	printf("%.2f %s\n", s, text);
	CHECK(s == 1040.0 && strcmp(text, "7 words 2.5") == 0);
	DONE("variadic");
}
