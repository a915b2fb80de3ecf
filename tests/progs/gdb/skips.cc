/* Functions for `skip`: called and inlined, in each other, one that calls back, one of another file. */
#include <cstdio>

static int total;

#define NOINLINE __attribute__((noinline))
#define INLINED static inline __attribute__((always_inline))

namespace box {
template <typename T> struct Box {
	T v[8] = {};

	T &operator[](int i)
	{
		return v[i & 7];
	}

	NOINLINE T sum(int from)
	{
		T s = 0;
		for (int i = from; i < 8; i++)
			s += v[i];
		return s;
	}
};
} // namespace box

NOINLINE static int twice(int n)
{
	total += n;
	return 2 * n;
}

NOINLINE static int apply(int (*f)(int), int n)
{
	int m = f(n + 1);
	return m - f(n);
}

INLINED int inner(int n)
{
	int m = n * 3;
	if (m > 20)
		m -= total & 3;
	return m;
}

INLINED int outer(int n)
{
	int m = inner(n);
	m += twice(m);
	return m + inner(m);
}

# 1 "other.h"
INLINED int elsewhere(int n)
{
	int m = n ^ 5;
	m += total & 1;
	return m;
}
# 63 "skips.cc"

NOINLINE static int round_of(box::Box<int> &b, int n)
{
	b[n] = twice(n) + outer(n);
	b[n + 1] = elsewhere(b[n]) + inner(n);
	int m = apply(twice, b.sum(n & 3));
	m += outer(elsewhere(m));
	return m + b[n];
}

int main()
{
	box::Box<int> b;
	int m = 0;

	for (int n = 0; n < 12; n++)
		m += round_of(b, n);
	printf("%d %d\n", m, total);
	return 0;
}
