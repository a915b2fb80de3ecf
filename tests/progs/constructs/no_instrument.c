/* no_instrument_function: such a function calls and is called by instrumented ones, static ones too */
#include "check.h"

__attribute__((noinline)) static int helper(int x)
{
	return x > 5 ? x - 5 : x + 1;
}

__attribute__((noinline, no_instrument_function)) static int plain(int x)
{
	int s = 0;

	for (int i = 0; i < x; i++)
		s += helper(i);
	return s;
}

__attribute__((noinline)) static int outer(int x)
{
	return plain(x) + helper(x);
}

int main(void)
{
	int s = 0;

	for (int i = 0; i < 10; i++)
		s += outer(i);
	printf("%d\n", s);
	CHECK(s == 160);
	DONE("no_instrument");
}
