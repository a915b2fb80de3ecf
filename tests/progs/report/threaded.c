// A program of two threads that does not fail.
#include <pthread.h>
#include <stddef.h>

static void *nothing(void *arg)
{
	return arg;
}

int main(void)
{
	pthread_t t;

	return pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL);
}
