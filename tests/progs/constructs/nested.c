/* nested functions: with a trampoline, recursive, and a non-local goto out of them */
#include "check.h"

static int apply(int (*f)(int), int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += f(i);
	return s;
}

static int outer(int k)
{
	int calls = 0;

	int inner(int x)
	{
		calls++;
		return x * k;
	}
	int sum = apply(inner, 10);

	return sum * 100 + calls;
}

static int search(const int *v, int n, int want)
{
	__label__ found;
	int at = -1;

	void look(int i)
	{
		if (i == n)
			return;
		if (v[i] == want) {
			at = i;
			goto found;
		}
		look(i + 1);
	}
	look(0);
	return -1;
found:
	return at;
}

int main(void)
{
	static const int v[] = {5, 3, 8, 1};

	printf("%d %d %d\n", outer(3), search(v, 4, 8), search(v, 4, 9));
	CHECK(outer(3) == 13510 && search(v, 4, 8) == 2 && search(v, 4, 9) == -1);
	DONE("nested");
}
