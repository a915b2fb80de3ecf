/* What pthreads have for several processes: mutexes, a robust one whose owner dies, condition variables, barriers, semaphores,
 * readers' and writers' locks, all in shared memory; data that they guard is only reached through them. */
#include "check.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>

enum { CHILDREN = 3, ROUNDS = 400 };

static struct shared {
	pthread_mutex_t mutex, robust;
	pthread_cond_t cond;
	pthread_barrier_t barrier;
	pthread_rwlock_t rwlock;
	sem_t sem, done;
	unsigned long count, pair[2];
	int turn, at_barrier;
} *s;

static void make(void)
{
	pthread_mutexattr_t m;
	pthread_condattr_t c;
	pthread_barrierattr_t b;
	pthread_rwlockattr_t r;

	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(s != MAP_FAILED);
	pthread_mutexattr_init(&m);
	pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
	CHECK(pthread_mutex_init(&s->mutex, &m) == 0);
	pthread_mutexattr_setrobust(&m, PTHREAD_MUTEX_ROBUST);
	CHECK(pthread_mutex_init(&s->robust, &m) == 0);
	pthread_condattr_init(&c);
	pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
	CHECK(pthread_cond_init(&s->cond, &c) == 0);
	pthread_barrierattr_init(&b);
	pthread_barrierattr_setpshared(&b, PTHREAD_PROCESS_SHARED);
	CHECK(pthread_barrier_init(&s->barrier, &b, CHILDREN) == 0);
	pthread_rwlockattr_init(&r);
	pthread_rwlockattr_setpshared(&r, PTHREAD_PROCESS_SHARED);
	CHECK(pthread_rwlock_init(&s->rwlock, &r) == 0);
	CHECK(sem_init(&s->sem, 1, 0) == 0 && sem_init(&s->done, 1, 0) == 0);
}

static int adds(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&s->mutex);
		unsigned long was = s->count;
		work(20);
		s->count = was + 1;
		pthread_mutex_unlock(&s->mutex);
	}
	return 71;
}

static int takes_turns(void *arg)
{
	int me = (int)(intptr_t)arg;

	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&s->mutex);
		while (s->turn % CHILDREN != me)
			pthread_cond_wait(&s->cond, &s->mutex);
		s->turn++;
		pthread_cond_broadcast(&s->cond);
		pthread_mutex_unlock(&s->mutex);
	}
	return 72;
}

static int meets(void *arg)
{
	int serial = 0;

	for (int i = 1; i <= 10; i++) {
		__atomic_fetch_add(&s->at_barrier, 1, __ATOMIC_SEQ_CST);
		serial += pthread_barrier_wait(&s->barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
		CHECK(__atomic_load_n(&s->at_barrier, __ATOMIC_SEQ_CST) >= i * CHILDREN);
		pthread_barrier_wait(&s->barrier);
	}
	return serial <= 10 ? 73 : 1;
}

static int writes_or_reads(void *arg)
{
	for (int i = 0; i < 100; i++) {
		if (arg) {
			pthread_rwlock_wrlock(&s->rwlock);
			s->pair[0]++;
			work(30);
			s->pair[1]++;
		} else {
			pthread_rwlock_rdlock(&s->rwlock);
			CHECK(s->pair[0] == s->pair[1]);
		}
		pthread_rwlock_unlock(&s->rwlock);
	}
	return 74;
}

static int answers(void *arg)
{
	for (int i = 0; i < 50; i++) {
		sem_wait(&s->sem);
		s->count++;
		sem_post(&s->done);
	}
	return 75;
}

static int dies_with_it(void *arg)
{
	pthread_mutex_lock(&s->robust);
	s->count = 77;
	return 76;
}

static void all(int (*run)(void *), int code)
{
	pid_t pid[CHILDREN];

	for (int i = 0; i < CHILDREN; i++)
		pid[i] = child(run, (void *)(intptr_t)i);
	for (int i = 0; i < CHILDREN; i++)
		ends_with(pid[i], code);
}

int main(void)
{
	make();
	all(adds, 71);
	CHECK(s->count == CHILDREN * ROUNDS);
	all(takes_turns, 72);
	CHECK(s->turn == 20 * CHILDREN);
	all(meets, 73);
	all(writes_or_reads, 74);
	CHECK(s->pair[0] == 200 && s->pair[1] == 200);
	s->count = 0;
	pid_t pid = child(answers, NULL);
	for (unsigned i = 1; i <= 50; i++) {
		sem_post(&s->sem);
		sem_wait(&s->done);
		CHECK(s->count == i);
	}
	ends_with(pid, 75);
	ends_with(child(dies_with_it, NULL), 76);
	CHECK(pthread_mutex_lock(&s->robust) == EOWNERDEAD && s->count == 77);
	CHECK(pthread_mutex_consistent(&s->robust) == 0 && pthread_mutex_unlock(&s->robust) == 0);
	DONE();
}
