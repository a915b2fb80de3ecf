/* main() makes millions of calls and is then left; so are a constructor before it and a handler behind it. */
#include <stdio.h>
#include <stdlib.h>

static int turns;

#ifdef BEFORE
__attribute__((constructor)) static void before(void)
{
	turns++;
}
#endif

static int odd(int i)
{
	return i & 1;
}

static void behind(void)
{
	for (int i = 0; i < 200; i++)
		turns += odd(i);
} /* behind is left here */

int main(void)
{
	int n = 0;

	atexit(behind);
	for (int i = 0; i < 3000000; i++) {
		if (i % 3)
			n += odd(i);
		else
			n -= odd(i);
	}
	printf("%d\n", n);
	return 0;
} /* main is left here */
