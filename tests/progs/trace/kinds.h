/* For programs that do one of many kinds of things, by name: what all of them need. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SEE(condition)                                                                             \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("line %d: not seen: %s (%s)\n", __LINE__, #condition,               \
			       strerror(errno));                                                   \
			fflush(stdout);                                                            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

struct kind {
	const char *name;
	void (*run)(void);
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The kind called NAME. The exit status. */
static int run_kind(const struct kind *all, unsigned n, const char *name)
{
	/* calls that do not wait come first */
	for (int i = 0; i < 100; i++)
		getppid();
	for (unsigned i = 0; name && i < n; i++)
		if (!strcmp(name, all[i].name)) {
			all[i].run();
			puts("well");
			return 0;
		}
	return 2;
}
