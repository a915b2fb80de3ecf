/* Is this process recorded still? Until it is not, or for half a minute, the programs here go on. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_MS = 30000, FREE_MS = 300 };

static inline long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* By a child: a process that is recorded sees no tracer in its own status. */
static inline bool is_traced(void)
{
	char path[64], text[4096] = "";
	int status = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)getpid());
	const pid_t pid = fork();
	if (pid == 0) {
		const int fd = open(path, O_RDONLY);
		_exit(read(fd, text, sizeof(text) - 1) > 0 && !strstr(text, "TracerPid:\t0\n"));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WEXITSTATUS(status);
}
