/* Ends the way its argument says: a number is the exit status, else a fatal signal. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void crash(volatile int *p)
{
	*p = 1;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "0";

	if (!strcmp(how, "segv"))
		crash(NULL);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "term"))
		kill(getpid(), SIGTERM);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	return atoi(how);
}
