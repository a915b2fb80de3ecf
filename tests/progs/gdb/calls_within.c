/* An inlined call that ends in a call of code with lines and without markers, and whose result comes in a piece of its own
 * (at -O2). */
#include <stdio.h>

struct mark {
	long depth, left;
};

static volatile long depth, found;

__attribute__((noinline, no_instrument_function)) int compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	depth += *a == *b;
	return *a - *b;
}

__attribute__((noinline)) char *prepare(char *p)
{
	if (*p == '\\')
		p++;
	return p;
}

__attribute__((noinline)) void begin(struct mark *m)
{
	m->depth = depth;
	m->left = found;
}

__attribute__((noinline)) void end(struct mark *m)
{
	if (depth > m->depth)
		found++;
}

static inline int matches(char *pattern, const char *s)
{
	char *p = prepare(pattern);

	return !compare(p, s);
}

__attribute__((noinline)) int match(char **pattern, const char *s)
{
	struct mark m;
	int result;

	begin(&m);
	result = matches(*pattern, s);
	end(&m);
	return result;
}

int main(void)
{
	char *patterns[] = {"one", "\\two", "three"};
	int sum = 0;

	for (int i = 0; i < 60; i++)
		sum += match(&patterns[i % 3], "two");
	printf("%d %ld\n", sum, found);
	return 0;
}
