/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Four threads that compute, and meet at a mutex now and then. Argument: rounds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, CELLS = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;
static int rounds;

static unsigned pass(unsigned *cell)
{
	unsigned sum = 0;

	for (int i = 1; i < CELLS - 1; i++) {
		cell[i] = cell[i - 1] * 3 + cell[i + 1] + (cell[i] & 7 ? 1 : 5);
		sum += cell[i];
	}
	return sum;
}

static void *work(void *arg)
{
	unsigned *cell = calloc(CELLS, sizeof(*cell));

	if (!cell)
		abort();
	cell[0] = (unsigned)(long)arg;
	for (int i = 0; i < rounds; i++) {
		unsigned sum = pass(cell);

		if (i % 64)
			continue;
		pthread_mutex_lock(&lock);
		total += sum;
		pthread_mutex_unlock(&lock);
	}
	free(cell);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	rounds = argc > 1 ? atoi(argv[1]) : 1000;
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)(i + 1)))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%lu\n", total);
	return 0;
}
