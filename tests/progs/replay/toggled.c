/* A value on a page of its own that changes and changes back, so that the page is the same at all checkpoints. */
#include <stdio.h>

static struct {
	_Alignas(4096) volatile int value;
	char rest[4092];
} toggled;

static int work(int n)
{
	volatile int s = 0;

	for (int i = 0; i < n; i++)
		s += i % 7;
	return s;
}

int main(void)
{
	int s = 0;

	for (int i = 0; i < 12; i++) {
		s += work(1000000);
		toggled.value = 1;
		toggled.value = 0;
		s += work(1000000);
	}
	printf("%d %p\n", s, (void *)&toggled);
	return 0;
}
