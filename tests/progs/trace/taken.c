/* Writes memory of which replay has other bytes at the call's event, or that the call itself changes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char bytes[4096], others[4096];
static int ends[2];

static void *read_half(void *arg)
{
	return (void *)read(ends[0], (char *)arg + 32, 32);
}

/* Another thread's read has stored there, and has not got its turn yet. */
static int stored(int null)
{
	pthread_t it;

	pipe(ends);
	pthread_create(&it, NULL, read_half, bytes);
	usleep(100000);
	write(ends[1], others, 32);
	int bad = write(null, bytes, 64) != 64;
	pthread_join(it, NULL);
	return bad;
}

/* All that can be read, the tracer's memory in the program too. */
static int dump(int null)
{
	char line[300];
	unsigned long from, to;
	FILE *maps = fopen("/proc/self/maps", "r");
	int n = 0;

	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx r", &from, &to) == 2 && strstr(line, " r") &&
		    write(null, (void *)from, to - from) > 0)
			n++;
	return n < 5;
}

/* The vector is in memory that a child changes while the call waits. */
static int vector(int null)
{
	struct iovec *io =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)null;
	*io = (struct iovec){bytes, sizeof(bytes)};
	pipe(ends);
	fcntl(ends[1], F_SETPIPE_SZ, 4096);
	write(ends[1], others, sizeof(others));
	if (fork() == 0) {
		usleep(300000);
		io->iov_base = others;
		read(ends[0], bytes, sizeof(bytes));
		usleep(100000);
		_exit(0);
	}
	int bad = writev(ends[1], io, 1) != sizeof(bytes);
	wait(NULL);
	return bad;
}

/* Its own memory as a file, overlapping. */
static int itself(int null)
{
	int fd = open("/proc/self/mem", O_RDWR);

	(void)null;
	for (int i = 0; i < 256; i++)
		bytes[i] = (char)i;
	return pwrite(fd, bytes, 64, (off_t)(uintptr_t)(bytes + 8)) != 64;
}

int main(int argc, char **argv)
{
	int null = open("/dev/null", O_WRONLY);

	memset(bytes, 'a', sizeof(bytes));
	memset(others, 'b', sizeof(others));
	switch (*argv[1]) {
	case 's': return stored(null);
	case 'd': return dump(null);
	case 'v': return vector(null);
	case 'i': return itself(null);
	}
	return 1;
}
