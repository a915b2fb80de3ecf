/* An inlined call with a loop whose code the compiler splits: there are 160 ways from its hot part to its cold one. */
#include <stdio.h>

static volatile unsigned rare;

__attribute__((noinline, cold)) static unsigned odd(unsigned i)
{
	return rare += i;
}

#define COLD1(k)                                                                                   \
	if (__builtin_expect(s % 10007 == (k), 0))                                                 \
		s ^= odd(k);
#define COLD4(k) COLD1(k) COLD1((k) + 1) COLD1((k) + 2) COLD1((k) + 3)
#define COLD16(k) COLD4(k) COLD4((k) + 4) COLD4((k) + 8) COLD4((k) + 12)
#define COLD80(k) COLD16(k) COLD16((k) + 16) COLD16((k) + 32) COLD16((k) + 48) COLD16((k) + 64)

static inline __attribute__((always_inline)) void mix(unsigned n)
{
	unsigned s = n;

	for (unsigned i = 0; i < n; i++) {
		s = s * 1664525 + 1013904223;
		COLD80(1)
		COLD80(101)
	}
	rare = s;
}

__attribute__((noinline)) static void work(unsigned n)
{
	puts("work");
	mix(n);
	printf("%u\n", rare);
}

int main(void)
{
	work(200000);
	return 0;
}
