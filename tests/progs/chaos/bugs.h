/* What the programs of this folder have in common: one known bug each. `alarm` ends one that hangs.
 *
 * Comments say which accesses race, for tests/lib/racing.py:
 *   seen by: VARIABLE             at this line the failure is seen, and this is the variable
 *   seen at the end by: VARIABLE  it is seen where the recording ends
 *   race: 1 reads, 2 writes       here is the first access; or it is the second one, if another thread,
 *                                 or a handler, makes it
 * With a third one the first and the third are made by one thread, and the second comes in between. */
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
