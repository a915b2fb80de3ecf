/* Calls of many kinds, each of which tells its arguments and what it returns, in GDB's words:
 *   NAME NUMBER (ARGUMENTS)
 *   NAME NUMBER return VALUE */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>

#define WHOLE __attribute__((noipa))

struct pair {
	int a, b;
};
struct big {
	long v[5];
};
enum colour { RED, GREEN };

static jmp_buf out;
static int sums, turns, words, bigs, quiets, manys, throwers;

static WHOLE int sum(int n)
{
	const int number = ++sums;

	printf("sum %d (n=%d)\n", number, n);
	const int value = n > 0 ? n + sum(n - 1) : 0;
	printf("sum %d return %d\n", number, value);
	return value;
}

static WHOLE struct pair turn(struct pair p)
{
	const struct pair value = {p.b, p.a + 1};

	printf("turn %d (p={a = %d, b = %d})\n", ++turns, p.a, p.b);
	printf("turn %d return {a = %d, b = %d}\n", turns, value.a, value.b);
	return value;
}

static WHOLE const char *word(const char *text, double x)
{
	const char *value = text + (int)x;

	printf("word %d (text=0x%lx \"%s\", x=%g)\n", ++words, (unsigned long)text, text, x);
	printf("word %d return 0x%lx \"%s\"\n", words, (unsigned long)value, value);
	return value;
}

static WHOLE struct big fill(long first, enum colour c)
{
	struct big b = {{first, first + 1, first + 2, first + 3, c}};

	printf("fill %d (first=%ld, c=%s)\n", ++bigs, first, c == RED ? "RED" : "GREEN");
	printf("fill %d return {v = {%ld, %ld, %ld, %ld, %ld}}\n", bigs, b.v[0], b.v[1], b.v[2], b.v[3], b.v[4]);
	return b;
}

static WHOLE void quiet(char c)
{
	printf("quiet %d (c=%d '%c')\n", ++quiets, c, c);
}

static WHOLE long many(int a, int b, int c, int d, int e, int f, long g, short h)
{
	const long value = a + b + c + d + e + f + g + h;

	printf("many %d (a=%d, b=%d, c=%d, d=%d, e=%d, f=%d, g=%ld, h=%d)\n", ++manys, a, b, c, d, e, f, g, h);
	printf("many %d return %ld\n", manys, value);
	return value;
}

static WHOLE void thrower(int depth)
{
	printf("thrower %d (depth=%d)\n", ++throwers, depth);
	if (depth == 0)
		longjmp(out, 1);
	thrower(depth - 1);
	puts("not here");
}

static void *worker(void *arg)
{
	sum(*(const int *)arg);
	return NULL;
}

int main(void)
{
	struct pair p = {1, 2};
	int two = 2;
	pthread_t t;

	for (int i = 0; i < 3; i++) {
		sum(i + 1);
		p = turn(p);
		quiet((char)('A' + i));
		fill(10 * i, i % 2 ? GREEN : RED);
		many(i, 2, 3, 4, 5, 6, 7L * i, (short)-i);
	}
	word(word("lizard", 1), 2.5);
	if (!setjmp(out))
		thrower(2);
	pthread_create(&t, NULL, worker, &two);
	pthread_join(t, NULL);
	return sum(4) != 10;
}
