/* Inlined calls in inlined calls, in a loop with a marker that is put far behind: it is said to be met seldom. */
#include <stdio.h>

static volatile int noise;

static inline __attribute__((always_inline)) int scan(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		if (!__builtin_expect(noise >= 0, 0))
			s += i;
		noise++;
	}
	return s;
}

static inline __attribute__((always_inline)) int outer(int n)
{
	int s = noise;

	noise = s + 1;
	s += scan(n);
	noise = s;
	noise++;
	return s;
}

__attribute__((noinline)) int work(int n)
{
	int s = noise;

	s += outer(n);
	noise = s;
	return s + noise;
}

int main(void)
{
	printf("%d\n", work(200));
	return 0;
}
