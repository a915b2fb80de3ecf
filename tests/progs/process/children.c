/* Children by every way; they run marked code for long, use rdtsc, and fail where they should. */
#include "selfcheck.h"
#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

extern char **environ;

static unsigned work(int n)
{
	unsigned sum = 0;

	for (int i = 0; i < n; i++)
		sum = i % 3 ? sum + i : sum ^ (sum << 1);
	return sum;
}

static int wait_for(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

int main(void)
{
	pid_t pid;
	char line[64] = "";
	unsigned mine = work(200000);

	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (pid == 0)
			_exit(work(500000) && __rdtsc() ? 40 + i : 1);
		CHECK(WEXITSTATUS(wait_for(pid)) == 40 + i);
	}
	volatile int shared = 1;
	pid = vfork();
	if (pid == 0) {
		shared = 2;
		execl("/bin/true", "true", (char *)NULL);
		_exit(9);
	}
	CHECK(shared == 2 && wait_for(pid) == 0);
	pid = vfork();
	if (pid == 0) {
		execl("/no/such/program", "no", (char *)NULL);
		shared = errno;
		_exit(8);
	}
	CHECK(shared == ENOENT && WEXITSTATUS(wait_for(pid)) == 8);
	char *ok[] = { "sh", "-c", "exit 5", NULL }, *bad[] = { "no", NULL };
	CHECK(posix_spawn(&pid, "/bin/sh", NULL, NULL, ok, environ) == 0);
	CHECK(WEXITSTATUS(wait_for(pid)) == 5);
	CHECK(posix_spawn(&pid, "/no/such/program", NULL, NULL, bad, environ) == ENOENT);
	CHECK(WEXITSTATUS(system("exit 7")) == 7);
	FILE *p = popen("echo from a child", "r");
	CHECK(p && fgets(line, sizeof line, p) && !strcmp(line, "from a child\n"));
	CHECK(pclose(p) == 0);
	CHECK(mine == work(200000));
	DONE();
}
