/* For the self-checking programs: CHECK says what failed and ends with status 1; DONE prints the token. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CHECK(x) \
	do { \
		if (!(x)) { \
			printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #x); \
			exit(1); \
		} \
	} while (0)
#define DONE() return puts("all is well"), 0

static inline pthread_t start(void *(*run)(void *), void *arg)
{
	pthread_t th;

	CHECK(pthread_create(&th, NULL, run, arg) == 0);
	return th;
}

static inline void *join(pthread_t th)
{
	void *ret;

	CHECK(pthread_join(th, &ret) == 0);
	return ret;
}
