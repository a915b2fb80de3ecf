/* The last seat is sold twice. */
#include "bugs.h"

static volatile int seats = 50;

static volatile int sold[2];

static void *counts(void *arg)
{
	while (seats > 0) {
		int s = seats; /* race: 1 reads */
		if (s > 0) {
			sold[1]++;
			seats = s - 1; /* race: 2 writes, 3 writes */
		}
	}
	return NULL;
}

static void *counts_too(void *arg)
{
	while (seats > 0) {
		int s = seats; /* race: 1 reads */
		if (s > 0) {
			sold[0]++;
			seats = s - 1; /* race: 2 writes, 3 writes */
		}
	}
	return NULL;
}

int main(void)
{
	two(counts, counts_too);
	return sold[0] + sold[1] != 50; /* seen by: seats */
}
