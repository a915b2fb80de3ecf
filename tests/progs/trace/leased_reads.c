/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads much of the file argv[1] in the way argv[2], and prints a sum of all that it has read. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 64 << 10, ROUNDS = 300 };

static const char *path;
static uint64_t sum;
static unsigned char buf[4 << 20];

static void add(ssize_t n)
{
	sum = sum * 31 + (uint64_t)n;
	for (ssize_t i = 0; i + 8 <= n; i += 8) {
		uint64_t word;

		memcpy(&word, buf + i, 8);
		sum += word * (uint64_t)(i + 1);
	}
	for (ssize_t i = n & ~7; i < n; i++)
		sum += buf[i] * (uint64_t)(i + 1);
}

static int open_it(int flags)
{
	int fd = open(path, flags);

	if (fd < 0)
		printf("open: %s\n", strerror(errno));
	return fd;
}

/* Parts that overlap, and lie at no limit of anything. */
static void at_places(int fd, int rounds)
{
	struct stat st;

	fstat(fd, &st);
	for (int i = 0; i < rounds; i++) {
		const size_t len = 20000 + (size_t)i * 7919 % (PIECE - 20000);

		add(pread(fd, buf, len, (off_t)i * 104729 % (st.st_size + 1)));
	}
}

static void one_after_the_other(int fd)
{
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buf, 40000)) > 0)
		add(n);
}

static void plain(void)
{
	int fd = open_it(O_RDONLY);

	for (int i = 0; i < 3; i++)
		one_after_the_other(fd);
	at_places(fd, ROUNDS);
	/* behind the end, and where it is not allowed */
	printf("%zd", pread(fd, buf, PIECE, 1LL << 40));
	printf(" %zd", pread(fd, buf, PIECE, -1));
	printf(" %zd\n", pread(fd, (void *)8, PIECE, 0));
	close(fd);
}

/* Numbers become another file's. */
static void numbers(void)
{
	int fd = open_it(O_RDONLY), other = open("/proc/self/exe", O_RDONLY), copy;

	at_places(fd, ROUNDS);
	copy = dup(fd);
	one_after_the_other(copy);
	one_after_the_other(fd);
	at_places(copy, ROUNDS);
	for (int i = 0; i < 20; i++) {
		dup2(other, fd);
		at_places(fd, 20);
		one_after_the_other(fd);
		dup2(copy, fd);
		at_places(fd, 20);
		lseek(fd, i * 1000, SEEK_SET);
		add(read(copy, buf, PIECE));
		close(fd);
		fd = open_it(O_RDONLY);
		at_places(fd, 20);
	}
}

static void write_there(int flags, off_t at)
{
	int fd = open_it(O_WRONLY | flags);

	memset(buf, 'w', 5000);
	printf("%zd\n", pwrite(fd, buf, 5000, at));
	close(fd);
}

/* What it does itself would wait for the lease, or fail. */
static void changes(void)
{
	int fd = open_it(O_RDONLY);

	at_places(fd, ROUNDS);
	write_there(0, 100000);
	at_places(fd, ROUNDS);
	write_there(O_NONBLOCK, 300000);
	at_places(fd, ROUNDS);
	printf("%d\n", truncate(path, 500000));
	at_places(fd, ROUNDS);
	int cut = open_it(O_RDONLY | O_TRUNC);
	printf("%zd\n", pread(fd, buf, PIECE, 0));
	close(cut);
	write_there(0, 900000);
	at_places(fd, ROUNDS);
	write_there(O_TRUNC, 900000);
	at_places(fd, ROUNDS);
	int both = open_it(O_RDWR);
	for (int i = 0; i < ROUNDS; i++) {
		add(pread(fd, buf, PIECE, 0));
		pwrite(both, &i, sizeof(i), i * 10);
	}
	close(both);
	at_places(fd, ROUNDS);
	printf("%d\n", fcntl(fd, F_SETLEASE, F_RDLCK));
	printf("%d\n", fcntl(fd, F_SETLEASE, F_UNLCK));
	at_places(fd, ROUNDS);
	int now = open("another", O_CREAT | O_WRONLY | O_TRUNC, 0600);
	printf("%zd\n", write(now, buf, 100));
	close(now);
	printf("%d\n", rename("another", path));
	at_places(fd, ROUNDS);
	printf("%d\n", unlink(path));
	one_after_the_other(fd);
}

