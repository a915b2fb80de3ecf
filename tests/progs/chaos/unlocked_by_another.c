/* A lock is given back by who has not taken it: two are inside. */
#include "bugs.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int inside, wrong;

static void *works(void *arg)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&lock); /* race: 1 writes */
		if (inside++)
			wrong = 1;
		inside--;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *interferes(void *arg)
{
	for (int i = 0; i < 100; i++) {
		if (i % 10 == 9)
			pthread_mutex_unlock(&lock); /* race: 2 writes */
		pthread_mutex_lock(&lock);
		if (inside++)
			wrong = 1;
		inside--;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	two(works, interferes);
	return wrong; /* seen at the end by: lock */
}
