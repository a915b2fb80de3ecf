/* A child is made while another thread has the lock: in the child nobody gives it back. */
#include "bugs.h"

#include <sys/wait.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop, n;

static void *counts(void *arg)
{
	while (!stop) {
		pthread_mutex_lock(&lock);
		n++;
		pthread_mutex_unlock(&lock);
		for (volatile int i = 0; i < 50; i++)
			;
	}
	return NULL;
}

int main(void)
{
	pthread_t t;
	int hung = 0;

	alarm(4 * HANGS_AFTER);
	pthread_create(&t, NULL, counts, NULL);
	for (int i = 0; i < 12 && !hung; i++) {
		int status;
		pid_t child = fork();

		if (child == 0) {
			alarm(HANGS_AFTER);
			pthread_mutex_lock(&lock);
			_exit(0);
		}
		waitpid(child, &status, 0);
		hung = !WIFEXITED(status);
	}
	stop = 1;
	pthread_join(t, NULL);
	return hung;
}