/* A child has the position in common with it. */
static void children(void)
{
	int fd = open_it(O_RDONLY), status;

	one_after_the_other(fd);
	pid_t child = fork();
	if (!child) {
		for (int i = 0;; i++) {
			lseek(fd, i % 1000 * 997, SEEK_SET);
			lseek(fd, i % 100000, SEEK_CUR);
		}
	}
	for (int i = 0; i < 20000;) {
		const ssize_t n = read(fd, buf, 20000);

		add(n);
		i += n > 0;
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	one_after_the_other(fd);
	child = fork();
	if (!child) {
		write_there(0, 50000);
		_exit(0);
	}
	at_places(fd, 3 * ROUNDS);
	waitpid(child, &status, 0);
	at_places(fd, ROUNDS);
}

/* A child that shares the memory opens the file for writing before it calls execve. */
static void spawned(void)
{
	int fd = open_it(O_RDONLY), status;
	posix_spawn_file_actions_t actions;
	char *args[] = {"echo", "hi", NULL};
	pid_t child;

	at_places(fd, ROUNDS);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, path, O_WRONLY | O_APPEND, 0);
	const time_t begun = time(NULL);
	printf("%d\n", posix_spawnp(&child, "echo", &actions, NULL, args, NULL));
	waitpid(child, &status, 0);
	printf("%d %s\n", status, time(NULL) - begun < 20 ? "soon" : "late");
	at_places(fd, ROUNDS);
}

/* A child that shares the descriptors, made before all else, gives a number to another file. */
static int go[2], done[2];

static int exchange(void *other)
{
	char c;

	if (read(go[0], &c, 1) == 1)
		dup2(open(other, O_RDONLY), 9);
	return write(done[1], "x", 1) != 1;
}

static void shared(void)
{
	static unsigned char stack[PIECE];
	char c;

	pipe(go), pipe(done);
	int child = clone(exchange, stack + sizeof(stack), CLONE_FILES | SIGCHLD, "/proc/self/exe");
	dup2(open_it(O_RDONLY), 9);
	at_places(9, ROUNDS);
	printf("%zd\n", write(go[1], "x", 1));
	printf("%zd\n", read(done[0], &c, 1));
	at_places(9, ROUNDS);
	waitpid(child, NULL, 0);
}

/* Into several places, some of which are empty. */
static void vectors(void)
{
	int fd = open_it(O_RDONLY);

	for (int i = 0; i < ROUNDS; i++) {
		const size_t a = (size_t)i * 7919 % 30000, b = 10000 + (size_t)i * 104729 % 200000;
		struct iovec io[4] = {
		    {buf, a}, {buf + a, 0}, {buf + a, b}, {buf + a + b, i % 7 ? 5000 : 1500000}};

		add(preadv(fd, io, 4, (off_t)i * 104729 % 2000000));
		add(preadv2(fd, io, 4, (off_t)i * 7919 % 2000000, 0));
		if (i % 5 == 0)
			lseek(fd, i * 4567, SEEK_SET);
		add(i % 2 ? readv(fd, io, 3) : preadv2(fd, io, 3, -1, 0));
	}
	printf("%zd", preadv(fd, (void *)8, 2, 0));
	printf(" %zd", preadv2(fd, &(struct iovec){buf, PIECE}, 1, 0, 0x7fffffff));
	printf(" %zd\n", preadv2(fd, &(struct iovec){buf, PIECE}, 1, -2, 0));
}

/* Into as much as there is at once. */
static void at_once(void)
{
	int fd = open_it(O_RDONLY);

	for (int i = 0; i < ROUNDS / 4; i++) {
		add(pread(fd, buf, 300000, i * 5000));
		add(pread(fd, buf, sizeof(buf), i * 12345));
		lseek(fd, i * 1000, SEEK_SET);
		add(read(fd, buf, 1 << 20));
		add(read(fd, buf, sizeof(buf)));
	}
	/* there is nothing, and more than there is room in the program */
	printf("%zd", pread(fd, buf, sizeof(buf), 1LL << 40));
	printf(" %zd\n", pread(fd, buf + sizeof(buf) - 4096, 1 << 20, 0));
}

/* The same parts again and again; one becomes longer. */
static void again(void)
{
	int fd = open_it(O_RDONLY);

	for (int i = 0; i < 3; i++)
		one_after_the_other(fd);
	for (int i = 0; i < 20 * ROUNDS; i++)
		add(pread(fd, buf, PIECE - 4096 + i / 1000 * 8, 400000 + i % 4 * 100000));
	at_places(fd, ROUNDS);
}

/* What somebody else has opened, who may move the position. A child does so: now and then it is as if
 * nobody else had. */
static void input(void)
{
	cpu_set_t all;
	int status;

	for (int i = 0; i < 3; i++)
		one_after_the_other(0);
	for (int i = 0; i < ROUNDS; i++) {
		struct iovec io[2] = {{buf, 20000}, {buf + 20000, (size_t)i * 777}};

		lseek(0, i * 4321, SEEK_SET);
		add(i % 2 ? readv(0, io, 2) : read(0, buf, i % 8 ? 50000 : 600000));
	}
	pid_t child = fork();
	if (!child) {
		memset(&all, 0xff, sizeof(all));
		sched_setaffinity(0, sizeof(all), &all);
		for (;;) {
			lseek(0, 0, SEEK_SET);
			lseek(0, 500000, SEEK_SET);
			lseek(0, 20000, SEEK_SET);
		}
	}
	for (int i = 0; i < 1000 * ROUNDS; i++)
		add(read(0, buf, 20000));
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	lseek(0, 0, SEEK_SET);
	one_after_the_other(0);
}

