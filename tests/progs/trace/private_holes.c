/* private_holes file|memfd|both FILE: a file of 1 TB (both: one with a name, and it is mapped shared as well), of which a few pages have contents, is mapped privately: longer and
 * longer, again, while it is cut, lengthened, punched and written by calls, its own and, of a file with a name, a
 * child's. What is there is printed. */
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PLACES = 7 };
static const size_t size = 1UL << 40;
static size_t place[PLACES];
static char *map;
static int fd;

static void see(const char *when)
{
	printf("%s:", when);
	for (int i = 0; i < PLACES; i++)
		printf(" %d %d", map[place[i]], map[place[i] + PAGE / 2]);
	printf("\n");
	fflush(stdout);
}

static void fill(size_t at, char c)
{
	char bytes[PAGE / 2 + 1];

	memset(bytes, c, sizeof(bytes));
	if (pwrite(fd, bytes, sizeof(bytes), (off_t)at) != sizeof(bytes))
		_exit(1);
}

static void child_fills(size_t at, char c)
{
	if (fork() == 0) {
		fill(at, c);
		_exit(0);
	}
	wait(NULL);
	getppid();
}

static int punch(void)
{
	return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE, (off_t)(size - 2 * PAGE));
}

/* A child writes and punches; what it has punched is stored to then. */
static void both(void)
{
	if (mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0) == MAP_FAILED)
		_exit(1);
	child_fills(place[5], 7);
	see("mapped shared");
	if (fork() == 0)
		_exit(punch() < 0);
	wait(NULL);
	getppid();
	see("punched by a child");
}

int main(int argc, char **argv)
{
	const bool with_a_child = argc > 1 && strcmp(argv[1], "memfd"); /* it is not noticed there */
	void (*fills)(size_t at, char c);
	const size_t all[PLACES] = {0, 2 * PAGE, size / 8, size / 4, size / 2 + PAGE, size - 2 * PAGE, size - PAGE};

	if (argc < 3)
		return 2;
	memcpy(place, all, sizeof(all));
	fd = with_a_child ? open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600) : memfd_create("x", 0);
	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		return 1;
	fill(place[1], 1);
	fill(place[4], 2);
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	if (map == MAP_FAILED)
		return 1;
	map[0] = 3;
	map = mremap(map, PAGE, size, MREMAP_MAYMOVE);
	if (map == MAP_FAILED)
		return 1;
	see("longer");
	if (!strcmp(argv[1], "both"))
		both();
	map[place[3]] = 4; /* its own, where the file has nothing */
	map[place[4] + 8] = 5;
	fill(place[2], 6);
	see("written");
	fills = with_a_child ? child_fills : fill;
	fills(place[1], 12);
	fills(place[5], 7);
	fills(place[3], 8);
	see("by a child");
	fills(place[1], 1);
	see("back");
	if (punch() < 0)
		return 1;
	see("punched");
	fills(place[5], 9);
	see("by a child again");
	if (ftruncate(fd, (off_t)(size / 8)) < 0 || ftruncate(fd, (off_t)size) < 0)
		return 1;
	see("cut");
	fill(place[6], 10);
	char *again = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	if (again == MAP_FAILED)
		return 1;
	again[place[2]] = 11;
	see("still");
	map = again;
	see("again");
	if (madvise(map, size, MADV_DONTNEED) < 0)
		return 1;
	see("not needed");
	unlink(argv[2]);
	return 0;
}
