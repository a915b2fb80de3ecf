/* Memory written as a file: /proc/PID/mem, also where no store could go. */
#include "selfcheck.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char constant[64] = "what the compiler has put here";
static const char *volatile rodata = constant;
static volatile int x, z;
static struct {
	volatile int first;
	volatile short next;
} y;
static int any; /* other in each run */

static off_t at(const volatile void *p)
{
	return (off_t)(long)p;
}

static void each_call(int fd)
{
	int v = any;
	struct iovec two[2] = { { &v, 1 }, { (char *)&v + 1, sizeof(v) - 1 } };

	CHECK(pwrite(fd, &v, sizeof(v), at(&x)) == sizeof(v) && x == any);
	v = any ^ 1;
	CHECK(lseek(fd, at(&y), SEEK_SET) == at(&y));
	CHECK(write(fd, &v, sizeof(v)) == sizeof(v) && y.first == (any ^ 1));
	v = any ^ 2;
	CHECK(write(fd, &v, 2) == 2 && y.next == (short)v);
	CHECK(lseek(fd, at(&z), SEEK_SET) == at(&z));
	CHECK(writev(fd, two, 2) == sizeof(v) && z == (any ^ 2));
	v = any ^ 3;
	CHECK(pwritev(fd, two, 2, at(&x)) == sizeof(v) && x == (any ^ 3));
	v = any ^ 4;
	CHECK(pwritev2(fd, two, 2, at(&x), 0) == sizeof(v) && x == (any ^ 4));
	v = any ^ 5;
	CHECK(lseek(fd, at(&x), SEEK_SET) == at(&x));
	CHECK(pwritev2(fd, two, 2, -1, 0) == sizeof(v) && x == (any ^ 5));
}

/* Kernels of today refuse them, older ones do not. */
static void from_file(int fd)
{
	char name[] = "/tmp/ownmem-XXXXXX";
	int v = any ^ 6, file = mkstemp(name);
	off_t from = 0;
	loff_t to = at(&x), zero = 0;

	CHECK(file >= 0 && unlink(name) == 0 && write(file, &v, sizeof(v)) == sizeof(v));
	x = 0;
	CHECK(lseek(fd, at(&x), SEEK_SET) == at(&x));
	CHECK(x == (sendfile(fd, file, &from, sizeof(v)) == sizeof(v) ? v : 0));
	x = 0;
	CHECK(x == (copy_file_range(file, &zero, fd, &to, sizeof(v), 0) == sizeof(v) ? v : 0));
	close(file);
}

/* Nothing but such a file can write there. */
static void read_only(int fd, int how)
{
	char text[16];
	const char *p = mmap(0, 3 * 4096, how, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	snprintf(text, sizeof(text), "%015d", any);
	CHECK(p != MAP_FAILED);
	CHECK(pwrite(fd, text, sizeof(text), at(p + 4090)) == sizeof(text)); /* two pages */
	CHECK(how == PROT_READ || mprotect((void *)p, 3 * 4096, PROT_READ) == 0);
	CHECK(!strcmp(p + 4090, text));
	CHECK(pwrite(fd, text, 3, at(rodata) + 5) == 3 && !memcmp(rodata + 5, text, 3));
	/* What is there stays there. */
	for (int i = 0; i < 20; i++) {
		struct timespec ms = { 0, 1000000 };
		nanosleep(&ms, 0);
		CHECK(!strcmp(p + 4090, text) && !memcmp(rodata + 5, text, 3));
	}
}

/* Up to what cannot be written. */
static void in_part(int fd)
{
	char *p = mmap(0, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static char text[8192];

	memset(text, any, sizeof(text));
	CHECK(p != MAP_FAILED && munmap(p + 4096, 4096) == 0);
	CHECK(pwrite(fd, text, sizeof(text), at(p) + 4000) == 96 && !memcmp(p + 4000, text, 96));
	CHECK(pwrite(fd, text, 1, at(p) + 4096) == -1 && errno == EIO);
}

/* Another process's memory is not ours. */
static void another(void)
{
	char name[64];
	int go[2], v = any, was = x, status;

	CHECK(pipe(go) == 0);
	pid_t child = fork();
	if (child == 0)
		_exit(read(go[0], &v, 1) == 1 && x == any ? 0 : 1);
	snprintf(name, sizeof(name), "/proc/%d/mem", child);
	int fd = open(name, O_RDWR);
	CHECK(fd >= 0 && pwrite(fd, &v, sizeof(v), at(&x)) == sizeof(v) && x == was);
	CHECK(write(go[1], "", 1) == 1 && waitpid(child, &status, 0) == child && status == 0);
	close(fd);
	close(go[0]);
	close(go[1]);
}

int main(void)
{
	struct timespec now;
	char name[64];
	int fd[5];

	clock_gettime(CLOCK_REALTIME, &now);
	any = (int)(now.tv_nsec ^ getpid()) & 0xfffffff;
	x = any + 1;
	snprintf(name, sizeof(name), "/proc/%d/task/%d/mem", getpid(), getpid());
	fd[0] = open("/proc/self/mem", O_RDWR);
	fd[1] = open("/proc/thread-self/mem", O_WRONLY);
	fd[2] = open(name, O_RDWR);
	fd[3] = dup(fd[0]);
	fd[4] = fcntl(fd[1], F_DUPFD, 1100);
	for (int i = 0; i < 5; i++) {
		if (i == 4 && fd[i] < 0 && errno == EINVAL) /* no descriptor so high */
			break;
		CHECK(fd[i] >= 0);
		each_call(fd[i]);
		any++;
	}
	another();
	from_file(fd[0]);
	read_only(fd[0], PROT_READ);
	read_only(fd[0], PROT_NONE);
	in_part(fd[0]);
	DONE();
}
