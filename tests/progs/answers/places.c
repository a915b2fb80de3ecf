/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code that compilers change: inlined calls, a table of jumps, loops that are turned, tail calls, a cold part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned seed = 1;

static inline unsigned next(unsigned limit)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % limit;
}

static int opcode(unsigned op, int x)
{
	switch (op) {
	case 0: return x + 1;
	case 1: x *= 3; break;
	case 2: x -= (int)next(7); break;
	case 3: x ^= 0x55; break;
	case 4: x = x / 2 + 1; break;
	case 5: x = -x; break;
	case 6: return abs(x);
	default: x += 9; break;
	}
	return x & 0xffff;
}

__attribute__((noinline)) static int even(int n);

__attribute__((noinline)) static int odd(int n)
{
	if (n == 0)
		return 0;
	return even(n - 1);
}

__attribute__((noinline)) static int even(int n)
{
	if (n == 0)
		return 1;
	return odd(n - 1);
}

__attribute__((noinline)) static int words(const char *text)
{
	int n = 0, inside = 0;

	for (; *text; text++) {
		const int letter = (*text >= 'a' && *text <= 'z') || *text == '_';

		if (letter && !inside)
			n++;
		inside = letter;
	}
	if (__builtin_expect(n > 1000, 0)) {
		fprintf(stderr, "too many words\n");
		abort();
	}
	return n;
}

__attribute__((noinline)) static double sums(const double *v, int n)
{
	double up = 0, down = 0;

	for (int i = 0; i < n; i++) {
		if (v[i] > 0.5)
			up += v[i];
		else
			down -= v[i];
	}
	return up > down ? up : down;
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 100;
	double v[64];
	int x = 7, count = 0;

	for (int i = 0; i < rounds; i++) {
		x = opcode(next(8), x);
		if (x > 1000)
			count++;
		v[i % 64] = next(1000) / 1000.0;
	}
	for (int i = rounds; i < 64; i++)
		v[i] = 0;
	for (int i = 0; i < 9; i++)
		count += even(i) + words("two words and_more") + (strlen(argv[0]) > 3);
	printf("%d %d %.3f\n", x, count, sums(v, 64));
	return 0;
}
