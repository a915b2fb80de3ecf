/* C11 threads. */
#include "check.h"
#include <threads.h>
#include <time.h>

static mtx_t lock, recursive;
static cnd_t cond;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static int inits, sum, freed, go;

static void init(void)
{
	inits++;
}

static void drop(void *p)
{
	freed += *(int *)p;
	free(p);
}

static int run(void *arg)
{
	int *mine = malloc(sizeof(*mine));

	call_once(&once, init);
	*mine = *(int *)arg;
	CHECK(tss_set(key, mine) == thrd_success);
	CHECK(mtx_lock(&lock) == thrd_success);
	while (!go)
		CHECK(cnd_wait(&cond, &lock) == thrd_success);
	sum += *(int *)tss_get(key);
	CHECK(mtx_unlock(&lock) == thrd_success);
	thrd_yield();
	if (*mine == 3)
		thrd_exit(33);
	return *mine;
}

int main(void)
{
	int arg[4] = {1, 2, 3, 4}, ret;
	thrd_t th[4];

	CHECK(mtx_init(&lock, mtx_plain) == thrd_success);
	CHECK(mtx_init(&recursive, mtx_recursive | mtx_timed) == thrd_success);
	CHECK(cnd_init(&cond) == thrd_success && tss_create(&key, drop) == thrd_success);
	for (int i = 0; i < 4; i++)
		CHECK(thrd_create(&th[i], run, &arg[i]) == thrd_success);
	CHECK(thrd_sleep(&(struct timespec){.tv_nsec = 1000000}, NULL) == 0);
	CHECK(mtx_lock(&lock) == thrd_success);
	go = 1;
	CHECK(cnd_broadcast(&cond) == thrd_success);
	CHECK(mtx_unlock(&lock) == thrd_success);
	for (int i = 0; i < 4; i++) {
		CHECK(thrd_join(th[i], &ret) == thrd_success);
		CHECK(ret == (i == 2 ? 33 : i + 1));
	}
	CHECK(inits == 1 && sum == 10 && freed == 10);
	CHECK(mtx_lock(&recursive) == thrd_success && mtx_trylock(&recursive) == thrd_success);
	DONE();
}
