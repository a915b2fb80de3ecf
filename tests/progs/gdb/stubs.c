/* A function of a library that is called and whose address is taken: the call goes through .plt.got.
 * The library is this file with -DLIBRARY. */
#ifdef LIBRARY
int twice(int x);

int twice(int x)
{
	int sum = x;

	sum += x;
	return sum;
}
#else
#include <stdio.h>

int twice(int x);
int (*volatile chosen)(int);

int main(void)
{
	int total = 0;

	chosen = twice;
	for (int i = 0; i < 20; i++) {
		total += twice(i);
		if (i % 3 == 0)
			total -= chosen(i);
	}
	printf("%d\n", total);
	return 0;
}
#endif
