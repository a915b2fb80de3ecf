/* Inlined calls of one function, several in a line, one in a loop whose marker comes before its beginning. */
#include <stdio.h>

static volatile int noise;

static inline __attribute__((always_inline)) int inner(int i)
{
	int k = i;

	for (int j = 0; j < 3; j++)
		if (__builtin_expect(noise > -j, 0))
			k += noise;
	return k;
}

static inline __attribute__((always_inline)) int scan(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		if (!__builtin_expect(noise >= 0, 0))
			s += i;
		noise++;
		s += inner(i) + inner(i + 1);
	}
	return s;
}

__attribute__((noinline)) int work(int n)
{
	int s = noise;

	s += scan(n) * scan(n + 1) + inner(n);
	noise = s;
	for (int i = 0; i < 3; i++)
		s += scan(i + 9);
	if (n > 0)
		s += work(n - 9);
	noise = s;
	return s + noise;
}

int main(void)
{
	printf("%d\n", work(20));
	return 0;
}
