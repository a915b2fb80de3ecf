/* What vfork children map, unmap, move, protect and break is their parent's. */
#include "selfcheck.h"
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char *volatile given, *volatile got;
static sigjmp_buf fault;

static char *map(size_t len, int flags, int fd)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, flags, fd, 0);
}

static void act(char how, int fd)
{
	switch (how) {
	case 'm': got = map(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1); break;
	case 's': got = map(PAGE, MAP_SHARED | MAP_ANONYMOUS, -1); break;
	case 'b': got = sbrk(3 * PAGE); break;
	case 'f': got = map(PAGE, MAP_PRIVATE, fd); break;
	case 'r': got = mremap(given, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE); break;
	case 'p':
		mprotect(given, PAGE, PROT_READ | PROT_WRITE);
		got = given;
		break;
	case 'x': /* in place of what is there */
		got = mmap(given, PAGE, PROT_READ | PROT_WRITE,
		           MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		break;
	case 'u':
		munmap(given, PAGE);
		got = given + PAGE;
	}
	strcpy(got + 8, "from the child");
}

static void on_fault(int signo)
{
	siglongjmp(fault, signo);
}

static int faults(const volatile char *p)
{
	if (sigsetjmp(fault, 1))
		return 1;
	(void)*p;
	return 0;
}

int main(void)
{
	signal(SIGSEGV, on_fault);
	int fd = memfd_create("file", 0);

	CHECK(write(fd, "of the file", 12) == 12);
	for (const char *how = "msbfrpxu"; *how; how++) {
		given = map(2 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		strcpy(given, "of the parent");
		if (*how == 'p')
			CHECK(mprotect(given, PAGE, PROT_READ) == 0);
		pid_t pid = vfork();
		if (pid == 0) {
			act(*how, fd);
			_exit(0);
		}
		CHECK(waitpid(pid, NULL, 0) == pid);
		CHECK(strcmp(got + 8, "from the child") == 0);
		CHECK(*how != 'f' || memcmp(got, "of the f", 8) == 0);
		CHECK(*how != 'r' || memcmp(got, "of the p", 8) == 0);
		if (*how == 'u') { /* its place is free */
			CHECK(faults(given));
			CHECK(mmap(given, PAGE, PROT_READ, MAP_FIXED_NOREPLACE | MAP_PRIVATE | MAP_ANONYMOUS,
			           -1, 0) == given);
		}
		got[0] = 'F';
		char *after = map(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		CHECK(after != MAP_FAILED && !after[0]);
		CHECK(got[0] == 'F');
	}
	DONE();
}
