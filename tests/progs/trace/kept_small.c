/* kept_small FILE: keeps a small file mapped privately, says so by FILE.ready, and waits for FILE.go. Prints what it sees in the
 * file then: somebody else may have changed it meanwhile. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CALLS = 200, MAPPINGS = 3, LEN = 5 };

static char name[4096];

static const char *beside(const char *file, const char *suffix)
{
	snprintf(name, sizeof(name), "%s.%s", file, suffix);
	return name;
}

/* They have no stop. */
static void call(void)
{
	for (int i = 0; i < CALLS; i++)
		getppid();
}

int main(int argc, char **argv)
{
	const volatile char *seen[MAPPINGS];

	call();
	for (int i = 0; i < MAPPINGS; i++) {
		int fd = open(argv[1], O_RDONLY);

		seen[i] = mmap(NULL, LEN, PROT_READ, MAP_PRIVATE, fd, 0);
		close(fd);
		if (seen[i] == MAP_FAILED || *seen[i] != 'm')
			return 1;
	}
	call();
	close(open(beside(argv[1], "ready"), O_CREAT | O_WRONLY, 0600));
	while (access(beside(argv[1], "go"), F_OK) < 0)
		usleep(1000);
	call();
	for (int i = 0; i < MAPPINGS; i++)
		putchar(*seen[i]);
	putchar('\n');
	return 0;
}
