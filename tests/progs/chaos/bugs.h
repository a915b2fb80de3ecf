/* What the programs of this folder have in common: one known bug each. `alarm` ends one that hangs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline int two(void *(*f)(void *), void *(*g)(void *))
{
	pthread_t a, b;

	alarm(2);
	pthread_create(&a, NULL, f, NULL);
	pthread_create(&b, NULL, g, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
