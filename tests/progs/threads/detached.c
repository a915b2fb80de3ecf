/* Detached threads: nobody joins them, they report by a pipe. */
#include "check.h"
#include <unistd.h>

enum { N = 20 };
static int fd[2];

static void *run(void *arg)
{
	char c = (char)('a' + (intptr_t)arg);

	if ((intptr_t)arg % 2)
		CHECK(pthread_detach(pthread_self()) == 0);
	CHECK(write(fd[1], &c, 1) == 1);
	return NULL;
}

int main(void)
{
	pthread_attr_t attr;
	int seen[N] = {0};
	pthread_t th;
	char c;

	CHECK(pipe(fd) == 0);
	CHECK(pthread_attr_init(&attr) == 0);
	CHECK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
	for (intptr_t i = 0; i < N; i++)
		CHECK(pthread_create(&th, i % 2 ? NULL : &attr, run, (void *)i) == 0);
	for (int i = 0; i < N; i++) {
		CHECK(read(fd[0], &c, 1) == 1 && c >= 'a' && c < 'a' + N);
		seen[c - 'a']++;
	}
	for (int i = 0; i < N; i++)
		CHECK(seen[i] == 1);
	DONE();
}
