/* The count of references is no atomic: the object is freed twice, or never. */
#include "bugs.h"

static volatile int references, freed;

static void drop(void)
{
	int n = references - 1; /* race: 1 reads */

	references = n; /* race: 2 writes, 3 writes */
	if (n == 0)
		freed++;
}

static pthread_barrier_t both;
static volatile int wrong;

static void *work(void *arg)
{
	for (int i = 0; i < 60; i++) {
		if (pthread_barrier_wait(&both) == PTHREAD_BARRIER_SERIAL_THREAD) {
			references = 2;
			freed = 0;
		}
		pthread_barrier_wait(&both);
		drop();
		pthread_barrier_wait(&both);
		if (freed != 1)
			wrong = 1; /* seen by: references */
	}
	return NULL;
}

int main(void)
{
	pthread_barrier_init(&both, NULL, 2);
	two(work, work);
	return wrong;
}
