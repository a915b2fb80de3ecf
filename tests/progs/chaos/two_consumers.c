/* Whether there is something is asked without the lock. */
#include "bugs.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int n = 60, wrong;

static void *takes(void *arg)
{
	while (n > 0) { /* race: 1 reads */
		pthread_mutex_lock(&lock);
		if (--n < 0) /* race: 2 writes, 3 writes */
			wrong = 1; /* seen by: n */
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	two(takes, takes);
	return wrong;
}
