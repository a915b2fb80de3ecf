/* mapped DIR: shared mappings of files, of memory with and without a name, written by the program and by its system
 * calls, while the files grow and shrink. What it sees goes into the sum that it prints. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE };

static unsigned sum;
static sigjmp_buf out;

#define SEE(condition)                                                                             \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("line %d: %s\n", __LINE__, #condition);                             \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static void add(const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum = sum * 31 + ((const unsigned char *)p)[i];
}

static char *map(int fd, size_t pages, int flags)
{
	char *p = mmap(NULL, pages * PAGE, RW, flags, fd, 0);

	SEE(p != MAP_FAILED);
	return p;
}

static int file(const char *name, const char *text)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	SEE(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	return fd;
}

static void on_bus(int signo)
{
	siglongjmp(out, signo);
}

/* Which signal a load from P gives. */
static int load(volatile char *p)
{
	int got = sigsetjmp(out, 1);

	if (!got)
		sum += *p;
	return got;
}

static void both_ways(void)
{
	int fd = file("both", "0123456789");
	char *p = map(fd, 1, MAP_SHARED), b[20] = {0};

	SEE(ftruncate(fd, PAGE) ==
	    0); /* what is stored behind the end goes when the page is written back */
	p[3] = 'x';
	SEE(pread(fd, b, 10, 0) == 10 && !memcmp(b, "012x456789", 10));
	SEE(pwrite(fd, "yz", 2, 5) == 2 && !memcmp(p, "012x4yz789", 10));
	SEE(lseek(fd, 0, SEEK_SET) == 0 && write(fd, "AB", 2) == 2 && !memcmp(p, "AB2x", 4));
	SEE(pwritev(fd, &(struct iovec){"CD", 2}, 1, 8) == 2 && !memcmp(p + 6, "z7CD", 4));
	/* The kernel stores into the mapping for us. */
	SEE(pread(fd, p + 100, 10, 0) == 10 && !memcmp(p + 100, "AB2x", 4));
	SEE(readlink("/proc/self/exe", p + 200, 50) > 0 && p[200] == '/');
	SEE(msync(p, PAGE, MS_SYNC) == 0);
	add(p, 110);
}

/* Written elsewhere than where it is said. */
static void appended(void)
{
	int fd = file("appended", "0123456789"), to = open("appended", O_RDWR | O_APPEND);
	char *p = map(fd, 2, MAP_SHARED);

	SEE(pwrite(to, "abc", 3, 2) == 3 && !memcmp(p, "0123456789abc", 14));
	SEE(write(to, "def", 3) == 3 && !memcmp(p, "0123456789abcdef", 17));
	SEE(pwritev2(fd, &(struct iovec){"xy", 2}, 1, -1, 0) == 2 && !memcmp(p + 9, "9xycdef", 8));
	SEE(fallocate(fd, 0, 100, PAGE) == 0 && p[PAGE] == 0);
	add(p, PAGE + 100);
}

static void twice(void)
{
	int fd = file("twice", "0123456789");
	char *p = map(fd, 1, MAP_SHARED), *q = map(fd, 1, MAP_SHARED), *r = map(fd, 1, MAP_PRIVATE);

	p[1] = 'p';
	getppid();
	SEE(q[1] == 'p');
	q[2] = 'q';
	getppid();
	SEE(p[2] == 'q');
	SEE(pwrite(fd, "w", 1, 3) == 1 && p[3] == 'w' && q[3] == 'w' && r[3] == 'w');
	r[4] = 'r';
	getppid();
	SEE(p[4] == '4' && q[4] == '4');
	add(p, 10), add(q, 10), add(r, 10);
}

