/* Each step has its lock, the transfer has none: the sum is wrong in between. */
#include "bugs.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int a = 100, b = 100;
static volatile int wrong;

static void add(int *to, int by)
{
	pthread_mutex_lock(&lock);
	*to += by; /* race: 1 writes */
	pthread_mutex_unlock(&lock);
}

static void *moves(void *arg)
{
	for (int i = 0; i < 100; i++) {
		add(&a, -1);
		add(&b, 1);
	}
	return NULL;
}

static void *sums(void *arg)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&lock);
		if (a + b != 200) /* race: 2 reads */
			wrong = 1; /* seen by: a */
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	two(moves, sums);
	return wrong;
}
