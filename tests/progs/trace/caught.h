/* For programs with kinds: signals that are counted. */
#include <signal.h>

static volatile sig_atomic_t caught;

static void count(int signo)
{
	caught++;
}

static void handle(int signo, int flags)
{
	struct sigaction act = {.sa_handler = count, .sa_flags = flags};

	SEE(sigaction(signo, &act, NULL) == 0);
}
