/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classifies triangles, days and texts. BUG=N: one line is wrong, which `plant N` marks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BUG
#define BUG 0
#endif
#define WRONG(n, wrong, right) (BUG == (n) ? (wrong) : (right))

/* The middle one: Jones and Harrold's example. */
static int mid(int x, int y, int z)
{
	int m = z;

	if (y < z) {
		if (x < y)
			m = y;
		else if (x < z)
			m = WRONG(1, y, x); /* plant 1 */
	} else {
		if (x > y)
			m = y;
		else if (x > z)
			m = x;
	}
	return m;
}

static const char *triangle(int a, int b, int c)
{
	const char *kind = "scalene";

	if (a + b <= c || a + c <= b || b + c <= a)
		return "none";
	if (a == b && b == c) {
		kind = "equilateral";
	} else if (a == b || b == c || a == c) {
		kind = "isosceles";
		if (a == c)
			kind = WRONG(2, "scalene", kind); /* plant 2 */
	}
	return kind;
}

static int days(int month, int year)
{
	int n = 31;

	if (month == 1) {
		n = 28;
		if (year % 4 == 0) {
			n = 29;
			if (year % 100 == 0)
				n = WRONG(3, 29, 28); /* plant 3 */
			if (year % 400 == 0)
				n = 29;
		}
	} else if (month == 3 || month == 5 || month == 8) {
		n = 30;
	}
	return n;
}

static int vowels(const char *text)
{
	int n = 0;

	for (; *text; text++) {
		if (strchr("aeiou", *text))
			n++;
		if (*text == 'y')
			n += WRONG(4, 0, 1); /* plant 4 */
	}
	return n;
}

int main(int argc, char **argv)
{
	int a = argc > 1 ? atoi(argv[1]) : 0, b = argc > 2 ? atoi(argv[2]) : 0;
	int c = argc > 3 ? atoi(argv[3]) : 0;

	printf("%d\n", mid(a, b, c));
	printf("%s\n", triangle(a, b, c));
	printf("%d\n", days(a, 1600 + 50 * b));
	printf("%d\n", vowels(argc > 4 ? argv[4] : ""));
	return 0;
}
