/* One process that becomes one program after the other: itself with another name and environment, a script, a program without
 * markers, a descriptor by fexecve; descriptors close or stay; then many children at once, waited for in any order. */
#include "check.h"
#include <fcntl.h>
#include <sys/stat.h>

extern char **environ;

enum { MANY = 25 };

static int chain(void *arg)
{
	char *argv[] = {"first", "1", NULL}, *envp[] = {"LIZARD_CHAIN=yes", "PATH=/usr/bin:/bin", NULL};
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0 && dup2(fd, 5) == 5 && dup3(fd, 51, O_CLOEXEC) == 51);
	execve(arg, argv, envp);
	return 1;
}

static void write_script(char *name, const char *self)
{
	int fd = mkstemp(name);

	CHECK(fd >= 0 && dprintf(fd, "#!/bin/sh\nread x <&5; exec \"%s\" 3 \"$1\"\n", self) > 0);
	CHECK(fchmod(fd, 0700) == 0 && close(fd) == 0);
}

static int next(char **argv)
{
	char script[] = "/tmp/lizard-chain-XXXXXX", exe[4096] = "";
	char *args[] = {"last", "last", NULL}, *env[] = {"LAST=1", NULL};
	int fd;

	switch (atoi(argv[1])) {
	case 1:
		CHECK(strcmp(argv[0], "first") == 0 && strcmp(getenv("LIZARD_CHAIN"), "yes") == 0 && !getenv("HOME"));
		CHECK(fcntl(5, F_GETFD) == 0 && fcntl(51, F_GETFD) == -1);
		CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
		write_script(script, exe);
		execl(script, script, script, (char *)NULL);
		return 1;
	case 3:
		CHECK(unlink(argv[2]) == 0);
		CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
		execl("/usr/bin/env", "env", "-i", exe, "4", (char *)NULL);
		return 1;
	case 4:
		CHECK((!environ || !environ[0]) && (fd = open("/proc/self/exe", O_RDONLY)) >= 0);
		fexecve(fd, args, env);
		return 1;
	}
	return 1;
}

static int one_of_many(void *arg)
{
	return work(100 * (unsigned)(uintptr_t)arg) != 1 ? (int)(uintptr_t)arg : 200;
}

int main(int argc, char **argv)
{
	int sum = 0, status;

	if (argc > 1 && strcmp(argv[1], "last") == 0)
		return getenv("LAST") ? 141 : 1;
	if (argc > 1)
		return next(argv);
	ends_with(child(chain, argv[0]), 141);
	for (int i = 1; i <= MANY; i++)
		child(one_of_many, (void *)(uintptr_t)i);
	for (int i = 1; i <= MANY; i++) {
		CHECK(wait(&status) > 0 && WIFEXITED(status));
		sum += WEXITSTATUS(status);
	}
	CHECK(sum == MANY * (MANY + 1) / 2 && wait(&status) == -1 && errno == ECHILD);
	DONE();
}
