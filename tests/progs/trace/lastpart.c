/* Computes for a while, in rounds, with calls, recursion, a file that is written and a table that changes slowly. Says at each
 * tenth round where it is; what it has said last, a recording of its last part must know. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned state = 12345;
static unsigned table[1 << 14];

static unsigned next_random(void)
{
	state = state * 1103515245u + 12345u;
	return state >> 8;
}

static int depth_of(unsigned v)
{
	if (v < 2)
		return 0;
	return 1 + depth_of(v & 1 ? v - 1 : v / 2);
}

static long round_of(int number, int steps)
{
	long sum = number;
	int k;

	for (k = 0; k < steps; k++) {
		unsigned r = next_random();

		table[r % (1 << 14)] += (unsigned)depth_of(r);
		sum += table[(r >> 4) % (1 << 14)];
	}
	return sum;
}

static void *other(void *arg)
{
	long *sum = arg;

	for (int i = 0; i < 40; i++)
		*sum += round_of(i, 200);
	return NULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	int steps = argc > 2 ? atoi(argv[2]) : 2000;
	int threads = argc > 3 ? atoi(argv[3]) : 0;
	int fd = open("/dev/null", O_WRONLY);
	long total = 0, aside = 0;
	pthread_t thread;
	int i;

	for (i = 0; i < rounds; i++) {
		char line[64];

		total += round_of(i, steps);
		if (threads && i % 10 == 0) {
			pthread_create(&thread, NULL, other, &aside);
			pthread_join(thread, NULL);
		}
		snprintf(line, sizeof(line), "%d %ld\n", i, total);
		if (write(fd, line, strlen(line)) < 0)
			return 1;
		if (i % 10 == 0)
			printf("round %d: %ld %u\n", i, total, state);
	}
	printf("end %d: %ld %u %ld\n", i, total, state, aside); /* the end */
	return 0;
}
