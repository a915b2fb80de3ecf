/* Job control: wait for Ctrl-Z (wait), catch it (caught), ignore it (ignored), or stop by oneself (self). */
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile int caught;

static void say(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		_exit(9);
}

static void handler(int signo)
{
	caught = signo;
	say("caught\n");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (strcmp(how, "caught") == 0)
		signal(SIGTSTP, handler);
	if (strcmp(how, "ignored") == 0)
		signal(SIGTSTP, SIG_IGN);
	if (strcmp(how, "self") == 0)
		kill(getpid(), SIGSTOP);
	else
		say("ready\n");
	for (int i = 0; i < 30 && !caught; i++)
		usleep(100000);
	say("finished\n");
	return 3;
}
