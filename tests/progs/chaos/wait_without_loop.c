/* Who has waited does not look again whether there is something. */
#include "bugs.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int n, wrong;

static void *takes(void *arg)
{
	for (int i = 0; i < 40; i++) {
		pthread_mutex_lock(&lock);
		if (n == 0) /* race: 1 reads */
			pthread_cond_wait(&cond, &lock);
		if (n == 0) /* race: 3 reads */
			wrong = 1; /* seen by: n */
		else
			n--; /* race: 2 writes */
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	alarm(HANGS_AFTER);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, takes, NULL);
	for (int i = 0; i < 200 && !wrong; i++) {
		pthread_mutex_lock(&lock);
		n++;
		pthread_mutex_unlock(&lock);
		pthread_cond_signal(&cond);
	}
	_exit(wrong);
}
