/* The first thread leaves while others run; the last one ends the process. */
#include "check.h"
#include <unistd.h>

static pthread_t first;

static void *second(void *arg)
{
	for (volatile int i = 0; i < 100000; i++)
		;
	return (void *)3;
}

static void *last(void *arg)
{
	CHECK(join(first) == (void *)9);
	CHECK(join(start(second, NULL)) == (void *)3);
	usleep(1000);
	puts("all is well");
	return NULL;
}

int main(void)
{
	first = pthread_self();
	start(last, NULL);
	pthread_exit((void *)9);
}
