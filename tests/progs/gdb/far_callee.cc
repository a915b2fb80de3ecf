// SPDX-License-Identifier: GPL-3.0-or-later
// Functions of one line each, whose call takes long: what is behind it, far from the line's beginning.
#include <cstdio>

static int fibonacci(int n)
{ return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

template <typename F> static int ask(F f, int n) { return f(n); }

int main()
{
	auto all = [](int n) { return fibonacci(n); };
	return printf("%d\n", ask(all, 12)) < 0;
}
