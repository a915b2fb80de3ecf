/* Two threads take two locks in opposite order. Between the calls there is neither a marker nor a system call. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static long v;

static void move(pthread_mutex_t *from, pthread_mutex_t *to)
{
	pthread_mutex_lock(from);
	v++;
	pthread_mutex_lock(to);
	v++;
	pthread_mutex_unlock(to);
	pthread_mutex_unlock(from);
}

static void *work(void *p)
{
	for (int i = 0; i < 20000; i++) {
		if (p)
			move(&a, &b);
		else
			move(&b, &a);
	}
	return NULL;
}

int main(void)
{
	pthread_t t, u;

	alarm(1);
	pthread_create(&t, NULL, work, NULL);
	pthread_create(&u, NULL, work, &t);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	puts("well");
	return 0;
}
