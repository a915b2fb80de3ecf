/* For programs of several processes: CHECK says what is not true and ends the process with status 1; what a parent
 * CHECKs of its children makes the first process end so, too. DONE prints the token. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define CHECK(x) \
	do { \
		if (!(x)) { \
			dprintf(1, "%s:%d: not true: %s (%s)\n", __FILE__, __LINE__, #x, strerror(errno)); \
			_exit(1); \
		} \
	} while (0)
#define DONE() return dprintf(1, "all is well\n") != 12

/* What it computes leaves a trail of markers and is known beforehand. */
static inline unsigned work(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum = i % 3 ? sum + i : sum ^ (sum << 1);
	return sum;
}

static inline pid_t child(int (*run)(void *), void *arg)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0)
		_exit(run(arg));
	return pid;
}

static inline int status_of(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

static inline void ends_with(pid_t pid, int code)
{
	int status = status_of(pid);

	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == code);
}
