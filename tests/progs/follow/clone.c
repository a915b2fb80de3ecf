/* clone() of processes: with a stack of their own, with a common table of descriptors and a common directory, as a sibling,
 * with a pidfd, inside the parent's memory until it ends, with the id written and cleared. */
#include "check.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static char stack[65536] __attribute__((aligned(16)));
static volatile int value = 1;

static pid_t cloned(int (*run)(void *), int flags, void *arg, pid_t *parent_tid, pid_t *child_tid)
{
	pid_t pid = clone(run, stack + sizeof(stack), flags, arg, parent_tid, NULL, child_tid);

	CHECK(pid > 0);
	return pid;
}

static int on_its_stack(void *arg)
{
	char here;

	value = 2;
	return &here > stack && &here < stack + sizeof(stack) && work(20000) ? *(int *)arg : 1;
}

static int opens(void *arg)
{
	int fd = open("/dev/zero", O_RDONLY);

	return fd >= 0 && chdir("/usr") == 0 && dup2(fd, *(int *)arg) == *(int *)arg ? 8 : 1;
}

static int in_memory(void *arg)
{
	int *sum = arg;

	for (int i = 0; i < 2000; i++)
		*sum += i % 5;
	value = 3;
	return 5;
}

static int sibling(void *arg)
{
	return getppid() == *(pid_t *)arg ? 4 : 1;
}

/* It is our brother, whom our parent waits for. */
static int has_sibling(void *arg)
{
	int *fds = arg;
	pid_t parent = getppid(), pid;

	pid = cloned(sibling, CLONE_PARENT | SIGCHLD, &parent, NULL, NULL);
	CHECK(waitpid(pid, NULL, 0) == -1 && errno == ECHILD);
	return write(fds[1], &pid, sizeof(pid)) == sizeof(pid) ? 6 : 1;
}

int main(void)
{
	int seven = 7, fd = 40, sum = 0, fds[2], pidfd = -1;
	char text[64];
	pid_t pid, tid = 0;

	pid = cloned(on_its_stack, SIGCHLD | CLONE_PARENT_SETTID, &seven, &tid, NULL);
	CHECK(tid == pid);
	ends_with(pid, 7);
	CHECK(value == 1);

	ends_with(cloned(opens, SIGCHLD | CLONE_FILES | CLONE_FS, &fd, NULL, NULL), 8);
	CHECK(read(fd, text, 4) == 4 && getcwd(text, sizeof(text)) && strcmp(text, "/usr") == 0);

	pid = cloned(in_memory, SIGCHLD | CLONE_VM | CLONE_VFORK, &sum, NULL, NULL);
	ends_with(pid, 5);
	CHECK(value == 3 && sum == 4000);

	CHECK(pipe(fds) == 0);
	ends_with(child(has_sibling, fds), 6);
	CHECK(read(fds[0], &pid, sizeof(pid)) == sizeof(pid));
	ends_with(pid, 4);

	pid = cloned(on_its_stack, SIGCHLD | CLONE_PIDFD, &seven, &pidfd, NULL);
	siginfo_t info = {0};
	CHECK(pidfd >= 0 && waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) == 0);
	CHECK(info.si_pid == pid && info.si_status == 7 && info.si_code == CLD_EXITED);

	/* one that wants no tracer */
	pid = cloned(on_its_stack, SIGCHLD | CLONE_UNTRACED, &seven, NULL, NULL);
	work(20000);
	ends_with(pid, 7);

	/* no signal at its end: only who asks for clones hears of it */
	int status, zero = 0;
	pid = cloned(on_its_stack, 0, &zero, NULL, NULL);
	CHECK(waitpid(pid, &status, 0) == -1 && errno == ECHILD);
	CHECK(waitpid(pid, &status, __WCLONE) == pid && WEXITSTATUS(status) == 0);
	DONE();
}
