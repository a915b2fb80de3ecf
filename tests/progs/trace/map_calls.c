/* Changes mappings of its own over and over, and looks at what they hold: argv[1] rounds, of calls of the kinds in argv[2] (advise,
 * map, file), in argv[3] threads, with files in argv[4]. A timer's signals come among them, and children. Prints a sum of all that it has seen. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 24, REGIONS = 6, FILES = 5, FILE_PAGES = 4, HOLE = -1, RW = PROT_READ | PROT_WRITE };

struct region {
	char *at;
	int prot[PAGES];
	unsigned char value[PAGES]; /* at the beginning and at the end of the page */
};

struct file {
	char path[300];
	int number, fd, len, kept; /* kept: of what is mapped; 0: nothing */
	char *at;
	unsigned char value[FILE_PAGES]; /* of each page */
	unsigned char own;               /* of the first one in memory, if it has been stored to */
};

struct work {
	pthread_t thread;
	struct region region[REGIONS];
	struct file file[FILES];
	unsigned seed;
	uint64_t sum;
};

static int rounds, threads;
static const char *kinds, *folder;
static volatile unsigned ticks;

static void tick(int sig)
{
	(void)sig;
	ticks++;
}

static unsigned next(struct work *w, unsigned below)
{
	w->seed = w->seed * 1103515245 + 12345;
	return (w->seed >> 16) % below;
}

static void fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static void make(struct region *r)
{
	r->at = mmap(NULL, PAGES * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->at == MAP_FAILED)
		fail("mmap");
	for (int i = 0; i < PAGES; i++)
		r->prot[i] = RW;
	memset(r->value, 0, sizeof(r->value));
}

static void look(struct work *w, const struct region *r, int i)
{
	const unsigned char *page = (unsigned char *)r->at + i * PAGE;

	if (r->prot[i] == HOLE || !(r->prot[i] & PROT_READ))
		return;
	if (page[0] != r->value[i] || page[PAGE - 1] != r->value[i])
		fail("another value");
	w->sum = w->sum * 31 + page[0] + (unsigned)i;
}

static void store(struct region *r, int i, unsigned char value)
{
	if (r->prot[i] != RW)
		return;
	r->at[i * PAGE] = r->at[i * PAGE + PAGE - 1] = (char)value;
	r->value[i] = value;
}

static void advise(struct work *w, struct region *r, int from, int n)
{
	static const int harmless[] = {MADV_NORMAL,   MADV_RANDOM,     MADV_SEQUENTIAL,
	                               MADV_WILLNEED, MADV_NOHUGEPAGE, MADV_DONTDUMP,
	                               MADV_DODUMP,   MADV_COLD};
	const int empties = next(w, 2);

	madvise(r->at + from * PAGE, (size_t)(n * PAGE - (int)next(w, 100)),
	        empties ? MADV_DONTNEED : harmless[next(w, sizeof(harmless) / sizeof(*harmless))]);
	for (int i = from; empties && i < from + n; i++)
		r->value[i] = 0;
}

static void protect(struct work *w, struct region *r, int from, int n)
{
	static const int prots[] = {PROT_NONE, PROT_READ, RW, RW};
	const int prot = prots[next(w, 4)];

	mprotect(r->at + from * PAGE, (size_t)(n * PAGE), prot);
	for (int i = from; i < from + n && r->prot[i] != HOLE; i++)
		r->prot[i] = prot;
}

static void unmap(struct region *r, int from, int n)
{
	if (munmap(r->at + from * PAGE, (size_t)(n * PAGE)))
		fail("munmap");
	for (int i = from; i < from + n; i++)
		r->prot[i] = HOLE;
}

/* ---- files ---- */

static void write_file(struct work *w, struct file *f)
{
	static __thread char bytes[FILE_PAGES * PAGE];

	if (f->len && close(f->fd))
		fail("close");
	/* one of another name, as a new one may get an old one's inode */
	snprintf(f->path, sizeof(f->path), "%s/%d", folder, f->number);
	unlink(f->path);
	f->number += FILES;
	f->fd = open(f->path, O_RDWR | O_CREAT | O_EXCL, 0600);
	f->len = 1 + (int)next(w, FILE_PAGES * PAGE);
	for (int i = 0; i < FILE_PAGES; i++) {
		f->value[i] = (unsigned char)(1 + next(w, 250));
		memset(bytes + i * PAGE, f->value[i], PAGE);
	}
	if (f->fd < 0 || write(f->fd, bytes, (size_t)f->len) != f->len)
		fail(f->path);
}

static void look_at_file(struct work *w, const struct file *f)
{
	for (int i = 0; i * PAGE < f->kept; i++) {
		const unsigned char is = (unsigned char)f->at[i * PAGE];

		if (is != (i == 0 && f->own ? f->own : f->value[i]))
			fail("the file has another value");
		w->sum = w->sum * 31 + is;
	}
	/* the rest of the last page */
	if (f->kept % PAGE && f->at[f->kept] != 0)
		fail("something behind the end");
}

