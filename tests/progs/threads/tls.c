/* Thread-local variables, initialised and zero, aligned, and the addresses that they have. */
#include "check.h"
#include <sched.h>

static __thread int zero, seven = 7;
static __thread struct {
	char c[64];
} aligned __attribute__((aligned(64)));
static _Thread_local const char *name = "none";
static int *seen[4];

static void *run(void *arg)
{
	int me = (int)(intptr_t)arg;

	CHECK(zero == 0 && seven == 7 && strcmp(name, "none") == 0);
	CHECK(((uintptr_t)&aligned & 63) == 0);
	seen[me] = &zero;
	name = "some";
	for (int i = 0; i < 1000; i++) {
		zero += me;
		seven += zero;
		aligned.c[i % 64] += (char)me;
		if (i % 100 == 0)
			sched_yield();
	}
	CHECK(zero == 1000 * me);
	CHECK(seven == 7 + me * 500500);
	return name == NULL ? NULL : (void *)(intptr_t)(zero + 1);
}

int main(void)
{
	pthread_t th[4];

	for (intptr_t i = 0; i < 4; i++)
		th[i] = start(run, (void *)i);
	for (intptr_t i = 0; i < 4; i++)
		CHECK(join(th[i]) == (void *)(1000 * i + 1));
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < i; k++)
			CHECK(seen[i] != seen[k] && seen[i] != &zero);
	CHECK(zero == 0 && strcmp(name, "none") == 0);
	DONE();
}