/* Always further on, until there is something. Before most of it, it waits for the file "go". */
static void ahead(void)
{
	int fd = open_it(O_RDONLY);
	struct stat st;

	fstat(fd, &st);
	at_places(fd, ROUNDS);
	close(open("ready", O_CREAT | O_WRONLY, 0600));
	while (access("go", F_OK) != 0)
		usleep(10000);
	for (off_t at = 0; at < st.st_size; at += PIECE)
		if (pread(fd, buf, PIECE, at) > 0 && buf[0]) {
			printf("something\n");
			return;
		}
	printf("nothing\n");
}

/* The vector lies where the read puts its bytes. Its pieces overlap, so what is in memory is not what is in
 * the file. */
static void inside(void)
{
	enum { AT = 100000, SENT = 20000 };
	int pair[2];

	for (int i = 0; i < ROUNDS / 4; i++) {
		struct iovec *io = (void *)(buf + AT);

		memset(buf, 0, sizeof(buf));
		io[0] = (struct iovec){buf, 4 * AT};
		io[1] = (struct iovec){buf + 2 * AT, i % 3 ? 3 * AT : AT / 2};
		lseek(0, i * 777, SEEK_SET);
		printf("%zd\n", i % 2 ? readv(0, io, 2) : preadv(0, io, 2, i * 777));
		add(5 * AT);
	}
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	for (int i = 0; i < 3; i++) {
		struct iovec *io = (void *)(buf + SENT / 2);
		struct msghdr m = {.msg_iov = io, .msg_iovlen = 1};

		lseek(0, i * 777, SEEK_SET);
		add(read(0, buf, SENT));
		printf("%zd\n", write(pair[0], buf, SENT));
		*io = (struct iovec){buf, SENT};
		add(recvmsg(pair[1], &m, 0));
	}
}

static void name_of(char *name, size_t len, int i)
{
	snprintf(name, len, "mapped-%d", i);
}

static void wait_for_position(off_t at)
{
	while (lseek(0, 0, SEEK_CUR) != at)
		;
}

/* Also where the parent does not run. */
static void run_anywhere(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
}

/* Of the bytes that come before those at TO. The vector lies among them. */
static ssize_t read_scattered(void *to, size_t len)
{
	struct iovec *io = (void *)(buf + 1000);

	io[0] = (struct iovec){buf, PIECE};
	io[1] = (struct iovec){to, len - PIECE};
	const ssize_t n = readv(0, io, 2);
	add(PIECE);
	return n;
}

/* Memory that it has read into goes away behind the read: a child, who sees the position, cuts the file
 * that is mapped there. The position says how often the read has been made. */
static void gone(int scattered)
{
	enum { TIMES = 40 };
	const off_t len = lseek(0, 0, SEEK_END);
	int wrong = 0, status;
	char name[32];

	lseek(0, 0, SEEK_SET);
	pid_t child = fork();
	if (!child)
		run_anywhere();
	for (int i = 0; !child; i++) {
		name_of(name, sizeof(name), i);
		wait_for_position(0);
		wait_for_position(len);
		truncate(name, 0);
	}
	at_places(0, ROUNDS);
	sum = 0;
	for (int i = 0; i < TIMES; i++) {
		lseek(0, 0, SEEK_SET);
		usleep(1000);
		name_of(name, sizeof(name), i);
		int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
		ftruncate(fd, len);
		void *to = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
		close(fd);
		const ssize_t n = scattered ? read_scattered(to, len) : read(0, to, len);
		wrong += lseek(0, 0, SEEK_CUR) != (n < 0 ? 0 : n);
		munmap(to, len);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	printf("%d\n", wrong);
}

/* Others change it meanwhile. */
static void outside(int rounds)
{
	int fd = open_it(O_RDONLY);

	for (int i = 0; i < rounds; i++)
		add(pread(fd, buf, PIECE, (off_t)(i % 16) * PIECE));
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[2] : "";

	if (argc < 2)
		return 2;
	path = argv[1];
	setvbuf(stdout, NULL, _IONBF, 0);
	if (!strcmp(way, "plain"))
		plain();
	else if (!strcmp(way, "numbers"))
		numbers();
	else if (!strcmp(way, "changes"))
		changes();
	else if (!strcmp(way, "spawned"))
		spawned();
	else if (!strcmp(way, "shared"))
		shared();
	else if (!strcmp(way, "vectors"))
		vectors();
	else if (!strcmp(way, "at-once"))
		at_once();
	else if (!strcmp(way, "again"))
		again();
	else if (!strcmp(way, "input"))
		input();
	else if (!strcmp(way, "ahead"))
		ahead();
	else if (!strcmp(way, "children"))
		children();
	else if (!strcmp(way, "inside"))
		inside();
	else if (!strcmp(way, "gone"))
		gone(0);
	else if (!strcmp(way, "gone-vector"))
		gone(1);
	else
		outside(atoi(way));
	printf("%016llx\n", (unsigned long long)sum);
	return 0;
}
