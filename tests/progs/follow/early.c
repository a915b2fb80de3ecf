/* Children killed before they have begun or soon after: their parent sees just that. */
#include "check.h"
#include <time.h>

static int computes(void *arg)
{
	for (;;)
		work(1000);
	return 1;
}

int main(void)
{
	for (unsigned i = 0; i < 40; i++) {
		struct timespec pause = {0, i / 2 * 800000};
		int sig = i % 2 ? SIGTERM : SIGKILL;
		pid_t pid = child(computes, NULL);

		nanosleep(&pause, NULL);
		CHECK(kill(pid, sig) == 0);
		int status = status_of(pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == sig);
	}
	DONE();
}
