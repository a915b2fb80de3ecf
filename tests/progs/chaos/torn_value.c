/* A value of two words is read between its two stores. */
#include "bugs.h"

static volatile struct {
	unsigned long low, high;
} value;
static volatile int wrong;

static void *writes(void *arg)
{
	for (unsigned long i = 1; i < 300; i++) {
		value.low = i; /* race: 1 writes */
		value.high = ~i; /* race: 1 writes */
	}
	return NULL;
}

static void *reads(void *arg)
{
	for (int i = 0; i < 300; i++) {
		unsigned long low = value.low, high = value.high; /* race: 2 reads */
		if (high && high != ~low)
			wrong = 1; /* seen by: value */
	}
	return NULL;
}

int main(void)
{
	two(writes, reads);
	return wrong;
}
