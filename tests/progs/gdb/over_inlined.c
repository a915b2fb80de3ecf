/* An inlined call with a loop in which functions are called, the caller too, and a handler runs. */
#include <signal.h>
#include <stdio.h>

static volatile int beats;
int work(int depth);

static void beat(int sig)
{
	beats += sig;
}

__attribute__((noinline)) int callee(int i)
{
	return i * 3 + beats;
}

static inline __attribute__((always_inline)) int sum(int n, int depth)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		s += callee(i) ^ s << 1;
		if (i == 40)
			raise(SIGUSR1);
		if (i == 50 && depth)
			s += work(depth - 1);
	}
	return s;
}

__attribute__((noinline)) int work(int depth)
{
	int s = depth;

	s += sum(100, depth);
	printf("%d: %d\n", depth, s);
	return s;
}

int main(void)
{
	signal(SIGUSR1, beat);
	return work(2) == 0;
}
