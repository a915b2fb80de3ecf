/* Calls between two units, and back, in loops and recursions. */
#include <stdio.h>
int twice(int), odd(int n), sum_to(int);
int even(int n) { return n == 0 ? 1 : odd(n - 1); }
int main(int argc, char **argv)
{
	int total = 0;

	for (int i = 0; i < 5; i++)
		total += twice(i);
	printf("%d %d %d\n", total, even(10), sum_to(100));
	return total;
}
