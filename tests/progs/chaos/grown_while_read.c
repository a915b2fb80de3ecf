/* An array is moved to a larger one while another thread reads it. */
#include "bugs.h"

static int *volatile array;
static volatile int size, wrong;

static void *grows(void *arg)
{
	for (int i = 0; i < 60; i++) {
		int n = size, *larger = malloc((size_t)(n + 1) * sizeof(*larger));

		memcpy(larger, array, (size_t)n * sizeof(*larger));
		larger[n] = 7;
		int *old = array;
		array = larger;
		size = n + 1;
		memset(old, 0, (size_t)n * sizeof(*old)); /* race: 1 writes */
		free(old); /* race: 1 writes */
	}
	return NULL;
}

static void *reads(void *arg)
{
	for (int i = 0; i < 60; i++) {
		int *a = array;

		for (int k = 0; k < 4; k++)
			if (a[k] != 7) /* race: 2 reads */
				wrong = 1; /* seen by: a[k] */
	}
	return NULL;
}

int main(void)
{
	array = malloc(4 * sizeof(*array));
	for (int k = 0; k < 4; k++)
		array[k] = 7;
	size = 4;
	two(grows, reads);
	return wrong;
}
