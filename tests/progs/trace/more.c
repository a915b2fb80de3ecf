/* More of one thing: each way leaves the program's own memory as large, however often it is done. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 256 };

static volatile unsigned done;

static void *one(void *arg)
{
	done++;
	return arg;
}

static void on_signal(int sig)
{
	done += (unsigned)sig;
}

static void compute(unsigned n)
{
	for (unsigned i = 0; i < n * 1000; i++)
		if (i * 2654435761u >> 31)
			done++;
		else
			done += 2;
}

static void call(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		syscall(SYS_getppid);
}

static void store(unsigned n)
{
	static unsigned char pages[PAGES * PAGE];

	for (unsigned i = 0; i < n; i++) {
		memset(pages, (int)i, sizeof(pages));
		syscall(SYS_getppid);
	}
}

static void map(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char *at = mmap(NULL, (1 + i % 7) * PAGE, PROT_READ | PROT_WRITE,
		                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		*at = 1;
		munmap(at, (1 + i % 7) * PAGE);
	}
}

static void start(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, one, NULL) || pthread_join(thread, NULL))
			exit(2);
	}
}

static void interrupt(unsigned n)
{
	signal(SIGUSR1, on_signal);
	for (unsigned i = 0; i < n; i++)
		raise(SIGUSR1);
}

static void have_children(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

static const struct {
	const char *name;
	void (*run)(unsigned n);
} ways[] = {
    {"markers", compute},        {"calls", call},    {"pages", store},
    {"mappings", map},           {"threads", start}, {"signals", interrupt},
    {"children", have_children},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (argc == 3 && !strcmp(argv[1], ways[i].name)) {
			ways[i].run((unsigned)atoi(argv[2]));
			puts("done");
			return 0;
		}
	return 1;
}