static void longer(void)
{
	int fd = file("longer", "0123456789");
	char *p = map(fd, 5, MAP_SHARED), *q = map(fd, 5, MAP_PRIVATE);

	SEE(load(p + PAGE) == SIGBUS && load(q + 2 * PAGE) == SIGBUS);
	SEE(ftruncate(fd, 2 * PAGE + 100) == 0);
	SEE(p[PAGE] == 0 && p[2 * PAGE + 99] == 0 && q[PAGE] == 0);
	p[PAGE + 5] = 'x';
	q[2 * PAGE] = 'q';
	SEE(load(p + 3 * PAGE) == SIGBUS);
	SEE(pwrite(fd, "end", 3, 4 * PAGE) == 3);
	SEE(!memcmp(p + 4 * PAGE, "end", 3) && !memcmp(q + 4 * PAGE, "end", 3) &&
	    p[PAGE + 5] == 'x' && p[3 * PAGE] == 0);
	add(p, 5 * PAGE), add(q, 5 * PAGE);
	munmap(q, 5 * PAGE);
}

static void shorter(void)
{
	int fd = file("shorter", "0123456789"), b[2] = {0};
	char *p = map(fd, 4, MAP_SHARED), *q = map(fd, 4, MAP_PRIVATE);

	SEE(ftruncate(fd, 4 * PAGE) == 0);
	memset(p, 's', 4 * PAGE);
	q[2 * PAGE] = 'q';
	SEE(ftruncate(fd, PAGE + 100) == 0);
	SEE(p[PAGE + 99] == 's' && p[PAGE + 100] == 0 && load(p + 2 * PAGE) == SIGBUS &&
	    load(q + 2 * PAGE) == SIGBUS);
	SEE(ftruncate(fd, 4 * PAGE) == 0);
	SEE(p[2 * PAGE] == 0 && q[2 * PAGE] == 0 && p[3 * PAGE] == 0);
	p[3 * PAGE] = 't';
	SEE(truncate("shorter", 10) == 0 && load(p + PAGE) == SIGBUS && p[0] == 's' && p[10] == 0);
	SEE(open("shorter", O_RDWR | O_TRUNC) >= 0 && load(p) == SIGBUS);
	SEE(write(fd, b, 0) == 0 && ftruncate(fd, PAGE) == 0 && p[0] == 0);
	add(p, PAGE);
}

static void holes(void)
{
	int fd = memfd_create("holes", 0), from = file("from", "copied text");
	loff_t in = 0, to = 50;
	char *p;

	SEE(ftruncate(fd, 4 * PAGE) == 0);
	p = map(fd, 4, MAP_SHARED);
	memset(p, 'h', 4 * PAGE);
	SEE(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE, PAGE) == 0);
	SEE(p[PAGE] == 0 && p[2 * PAGE] == 'h');
	SEE(madvise(p + 2 * PAGE, PAGE, MADV_REMOVE) == 0 && p[2 * PAGE] == 0 &&
	    p[3 * PAGE] == 'h');
	SEE(madvise(p + 3 * PAGE, PAGE, MADV_DONTNEED) == 0 && p[3 * PAGE] == 'h');
	lseek(fd, 10, SEEK_SET);
	SEE(sendfile(fd, from, &in, 11) == 11 && !memcmp(p + 10, "copied text", 11));
	in = 0;
	if (copy_file_range(from, &in, fd, &to, 6, 0) == 6)
		SEE(!memcmp(p + 50, "copied", 6));
	int q[2];
	SEE(pipe(q) == 0 && write(q[1], "spliced", 7) == 7);
	to = 100;
	SEE(splice(q[0], NULL, fd, &to, 7, 0) == 7 && !memcmp(p + 100, "spliced", 7));
	p = mremap(p, 4 * PAGE, 2 * PAGE, 0);
	SEE(ftruncate(fd, 6 * PAGE) == 0);
	p = mremap(p, 2 * PAGE, 6 * PAGE, MREMAP_MAYMOVE);
	SEE(p != MAP_FAILED && p[3 * PAGE] == 'h' && p[5 * PAGE] == 0);
	add(p, 6 * PAGE);
}

