/* rounds single|threads|tree N: N rounds of computing, each with a line of output: by itself, by three threads in turns, or by
 * children, of which three live at a time. Ends with status 4.
 * The soft limit on memory is meant for the recorder: the program lifts its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int at, n;

static unsigned work(unsigned seed)
{
	unsigned sum = seed;

	for (unsigned i = 0; i < 60000; i++)
		sum = i % 3 ? sum + i : sum ^ (sum << 1);
	return sum;
}

static void say(int round, unsigned sum)
{
	dprintf(1, "round %d: %u\n", round, sum);
}

static void *in_turn(void *arg)
{
	int me = *(int *)arg;

	for (;;) {
		unsigned sum = work((unsigned)me);

		pthread_mutex_lock(&lock);
		while (at < n && at % 3 != me)
			pthread_cond_wait(&changed, &lock);
		if (at < n)
			say(at++, sum);
		int over = at >= n;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
		if (over)
			return NULL;
	}
}

static int threads(void)
{
	static int number[] = {0, 1, 2};
	pthread_t th[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&th[i], NULL, in_turn, &number[i]))
			return 1;
	for (int i = 0; i < 3; i++)
		pthread_join(th[i], NULL);
	return 4;
}

static int tree(void)
{
	int alive = 0;

	for (int i = 0; i < n; i++) {
		if (alive == 3 && wait(NULL) > 0)
			alive--;
		alive++;
		if (fork() == 0) {
			say(i, work((unsigned)i) + work(1));
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 4;
}

int main(int argc, char **argv)
{
	struct rlimit memory;

	if (getrlimit(RLIMIT_AS, &memory) == 0) {
		memory.rlim_cur = memory.rlim_max;
		setrlimit(RLIMIT_AS, &memory);
	}
	if (argc < 3)
		return 2;
	n = atoi(argv[2]);
	if (strcmp(argv[1], "threads") == 0)
		return threads();
	if (strcmp(argv[1], "tree") == 0)
		return tree();
	for (int i = 0; i < n; i++)
		say(i, work((unsigned)i));
	return 4;
}
