/* Futexes between processes by the system call itself: a lock of three states, a hand-over, a requeue, bits, a time limit; and
 * a word that one waits for without any call. */
#include "check.h"
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

static struct shared {
	uint32_t lock, word, other, ready, flag;
	unsigned long count;
} *s;

static long futex(uint32_t *at, int op, uint32_t val, const void *time_or_n, uint32_t *at2, uint32_t val3)
{
	return syscall(SYS_futex, at, op, val, time_or_n, at2, val3);
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

static void unlock(uint32_t *w)
{
	if (__atomic_exchange_n(w, 0, __ATOMIC_RELEASE) == 2)
		futex(w, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static int adds(void *arg)
{
	for (int i = 0; i < 500; i++) {
		lock(&s->lock);
		unsigned long was = s->count;
		work(15);
		s->count = was + 1;
		unlock(&s->lock);
	}
	return 81;
}

static int waits(void *arg)
{
	__atomic_fetch_add(&s->ready, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&s->word, __ATOMIC_SEQ_CST) == 0)
		futex(&s->word, FUTEX_WAIT, 0, NULL, NULL, 0);
	return 82;
}

static int waits_for_bit(void *arg)
{
	uint32_t bit = 1u << (int)(intptr_t)arg;

	__atomic_fetch_add(&s->ready, 1, __ATOMIC_SEQ_CST);
	while (!(__atomic_load_n(&s->word, __ATOMIC_SEQ_CST) & bit))
		futex(&s->word, FUTEX_WAIT_BITSET, 0, NULL, NULL, bit);
	return 83;
}

static int spins(void *arg)
{
	unsigned long n = 0;

	while (!__atomic_load_n(&s->flag, __ATOMIC_ACQUIRE))
		n++;
	s->count = 99;
	__atomic_store_n(&s->flag, 2, __ATOMIC_RELEASE);
	return 84;
}

int main(void)
{
	struct timespec ms = {0, 1000000};
	pid_t pid[3];

	s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(s != MAP_FAILED);
	for (int i = 0; i < 3; i++)
		pid[i] = child(adds, NULL);
	for (int i = 0; i < 3; i++)
		ends_with(pid[i], 81);
	CHECK(s->count == 1500);

	for (int i = 0; i < 3; i++)
		pid[i] = child(waits, NULL);
	while (__atomic_load_n(&s->ready, __ATOMIC_SEQ_CST) < 3)
		usleep(1000);
	usleep(20000);
	long n = futex(&s->word, FUTEX_CMP_REQUEUE, 1, (void *)(intptr_t)INT_MAX, &s->other, 0);
	CHECK(n >= 1 && n <= 3);
	__atomic_store_n(&s->word, 1, __ATOMIC_SEQ_CST);
	futex(&s->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	futex(&s->other, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	for (int i = 0; i < 3; i++)
		ends_with(pid[i], 82);

	s->word = s->ready = 0;
	for (int i = 0; i < 3; i++)
		pid[i] = child(waits_for_bit, (void *)(intptr_t)i);
	while (__atomic_load_n(&s->ready, __ATOMIC_SEQ_CST) < 3)
		usleep(1000);
	for (int i = 2; i >= 0; i--) {
		__atomic_fetch_or(&s->word, 1u << i, __ATOMIC_SEQ_CST);
		futex(&s->word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, 1u << i);
		ends_with(pid[i], 83);
	}
	CHECK(futex(&s->other, FUTEX_WAIT, 0, &ms, NULL, 0) == -1 && errno == ETIMEDOUT);
	CHECK(futex(&s->other, FUTEX_WAIT, 5, &ms, NULL, 0) == -1 && errno == EAGAIN);

	/* nobody calls the kernel */
	pid[0] = child(spins, NULL);
	work(100000);
	__atomic_store_n(&s->flag, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&s->flag, __ATOMIC_ACQUIRE) != 2)
		;
	CHECK(s->count == 99);
	ends_with(pid[0], 84);
	DONE();
}
