/* drop fork|exec|hide: a process that gives up its user, or becomes undumpable, and then has a child, or runs another program. */
#define _GNU_SOURCE
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OTHER = 54321 };

static unsigned work(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += i % 3 ? i : 1;
	return sum;
}

static int dumpable(void)
{
	return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
}

int main(int argc, char **argv)
{
	int status = -1;

	if (argc < 2) {
		printf("again %u, user %d, dumpable %d\n", work(1000), getuid() == OTHER,
		       dumpable());
		return 4;
	}
	work(3000000);
	if (!strcmp(argv[1], "hide"))
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	else if (setgroups(0, NULL) < 0 || setresgid(OTHER, OTHER, OTHER) < 0 ||
	         setresuid(OTHER, OTHER, OTHER) < 0)
		return 2;
	printf("dumpable %d\n", dumpable());
	fflush(stdout);
	if (!strcmp(argv[1], "exec"))
		return execl("/proc/self/exe", "again", NULL);
	if (fork() == 0) {
		work(3000000);
		_exit(10 + dumpable());
	}
	wait(&status);
	printf("child %x\n", status);
	work(3000000);
	return 3;
}
