/* An inlined loop, of whose markers one is met in each round but put far behind: it is said to be met seldom. */
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

__attribute__((noinline)) int work(int n)
{
	int s = noise;

	s += scan(n);
	noise = s;
	return s + noise;
}

int main(void)
{
	printf("%d\n", work(400000));
	return 0;
}
