/* Looked at under the read lock, changed under the write lock, without a second look. */
#include "bugs.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int n_made[50];

static void make(int i)
{
	pthread_rwlock_rdlock(&lock);
	int there = n_made[i]; /* race: 1 reads */
	pthread_rwlock_unlock(&lock);
	if (there)
		return;
	pthread_rwlock_wrlock(&lock);
	n_made[i]++; /* race: 2 writes, 3 writes */
	pthread_rwlock_unlock(&lock);
}

static void *work(void *arg)
{
	for (int i = 0; i < 50; i++)
		make(i);
	return NULL;
}

int main(void)
{
	two(work, work);
	for (int i = 0; i < 50; i++)
		if (n_made[i] != 1)
			return 1; /* seen by: n_made[i] */
	return 0;
}
