/* function pointers: tables, returned pointers, static functions whose address is taken */
#include "check.h"

typedef int op(int, int);

static int add(int a, int b)
{
	return a + b;
}
static int sub(int a, int b)
{
	return a - b;
}
static int mul(int a, int b)
{
	return a * b;
}

static op *const ops[] = {add, sub, mul};

__attribute__((noinline)) static op *choose(int i)
{
	return ops[i % 3];
}

static int fold(op *f, int n)
{
	int acc = 1;

	for (int i = 1; i <= n; i++)
		acc = f(acc, i);
	return acc;
}

int main(void)
{
	int r[3];

	for (int i = 0; i < 3; i++)
		r[i] = fold(choose(i), 6);
	printf("%d %d %d\n", r[0], r[1], r[2]);
	CHECK(r[0] == 22 && r[1] == -20 && r[2] == 720 && choose(4)(9, 2) == 7);
	DONE("funcptr");
}
