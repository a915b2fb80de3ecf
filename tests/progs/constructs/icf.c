/* identical-code folding: equal bodies, static and public, called directly and through pointers */
#include "check.h"

__attribute__((noinline)) static int one(int x)
{
	int s = 0;

	for (int i = 0; i < x; i++)
		s += i % 3 ? i : 1;
	return s;
}

__attribute__((noinline)) int two(int x)
{
	int s = 0;

	for (int i = 0; i < x; i++)
		s += i % 3 ? i : 1;
	return s;
}

__attribute__((noinline)) static int three(int x)
{
	int s = 0;

	for (int i = 0; i < x; i++)
		s += i % 3 ? i : 1;
	return s;
}

__attribute__((noinline)) int user_of_public(int x)
{
	return one(x) + two(x + 1) * 3 + three(x + 2) * 5;
}

int main(void)
{
	int (*volatile p)(int) = three;
	int r = user_of_public(10) + p(3) + one(4);

	printf("%d\n", r);
	CHECK(r == 423);
	DONE("icf");
}
