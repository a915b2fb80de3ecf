/* Children killed before they, or what they become by execve, have begun, or soon after: their parent sees just that. */
#include "check.h"
#include <time.h>

static int computes(void *arg)
{
	if (arg)
		execl("/proc/self/exe", "early", "computes", NULL);
	for (;;)
		work(1000);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return computes(NULL);
	for (unsigned i = 0; i < 80; i++) {
		struct timespec pause = {0, i / 4 * 800000};
		int sig = i & 1 ? SIGTERM : SIGKILL;
		pid_t pid = child(computes, i & 2 ? argv : NULL);

		nanosleep(&pause, NULL);
		CHECK(kill(pid, sig) == 0);
		int status = status_of(pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == sig);
	}
	DONE();
}
