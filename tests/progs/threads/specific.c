/* Thread-specific data: destructors run when a thread ends, again if one sets a value, by exit and by cancellation. */
#include "check.h"
#include <unistd.h>

static pthread_key_t a, b;
static int a_runs, b_runs;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int inits;

static void end_a(void *p)
{
	CHECK(pthread_getspecific(a) == NULL);
	a_runs++;
	if ((intptr_t)p > 1)
		CHECK(pthread_setspecific(a, (void *)((intptr_t)p - 1)) == 0);
}

static void end_b(void *p)
{
	b_runs += *(int *)p;
	free(p);
}

static void init(void)
{
	inits++;
	CHECK(pthread_key_create(&a, end_a) == 0 && pthread_key_create(&b, end_b) == 0);
}

static void set(int n)
{
	int *p = malloc(sizeof(*p));

	pthread_once(&once, init);
	*p = n;
	CHECK(pthread_getspecific(b) == NULL);
	CHECK(pthread_setspecific(a, (void *)3) == 0 && pthread_setspecific(b, p) == 0);
}

static void *returns(void *arg)
{
	set(1);
	return NULL;
}

static void *exits(void *arg)
{
	set(10);
	pthread_exit(NULL);
}

static void *cancelled(void *arg)
{
	set(100);
	pthread_cancel(pthread_self());
	sleep(60);
	return NULL;
}

int main(void)
{
	pthread_t th[3] = {start(returns, NULL), start(exits, NULL), start(cancelled, NULL)};

	CHECK(join(th[0]) == NULL && join(th[1]) == NULL && join(th[2]) == PTHREAD_CANCELED);
	CHECK(inits == 1 && a_runs == 9 && b_runs == 111);
	DONE();
}