/* Stores do not give the file another time: the copy of the first mapping is not what the second one shows. */
static void again(const char *name, int fd)
{
	SEE(fd >= 0 && ftruncate(fd, 2 * PAGE) == 0);
	for (int i = 0; i < 3; i++) {
		char *p = map(fd, 2, MAP_SHARED);
		SEE(p[PAGE + i] == 0 && (!i || p[PAGE + i - 1] == i));
		p[PAGE + i] = i + 1;
		SEE(munmap(p, 2 * PAGE) == 0);
	}
	char *p = map(fd, 2, MAP_PRIVATE);
	SEE(p[PAGE + 2] == 3);
	add(p, 2 * PAGE);
	if (name)
		shm_unlink(name);
}

static void named_memory(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/lizard-mapped-%d", getpid());
	again(name, shm_open(name, O_RDWR | O_CREAT, 0600));
	again(NULL, memfd_create("again", 0));
	again(NULL, file("again", ""));
}

static void segments(void)
{
	int id = shmget(IPC_PRIVATE, 3 * PAGE, IPC_CREAT | 0600);
	char *p = shmat(id, NULL, 0), *q;

	SEE(p != (void *)-1);
	p[5] = 'p';
	SEE(shmdt(p) == 0);
	p = shmat(id, NULL, 0);
	q = shmat(id, NULL, SHM_RDONLY);
	SEE(p[5] == 'p' && q[5] == 'p');
	p[6] = 'q';
	getppid();
	SEE(q[6] == 'q');
	SEE(read(open("/proc/self/comm", O_RDONLY), p + PAGE, 6) == 6 &&
	    !memcmp(q + PAGE, "mapped", 6));
	/* In the place of another mapping, which is then gone. */
	char *r = mmap(NULL, 3 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(r, 'r', 3 * PAGE);
	SEE(shmat(id, r, SHM_REMAP) == r && r[5] == 'p' && r[0] == 0);
	SEE(munmap(q + PAGE, PAGE) == 0 && shmdt(q) == 0);
	shmctl(id, IPC_RMID, NULL);
	add(p, 3 * PAGE), add(r, 3 * PAGE);
}

/* Memory without a file does not grow with its mapping; what was not mapped for a while is still there. */
static void lengthened(char *p)
{
	SEE(p != MAP_FAILED && p != (char *)-1);
	p[PAGE] = 'm';
	p[3 * PAGE + 1] = 'k';
	p = mremap(p, 4 * PAGE, 2 * PAGE, 0);
	p = mremap(p, 2 * PAGE, 6 * PAGE, MREMAP_MAYMOVE);
	SEE(p != MAP_FAILED && p[PAGE] == 'm' && p[3 * PAGE + 1] == 'k' && load(p + 4 * PAGE) == SIGBUS);
	p[2 * PAGE] = 'n';
	char *q = mremap(p, 0, 5 * PAGE, MREMAP_MAYMOVE);
	SEE(q != MAP_FAILED && q[2 * PAGE] == 'n' && load(q + 4 * PAGE) == SIGBUS);
	q[3 * PAGE] = 'o';
	SEE(p[3 * PAGE] == 'o' && load(p + 5 * PAGE) == SIGBUS);
	munmap(q, 5 * PAGE);
	munmap(p, 6 * PAGE);
}

int main(int argc, char **argv)
{
	SEE(argc == 2 && (mkdir(argv[1], 0700) == 0 || errno == EEXIST) && chdir(argv[1]) == 0);
	signal(SIGBUS, on_bus);
	both_ways();
	appended();
	twice();
	longer();
	shorter();
	holes();
	named_memory();
	segments();
	lengthened(mmap(NULL, 4 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	int id = shmget(IPC_PRIVATE, 4 * PAGE, 0600);
	if (id >= 0) {
		lengthened(shmat(id, NULL, 0));
		shmctl(id, IPC_RMID, NULL);
	}
	printf("all is well %08x\n", sum);
	return 0;
}
