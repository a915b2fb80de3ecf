/* Sleeps and long writes that a timer interrupts: who sleeps is told so, a write gives what it has done. */
#include "kinds.h"
#include "caught.h"

#include <errno.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 40 };

static char bytes[100000];

static void read_slowly(int from)
{
	while (read(from, bytes, 5000) > 0)
		usleep(1000);
	_exit(0);
}

int main(void)
{
	const struct itimerval often = {{0, 3000}, {0, 3000}}, never = {{0}};
	const struct timespec long_sleep = {2, 0};
	int p[2], n_slept = 0, n_written = 0;

	if (pipe(p))
		return 1;
	handle(SIGALRM, SA_RESTART);
	if (!fork()) {
		close(p[1]);
		read_slowly(p[0]);
	}
	close(p[0]);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		n_slept += nanosleep(&long_sleep, NULL) == -1 && errno == EINTR;
		n_written += write(p[1], bytes, sizeof(bytes)) > 0;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	close(p[1]);
	printf("%d %d %s\n", n_slept, n_written, caught >= ROUNDS ? "caught" : "not caught");
	return wait(NULL) < 0;
}