static void unmap_file(struct file *f)
{
	if (f->kept && munmap(f->at, (size_t)f->kept))
		fail("munmap of a file");
	f->kept = f->own = 0;
}

/* As git reads its objects. */
static void map_file(struct work *w, struct file *f)
{
	const int fd = open(f->path, O_RDONLY), prot = next(w, 2) ? PROT_READ : RW;

	f->at = mmap(NULL, (size_t)f->len, prot, MAP_PRIVATE, fd, 0);
	if (fd < 0 || f->at == MAP_FAILED || close(fd))
		fail("mmap of a file");
	f->kept = f->len;
	if (prot == RW && next(w, 2)) {
		f->own = (unsigned char)(1 + next(w, 250));
		memset(f->at, f->own, (size_t)(f->len < PAGE ? f->len : PAGE));
	}
}

/* What is written to the file shows in the mapping, but for what has been stored to. */
static void write_mapped(struct work *w, struct file *f)
{
	const unsigned char value = (unsigned char)(1 + next(w, 250));
	const int page = (int)next(w, (unsigned)((f->len + PAGE - 1) / PAGE));
	const int fd = next(w, 2) ? open(f->path, O_WRONLY) : f->fd;

	if (fd < 0 || pwrite(fd, &value, 1, page * PAGE) != 1 || (fd != f->fd && close(fd)))
		fail("pwrite");
	f->value[page] = value;
}

static void change_file(struct work *w)
{
	struct file *f = &w->file[next(w, FILES)];

	look_at_file(w, f);
	if (f->kept && next(w, 100) == 0)
		write_mapped(w, f);
	else if (f->kept && next(w, 100) == 0)
		madvise(f->at, (size_t)f->kept, MADV_DONTNEED), f->own = 0;
	else if (next(w, 4))
		unmap_file(f);
	if (f->kept)
		return;
	const int new = !f->len || next(w, 40) == 0;

	if (new)
		write_file(w, f);
	map_file(w, f);
	if (new)
		write_mapped(w, f);
	look_at_file(w, f);
}

/* Up to the next hole: another thread may have got that. */
static int run_of(const struct region *r, int from, int most)
{
	int n = 0;

	while (n < most && from + n < PAGES && r->prot[from + n] != HOLE)
		n++;
	return n;
}

static void unmap_all(struct region *r)
{
	for (int i = 0, n; i < PAGES; i += n + !n)
		if ((n = run_of(r, i, PAGES)))
			unmap(r, i, n);
}

static void once(struct work *w)
{
	struct region *r = &w->region[next(w, REGIONS)];
	const int from = (int)next(w, PAGES), n = run_of(r, from, 1 + (int)next(w, PAGES));
	const int some = (int)next(w, PAGES);

	if (strstr(kinds, "file"))
		change_file(w);
	store(r, some, (unsigned char)next(w, 256));
	if (n && strstr(kinds, "advise"))
		advise(w, r, from, n);
	if (n && strstr(kinds, "map") && next(w, 2))
		protect(w, r, from, n);
	if (n && strstr(kinds, "map") && next(w, 8) == 0) {
		unmap(r, from, n);
		/* where there is nothing; nobody else could have mapped there */
		if (threads == 1 && next(w, 16) == 0)
			unmap(r, from, n);
	}
	if (strstr(kinds, "map") && next(w, 16) == 0) {
		unmap_all(r);
		make(r);
	}
	look(w, r, from);
	look(w, r, some);
}

/* Its memory is a copy. */
static void child(struct work *w)
{
	const pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		for (int i = 0; i < 50 && !strstr(kinds, "file"); i++)
			once(w);
		_exit((int)(w->sum % 100));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		fail("child");
	w->sum += (unsigned)WEXITSTATUS(status);
}

static void *work(void *arg)
{
	struct work *w = arg;

	for (int i = 0; i < REGIONS; i++)
		make(&w->region[i]);
	for (int i = 0; i < FILES; i++)
		w->file[i].number = (int)w->seed * 100000 + i;
	for (int i = 0; i < rounds; i++) {
		once(w);
		if (i % 5000 == 2500)
			child(w);
	}
	for (int k = 0; k < REGIONS; k++)
		for (int i = 0; i < PAGES; i++)
			look(w, &w->region[k], i);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct itimerval often = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
	static struct work w[8];
	uint64_t sum = 0;

	rounds = argc > 1 ? atoi(argv[1]) : 1000;
	kinds = argc > 2 ? argv[2] : "advise";
	folder = argc > 4 ? argv[4] : ".";
	const int n = threads = argc > 3 ? atoi(argv[3]) : 1;
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = tick, .sa_flags = SA_RESTART}, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < n; i++)
		w[i].seed = (unsigned)i + 1;
	for (int i = 1; i < n; i++)
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	work(&w[0]);
	for (int i = 1; i < n; i++)
		pthread_join(w[i].thread, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	for (int i = 0; i < n; i++)
		sum = sum * 31 + w[i].sum;
	printf("%016llx\n%u\n", (unsigned long long)sum, ticks);
	return 0;
}
