/* Files that are mapped in a process and its child and that nobody can open any more: unlinked or a memfd, and closed. */
#include "check.h"
#include <sys/mman.h>

enum { PAGE = 4096, SIZE = 2 * PAGE, RW = PROT_READ | PROT_WRITE };

static volatile unsigned char *shared, *looked_at, *own, *kept;
static int kept_fd;

static void map_all(void)
{
	char name[] = "/tmp/lizard-gone-XXXXXX";
	int fd = mkstemp(name), named = memfd_create("gone", 0);

	CHECK(fd >= 0 && named >= 0 && unlink(name) == 0);
	CHECK(ftruncate(fd, SIZE) == 0 && ftruncate(named, SIZE) == 0);
	CHECK(pwrite(fd, "read only", 9, PAGE) == 9 && pwrite(named, "shared", 6, 0) == 6);
	looked_at = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
	own = mmap(NULL, SIZE, RW, MAP_PRIVATE, fd, 0);
	shared = mmap(NULL, SIZE, RW, MAP_SHARED, named, 0);
	kept_fd = memfd_create("kept", 0);
	CHECK(ftruncate(kept_fd, SIZE) == 0);
	kept = mmap(NULL, SIZE, RW, MAP_SHARED, kept_fd, 0);
	CHECK(shared != MAP_FAILED && looked_at != MAP_FAILED && own != MAP_FAILED && kept != MAP_FAILED);
	CHECK(close(fd) == 0 && close(named) == 0);
	own[0] = 'o';
}

static int in_child(void *arg)
{
	CHECK(looked_at[PAGE] == 'r' && looked_at[0] == 0 && own[0] == 'o' && own[PAGE + 1] == 'e');
	CHECK(shared[0] == 's');
	own[PAGE + 1] = 'c';
	shared[PAGE] = 'c';
	CHECK(pwrite(kept_fd, "by a call", 9, 5) == 9 && kept[5] == 'b');
	CHECK(work(own[PAGE + 1]) != work(looked_at[PAGE]));
	return 5;
}

int main(void)
{
	map_all();
	ends_with(child(in_child, NULL), 5);
	CHECK(shared[PAGE] == 'c' && kept[6] == 'y' && own[PAGE + 1] == 'e' && looked_at[PAGE + 1] == 'e');
	DONE();
}
