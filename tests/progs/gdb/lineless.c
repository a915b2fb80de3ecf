/* A library with markers and without lines (LIBRARY, compiled without -g), three calls deep, and a program that uses it. */
#include <stdio.h>

long insert(long key);

#ifdef LIBRARY
static long table[16], used, grown;

__attribute__((noinline)) static void grow(void)
{
	grown++;
}

__attribute__((noinline)) static long place(long key)
{
	long at = (key * 7) & 15;

	while (table[at] && table[at] != key) {
		grow();
		at = (at + 1) & 15;
	}
	return at;
}

__attribute__((noinline)) static long find(long key)
{
	long at = place(key);

	if (!table[at])
		used++;
	table[at] = key;
	return at;
}

long insert(long key)
{
	long at = find(key);

	if (used > 12)
		grow();
	return at + grown;
}
#else
int main(void)
{
	long sum = 0;

	for (int i = 0; i < 40; i++)
		sum += insert(i % 11 * 16 + 1);
	printf("%ld\n", sum);
	return 0;
}
#endif
