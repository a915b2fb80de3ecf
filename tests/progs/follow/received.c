/* The kernel stores into memory that processes share, for a call of one that sleeps in it while the other one runs. */
#include "check.h"
#include <semaphore.h>
#include <sys/mman.h>

enum { ROUNDS = 20, SIZE = 4096 };

static struct shared {
	sem_t is_there, is_used;
	unsigned char page[SIZE] __attribute__((aligned(4096)));
} *s;

static int receives(void *arg)
{
	int *fds = arg;

	for (int i = 0; i < ROUNDS; i++) {
		CHECK(read(fds[0], s->page, SIZE) == SIZE);
		CHECK(sem_post(&s->is_there) == 0);
		CHECK(sem_wait(&s->is_used) == 0);
	}
	return 5;
}

int main(void)
{
	static unsigned char mine[SIZE];
	int fds[2];

	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(s != MAP_FAILED && pipe(fds) == 0);
	CHECK(sem_init(&s->is_there, 1, 0) == 0 && sem_init(&s->is_used, 1, 0) == 0);
	pid_t pid = child(receives, fds);
	for (int i = 0; i < ROUNDS; i++) {
		usleep(2000); /* the other one sleeps in its call */
		for (int k = 0; k < SIZE; k++)
			mine[k] = (unsigned char)(k * 7 + i * 31 + 1);
		CHECK(write(fds[1], mine, SIZE) == SIZE);
		CHECK(sem_wait(&s->is_there) == 0);
		for (int k = 0; k < SIZE; k++)
			if (s->page[k] == mine[k])
				work(s->page[k] % 5);
			else
				CHECK(!"what was sent has come");
		CHECK(sem_post(&s->is_used) == 0);
	}
	ends_with(pid, 5);
	DONE();
}
