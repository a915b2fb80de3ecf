/* What the programs of this folder have in common: one known bug each. `alarm` ends one that hangs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds. On a busy machine a recorded program may need them. */
#ifndef HANGS_AFTER
#define HANGS_AFTER 5
#endif

static inline int two(void *(*f)(void *), void *(*g)(void *))
{
	pthread_t a, b;

	alarm(HANGS_AFTER);
	pthread_create(&a, NULL, f, NULL);
	pthread_create(&b, NULL, g, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
