/* A child by vfork lets a read of another thread come to its end while it has the memory; the thread sees it later. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static int fds[2];
static volatile int ready;

static void *reads(void *arg)
{
	char b[64] = "nothing";

	ready++;
	CHECK(read(fds[0], b, sizeof(b)) == 9);
	CHECK(strcmp(b, "by child") == 0);
	return arg;
}

static void *computes(void *arg)
{
	volatile unsigned long n = 0;

	do {
		n++;
	} while (ready < 3);
	return (void *)(n > 0 ? 1L : 0L);
}

int main(void)
{
	pthread_t a, b;
	int status;

	CHECK(pipe(fds) == 0);
	for (int i = 0; i < 5; i++) {
		ready = 0;
		a = start(reads, fds);
		b = start(computes, NULL);
		while (!ready)
			usleep(1000);
		usleep(2000);
		pid_t pid = vfork();
		if (pid == 0) {
			if (write(fds[1], "by child", 9) == 9)
				usleep(3000);
			_exit(21);
		}
		CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 21);
		ready = 3;
		CHECK(join(a) == fds && join(b));
	}
	DONE();
}
