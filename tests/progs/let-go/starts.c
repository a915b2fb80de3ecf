/* Until it is let go, and some time longer, it starts children, threads or itself: starts fork|vfork|thread|exec */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "traced.h"

static void *ends(void *arg)
{
	return arg;
}

static int child_is_well(void)
{
	int status;

	return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 3;
}

static int one(const char *what)
{
	pthread_t th;

	if (!strcmp(what, "fork")) {
		if (fork() == 0)
			_exit(3);
		return child_is_well();
	}
	if (!strcmp(what, "vfork")) {
		if (vfork() == 0)
			_exit(3);
		return child_is_well();
	}
	return pthread_create(&th, NULL, ends, NULL) == 0 && pthread_join(th, NULL) == 0;
}

int main(int argc, char **argv)
{
	long until = argc > 2 ? atol(argv[2]) : now_ms() + LIMIT_MS;
	bool is_free = argc > 3;
	char text[32];

	while (now_ms() < until) {
		if (!is_free && !is_traced()) {
			is_free = true;
			until = now_ms() + FREE_MS;
		}
		snprintf(text, sizeof(text), "%ld", until);
		if (!strcmp(argv[1], "exec"))
			execl(argv[0], argv[0], argv[1], text, is_free ? "free" : NULL, (char *)NULL);
		if (!one(argv[1]))
			return 1;
	}
	puts("all is well");
	return 0;
}
