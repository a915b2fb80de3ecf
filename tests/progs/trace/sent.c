/* sent: sends each signal that can be handled to its own process group.
 * sent FILE: makes FILE and waits for others to send them, until SIGTERM comes.
 * Both say what has come. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int next(const sigset_t *all, long ms)
{
	const struct timespec wait = {ms / 1000, ms % 1000 * 1000000};

	return sigtimedwait(all, NULL, &wait);
}

int main(int argc, char **argv)
{
	sigset_t all;
	int signo;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (argc > 1) {
		setvbuf(stdout, NULL, _IOLBF, 0);
		close(creat(argv[1], 0600));
		while ((signo = next(&all, 20000)) != SIGTERM && signo > 0)
			printf("%d\n", signo);
		return signo != SIGTERM;
	}
	for (int s = 1; s <= SIGRTMAX; s++) {
		if (s == SIGKILL || s == SIGSTOP || (s >= 32 && s < SIGRTMIN))
			continue;
		if (kill(0, s) < 0)
			perror("kill");
		signo = next(&all, 5000);
		/* what the recorder passes on comes later */
		printf("%d %d\n", signo, next(&all, 10));
	}
	return 0;
}
