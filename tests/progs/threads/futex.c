/* Futexes by the system call itself: a lock of three states, a requeue, bits, an operation that wakes two, time limits of both
 * kinds. */
#include "check.h"
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t lock_word, word, other, parked, ready;
static unsigned long count;

static long futex(uint32_t *at, int op, uint32_t val, const void *time_or_n, uint32_t *at2, uint32_t val3)
{
	return syscall(SYS_futex, at, op | FUTEX_PRIVATE_FLAG, val, time_or_n, at2, val3);
}

static uint32_t load(uint32_t *w)
{
	return __atomic_load_n(w, __ATOMIC_SEQ_CST);
}

static void lock(uint32_t *w)
{
	uint32_t c = 0;

	if (__atomic_compare_exchange_n(w, &c, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
		return;
	if (c != 2)
		c = __atomic_exchange_n(w, 2, __ATOMIC_ACQUIRE);
	while (c) {
		futex(w, FUTEX_WAIT, 2, NULL, NULL, 0);
		c = __atomic_exchange_n(w, 2, __ATOMIC_ACQUIRE);
	}
}

static void *adds(void *arg)
{
	for (int i = 0; i < 2000; i++) {
		lock(&lock_word);
		count++;
		if (__atomic_exchange_n(&lock_word, 0, __ATOMIC_RELEASE) == 2)
			futex(&lock_word, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static void *waits(void *arg)
{
	uint32_t bit = (uint32_t)(uintptr_t)arg;

	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	while (!(load(&word) & bit))
		futex(&word, FUTEX_WAIT_BITSET, load(&word) & ~bit, NULL, NULL, bit);
	return arg;
}

static void *waits_other(void *arg)
{
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	while (!load(&other))
		futex(&other, FUTEX_WAIT, 0, NULL, NULL, 0);
	return arg;
}

static void all_ready(uint32_t n)
{
	while (load(&ready) < n)
		usleep(500);
	ready = 0;
}

static void bits(void)
{
	pthread_t th[3];

	for (uintptr_t i = 0; i < 3; i++)
		th[i] = start(waits, (void *)(1UL << i));
	all_ready(3);
	for (int i = 2; i >= 0; i--) {
		__atomic_fetch_or(&word, 1u << i, __ATOMIC_SEQ_CST);
		futex(&word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, 1u << i);
		CHECK(join(th[i]) == (void *)(1UL << i));
	}
	word = 0;
}

static void requeue_and_op(void)
{
	pthread_t th[3], o;

	for (int i = 0; i < 3; i++)
		th[i] = start(waits, (void *)1);
	all_ready(3);
	long n = futex(&word, FUTEX_CMP_REQUEUE, 0, (void *)(intptr_t)INT_MAX, &parked, 0);
	CHECK(n >= 0 && n <= 3);
	o = start(waits_other, &o);
	all_ready(1);
	/* other = 1; wakes who waits for either */
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	n = futex(&word, FUTEX_WAKE_OP, INT_MAX, (void *)(intptr_t)INT_MAX, &other,
	          FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_EQ, 0));
	CHECK(n >= 0 && load(&other) == 1);
	futex(&parked, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	for (int i = 0; i < 3; i++)
		join(th[i]);
	CHECK(join(o) == &o);
}

static void limits(void)
{
	struct timespec ms = {0, 1000000}, at;

	CHECK(futex(&lock_word, FUTEX_WAIT, 0, &ms, NULL, 0) == -1 && errno == ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &at);
	CHECK(futex(&lock_word, FUTEX_WAIT_BITSET, 0, &at, NULL, ~0u) == -1 && errno == ETIMEDOUT);
	CHECK(futex(&lock_word, FUTEX_WAIT, 7, &ms, NULL, 0) == -1 && errno == EAGAIN);
	CHECK(futex(NULL, FUTEX_WAIT, 7, &ms, NULL, 0) == -1 && errno == EFAULT);
}

int main(void)
{
	pthread_t th[4];

	for (int i = 0; i < 4; i++)
		th[i] = start(adds, NULL);
	for (int i = 0; i < 4; i++)
		join(th[i]);
	CHECK(count == 8000);
	bits();
	requeue_and_op();
	limits();
	DONE();
}
