/* Crashes on a pointer that was spoilt long before. */
#include <stdio.h>

struct item {
	int size;
	int *data;
};

static int numbers[4] = {1, 2, 3, 4};
struct item items[3] = {{4, numbers}, {4, numbers}, {4, numbers}};

static void spoil(int which)
{
	items[which].data = (int *)8L;
}

static int sum(const struct item *it)
{
	int s = 0;

	for (int i = 0; i < it->size; i++)
		s += it->data[i];
	return s;
}

int main(void)
{
	int s = 0;

	s += sum(&items[0]);
	spoil(2);
	s += sum(&items[1]);
	printf("%d\n", s);
	s += sum(&items[2]);
	return s;
}
