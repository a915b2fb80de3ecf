/* vfork and exec, posix_spawn with file actions and attributes, system and popen, of programs with and without markers; what
 * a failing exec leaves in memory that is shared. */
#include "check.h"
#include <fcntl.h>
#include <spawn.h>

extern char **environ;

static void reads(int fd, const char *want)
{
	char got[64] = "";
	size_t n = 0;
	ssize_t more;

	while ((more = read(fd, got + n, sizeof(got) - 1 - n)) > 0)
		n += (size_t)more;
	CHECK(strcmp(got, want) == 0 && close(fd) == 0);
}

static void by_vfork(char *self)
{
	volatile int said = 0;
	int fds[2];

	CHECK(pipe(fds) == 0);
	pid_t pid = vfork();
	if (pid == 0) {
		dup2(fds[1], 1);
		close(fds[0]);
		said = 5;
		execl(self, self, "leaf", "7", (char *)NULL);
		_exit(126);
	}
	CHECK(said == 5 && close(fds[1]) == 0);
	reads(fds[0], "leaf 7\n");
	ends_with(pid, 7);
	pid = vfork();
	if (pid == 0) {
		execl("/no/such/program", "no", (char *)NULL);
		said = errno;
		_exit(9);
	}
	CHECK(said == ENOENT);
	ends_with(pid, 9);
}

static void by_spawn(char *const argv[], const char *want, int code)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t mask, none;
	pid_t pid;
	int fds[2];

	CHECK(pipe(fds) == 0);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, fds[1], 1);
	posix_spawn_file_actions_addclose(&files, fds[0]);
	posix_spawnattr_init(&attr);
	sigemptyset(&none);
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	CHECK(posix_spawn(&pid, argv[0], &files, &attr, argv, environ) == 0);
	CHECK(close(fds[1]) == 0);
	reads(fds[0], want);
	ends_with(pid, code);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
}

static void by_shell(void)
{
	char line[64] = "";

	CHECK(WEXITSTATUS(system("exit 6")) == 6);
	FILE *p = popen("echo one | tr a-z A-Z", "r");
	CHECK(p && fgets(line, sizeof(line), p) && strcmp(line, "ONE\n") == 0 && pclose(p) == 0);
	p = popen("read x; exit $x", "w");
	CHECK(p && fputs("11\n", p) >= 0 && WEXITSTATUS(pclose(p)) == 11);
}

int main(int argc, char **argv)
{
	char *leaf[] = {argv[0], "leaf", "3", NULL}, *cat[] = {"/bin/cat", NULL}, *no[] = {"no", NULL};
	pid_t pid;

	if (argc > 2) {
		dprintf(1, "leaf %s\n", argv[2]);
		return work(1000) ? atoi(argv[2]) : 1;
	}
	by_vfork(argv[0]);
	by_spawn(leaf, "leaf 3\n", 3);
	by_spawn(cat, "", 0);
	CHECK(posix_spawn(&pid, "/no/such/program", NULL, NULL, no, environ) == ENOENT);
	by_shell();
	DONE();
}
