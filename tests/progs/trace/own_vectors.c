/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls whose vectors and headers lie where they write, or are changed while they wait. Each prints a
 * sum of all memory that it may have changed. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { ROUNDS = 60, SIZE = 1 << 16, NR_GETXATTRAT = 464 };

static unsigned char *arena;
static unsigned char sent[4096];

static void die(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static void fill(int round)
{
	for (int i = 0; i < SIZE; i++)
		arena[i] = (unsigned char)(i * 3 + round);
	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (unsigned char)(i * 5 + round * 7 + 1);
}

static void tell(const char *name, int round, long result)
{
	uint32_t sum = 0;

	for (int i = 0; i < SIZE; i++)
		sum = sum * 31 + arena[i];
	if (round % 20 == 19)
		printf("%s %d: %ld %08x\n", name, round, result, sum);
	else
		printf("%ld %x\n", result, sum);
	fflush(stdout);
}

static struct iovec *vector_at(size_t at)
{
	struct iovec *io = (struct iovec *)(arena + at);

	io[0] = (struct iovec){arena, 512};
	io[1] = (struct iovec){arena + 8192, 256};
	io[2] = (struct iovec){arena + 3000, 100};
	return io;
}

/* ---- bytes ---- */

/* By one that has spliced, nothing can be tried without waiting. */
static void by_pipe(int round)
{
	static int p[2], spliced[2];

	if (!round && (pipe(p) || pipe(spliced)))
		die("pipe");
	if (write(p[1], sent, 800) != 800 || write(spliced[1], sent, 800) != 800)
		die("write");
	fill(round);
	tell("readv", round, readv(p[0], vector_at(64), 3));
	fill(round);
	tell("vmsplice", round, vmsplice(spliced[0], vector_at(64), 3, 0));
}

static void by_file(int round)
{
	static int fd = -1;

	fill(round);
	if (fd < 0 && ((fd = memfd_create("file", 0)) < 0))
		die("memfd_create");
	if (pwrite(fd, sent, sizeof(sent), 0) != sizeof(sent))
		die("pwrite");
	fill(round);
	tell("preadv", round, preadv(fd, vector_at(64), 3, 100));
	fill(round);
	tell("preadv2", round, preadv2(fd, vector_at(64), 3, 200, 0));
}

static void of_process(int round)
{
	struct iovec there = {sent, 800};

	fill(round);
	tell("process_vm_readv", round, process_vm_readv(getpid(), vector_at(64), 3, &there, 1, 0));
	fill(round);
	tell("process_vm_writev", round,
	     process_vm_writev(getpid(), &there, 1, vector_at(64), 3, 0));
}

/* ---- messages ---- */

static int pair[2];

static void named_pair(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int got, set = 1;

	got = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "lizard-vectors-%d", getpid());
	const socklen_t len = (socklen_t)(sizeof(sa_family_t) + 1 + (size_t)got);
	pair[0] = socket(AF_UNIX, SOCK_DGRAM, 0);
	pair[1] = socket(AF_UNIX, SOCK_DGRAM, 0);
	if (bind(pair[0], (struct sockaddr *)&a, len) ||
	    connect(pair[1], (struct sockaddr *)&a, len))
		die("connect");
	a.sun_path[got++] = 'x';
	if (bind(pair[1], (struct sockaddr *)&a, len))
		die("bind");
	if (setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &set, sizeof(set)))
		die("setsockopt");
}

static void send_one(const void *bytes, size_t n)
{
	if (send(pair[1], bytes, n, 0) != (ssize_t)n)
		die("send");
}

/* The header, vector, name and control data are where they are said to be. */
static void message(const char *name, int round, size_t header, size_t vector, size_t address,
                    size_t control)
{
	struct msghdr *m = (struct msghdr *)(arena + header);

	fill(round);
	send_one(sent, 800);
	*m = (struct msghdr){.msg_name = arena + address,
	                     .msg_namelen = 110,
	                     .msg_iov = vector_at(vector),
	                     .msg_iovlen = 3,
	                     .msg_control = arena + control,
	                     .msg_controllen = 200};
	tell(name, round, recvmsg(pair[0], m, 0));
}

static void by_message(int round)
{
	message("recvmsg, plain", round, 20000, 21000, 22000, 23000);
	message("recvmsg, header", round, 8, 21000, 22000, 23000);
	message("recvmsg, vector", round, 20000, 64, 22000, 23000);
	message("recvmsg, all", round, 8, 128, 8192, 8300);
	message("recvmsg, header in address", round, 20000, 21000, 20000, 23000);
	message("recvmsg, header in control", round, 20000, 21000, 22000, 19992);
	message("recvmsg, vector in address", round, 20000, 21000, 20960, 23000);
}

/* The error of a message that is not told of yet. */
static void clear_error(void)
{
	socklen_t len = sizeof(int);
	int error;

	getsockopt(pair[0], SOL_SOCKET, SO_ERROR, &error, &len);
}

/* They end with an error when a part has been stored. A good one before lets them be tried without a stop. */
static void bad_message(int round)
{
	struct msghdr *m = (struct msghdr *)(arena + 8);
	struct mmsghdr *several = (struct mmsghdr *)(arena + 20000);

	message("recvmsg, plain", round, 20000, 21000, 22000, 23000);
	fill(round);
	send_one(sent, 800);
	*m = (struct msghdr){.msg_iov = vector_at(128), .msg_iovlen = 3};
	m->msg_iov[1].iov_base = (void *)16;
	tell("recvmsg, bad", round, recvmsg(pair[0], m, 0));

	fill(round);
	send_one(sent, 100);
	send_one(sent + 100, 800);
	for (int i = 0; i < 2; i++)
		several[i] =
		    (struct mmsghdr){{.msg_iov = vector_at(128 + i * 128), .msg_iovlen = 3}, 0};
	several[1].msg_hdr.msg_iov[2].iov_base = (void *)16;
	tell("recvmmsg, bad", round, recvmmsg(pair[0], several, 2, MSG_DONTWAIT, NULL));
	clear_error();
}

/* 400 bytes of the message go to the arena, the rest over AT. */
static struct msghdr storing_over(struct iovec *io, void *at, const void *bytes, size_t n)
{
	io[0] = (struct iovec){arena, 400};
	io[1] = (struct iovec){at, n};
	memcpy(sent + 400, bytes, n);
	send_one(sent, 400 + n);
	return (struct msghdr){
	    .msg_name = arena + 30000, .msg_namelen = 4, .msg_iov = io, .msg_iovlen = 2};
}

/* The message says how much room there is for its sender's name. */
static void lengths(int round)
{
	struct mmsghdr *m = (struct mmsghdr *)(arena + 20000);
	struct iovec *io = (struct iovec *)(arena + 21000);
	struct msghdr *h = &m->msg_hdr;
	const int room = 110, none = -5;
	const size_t nothing = 0;

	message("recvmsg, plain", round, 20000, 21000, 22000, 23000);
	fill(round);
	*h = storing_over(io, &h->msg_namelen, &room, sizeof(room));
	tell("recvmsg, name", round, recvmsg(pair[0], h, 0));
	fill(round);
	*h = storing_over(io, &h->msg_controllen, &nothing, sizeof(nothing));
	h->msg_name = (void *)16;
	h->msg_control = arena + 40000;
	h->msg_controllen = 100;
	tell("recvmsg, bad name", round, recvmsg(pair[0], h, 0));
	fill(round);
	m[1] = (struct mmsghdr){0};
	*h = storing_over(io, &h->msg_namelen, &room, sizeof(room));
	tell("recvmmsg, name", round, recvmmsg(pair[0], m, 2, MSG_DONTWAIT, NULL));
	fill(round);
	m[1] = (struct mmsghdr){0};
	*h = storing_over(io, &h->msg_namelen, &none, sizeof(none));
	tell("recvmmsg, no length", round, recvmmsg(pair[0], m, 2, MSG_DONTWAIT, NULL));
}

/* The second message fails when it has been stored. */
static void bad_second(int round)
{
	struct mmsghdr *m = (struct mmsghdr *)(arena + 20000);
	struct iovec *io = (struct iovec *)(arena + 21000);

	fill(round);
	for (int i = 0; i < 2; i++) {
		io[i] = (struct iovec){arena + i * 1000, 400};
		m[i] = (struct mmsghdr){{.msg_iov = &io[i], .msg_iovlen = 1}, 0};
		send_one(sent + i, 300);
	}
	m[1].msg_hdr.msg_name = (void *)16;
	m[1].msg_hdr.msg_namelen = 110;
	tell("recvmmsg, bad second", round, recvmmsg(pair[0], m, 2, MSG_DONTWAIT, NULL));
	clear_error();
}

static void messages(int round)
{
	struct mmsghdr *m = (struct mmsghdr *)(arena + 8192);
	struct iovec *io = (struct iovec *)(arena + 10000), other[2];

	/* the second one has the headers of both, the vector of the third is in the first */
	fill(round);
	memcpy(arena, sent, 600);
	io[0] = (struct iovec){arena + 10000, 200};
	io[1] = (struct iovec){arena + 8192, 200};
	io[2] = (struct iovec){arena + 30000, 300};
	for (int i = 0; i < 3; i++)
		m[i] = (struct mmsghdr){{.msg_iov = &io[i], .msg_iovlen = 1}, 0};
	other[0] = (struct iovec){arena + 8192, 130};
	other[1] = (struct iovec){arena + 40000, 100};
	memcpy(sent, &io[0], sizeof(*io));
	memcpy(sent + sizeof(*io), other, sizeof(other));
	send_one(sent, 100);
	send_one(sent + 100, 120);
	send_one(sent + 300, 90);
	tell("recvmmsg", round, recvmmsg(pair[0], m, 3, MSG_DONTWAIT, NULL));

	fill(round);
	for (int i = 0; i < 3; i++) {
		io[i] = (struct iovec){arena + 8192 - (i == 2 ? 20 : 1000), 600};
		m[i] = (struct mmsghdr){{.msg_iov = &io[i], .msg_iovlen = 1}, 0};
		send_one(sent + i, 400);
	}
	tell("recvmmsg, all", round, recvmmsg(pair[0], m, 3, MSG_DONTWAIT, NULL));
}

/* ---- addresses ---- */

static void addresses(int round)
{
	socklen_t *len = (socklen_t *)(arena + 8);

	fill(round);
	*len = 110;
	tell("getsockname", round, getsockname(pair[0], (struct sockaddr *)arena, len));
	fill(round);
	send_one(sent, 500);
	*len = 110;
	tell("recvfrom", round,
	     recvfrom(pair[0], arena + 3000, 600, 0, (struct sockaddr *)arena, len));
	fill(round);
	send_one(sent, 500);
	*len = 110;
	tell("recvfrom, all", round,
	     recvfrom(pair[0], arena, 600, 0, (struct sockaddr *)arena, len));
	fill(round);
	*len = 100;
	tell("getsockopt", round, getsockopt(pair[0], SOL_SOCKET, SO_PEERSEC, arena, len));
	*len = 12;
	tell("getsockopt", round, getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, arena, len));
}

/* There is less room than the address has, and then no memory. */
static unsigned char *nothing_behind(void)
{
	unsigned char *p =
	    mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + 4096, 4096);
	return p + 4096;
}

static void short_address(int round)
{
	static unsigned char *end;
	struct msghdr m = {.msg_iov = &(struct iovec){arena + 3000, 600}, .msg_iovlen = 1};
	socklen_t len = 8;

	if (!end)
		end = nothing_behind();
	fill(round);
	send_one(sent, 500);
	tell("recvfrom, short", round,
	     recvfrom(pair[0], arena + 3000, 600, 0, (struct sockaddr *)(end - 8), &len));
	memcpy(arena, end - 8, 8);
	send_one(sent, 400);
	m.msg_name = end - 10;
	m.msg_namelen = 10;
	tell("recvmsg, short", round, recvmsg(pair[0], &m, 0));
	memcpy(arena, end - 10, 10);
	tell("recvmsg, name", round, (long)m.msg_namelen + (long)len);
}

/* The message says that there is room for four bytes of the address, and the kernel then stores how long it is. Behind the
 * four there is nothing: who reads the address in that length meets this when the message is there no more. */
static void late_fault(int round)
{
	static unsigned char *end;
	socklen_t *len = (socklen_t *)(arena + 3100);
	struct msghdr *m = (struct msghdr *)(arena + 8192);
	struct iovec io[3] = {{arena + 3000, 100}, {&m->msg_namelen, 4}, {arena + 4096, 600}};

	if (!end)
		end = nothing_behind();
	fill(round);
	memcpy(sent + 100, &(socklen_t){4}, 4);
	for (size_t n = 300; n < 700; n += 100)
		send_one(sent, n);
	for (int i = 0; i < 2; i++) {
		*len = 4;
		tell("recvfrom, late", round,
		     recvfrom(pair[0], arena + 3000, 600, 0, (struct sockaddr *)(end - 4), len));
	}
	for (int i = 0; i < 2; i++) {
		*m = (struct msghdr){.msg_name = end - 4, .msg_namelen = 4, .msg_iov = io, .msg_iovlen = 3};
		tell("recvmsg, late", round, recvmsg(pair[0], m, 0));
		m->msg_iov = NULL; /* as the stack may be elsewhere */
	}
}

/* ---- others ---- */

struct pages {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, mask[4];
};

static void requests(int round)
{
	static int map = -1;
	struct ifconf *c = (struct ifconf *)(arena + 40);
	struct pages *p = (struct pages *)(arena + 40);
	struct ifreq *r = (struct ifreq *)(arena + 40);
	uint32_t *what = (uint32_t *)(arena + 20);

	fill(round);
	*c = (struct ifconf){.ifc_len = 400, .ifc_buf = (char *)arena};
	tell("SIOCGIFCONF", round, ioctl(pair[0], SIOCGIFCONF, c));
	fill(round);
	if (map < 0)
		map = open("/proc/self/pagemap", O_RDONLY);
	*p = (struct pages){.size = sizeof(*p),
	                    .start = (uintptr_t)arena,
	                    .end = (uintptr_t)arena + SIZE,
	                    .vec = (uintptr_t)arena + 64,
	                    .vec_len = 3,
	                    .mask = {0, 0, 1 << 2 | 1 << 3, 1 << 2 | 1 << 3}};
	tell("PAGEMAP_SCAN", round, ioctl(map, 0xc0606610, p));
	fill(round);
	memset(r, 0, sizeof(*r));
	strcpy(r->ifr_name, "lo");
	r->ifr_data = (char *)what;
	*what = ETHTOOL_GDRVINFO;
	tell("SIOCETHTOOL", round, ioctl(pair[0], SIOCETHTOOL, r));
}

/* A tracer knows such a result as that of a call to be made again. */
static void numbers(int round)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/proc/self/mem", O_RDONLY);
	for (int i = 1; i < 4; i++)
		tell("lseek", round, syscall(SYS_lseek, fd, i % 2 ? -512L : 4096, SEEK_SET));
}

static void attributes(int round)
{
	static int fd = -1;
	struct {
		uint64_t value;
		uint32_t size, flags;
	} *x = (void *)(arena + 16);

	if (fd < 0)
		fd = memfd_create("attributes", 0);
	fill(round);
	fsetxattr(fd, "user.x", sent, 200, 0);
	x->value = (uintptr_t)arena;
	x->size = 300;
	x->flags = 0;
	tell("getxattrat", round, syscall(NR_GETXATTRAT, fd, "", AT_EMPTY_PATH, "user.x", x, 16));
}

/* ---- while they wait ---- */

static struct mmsghdr both[2];
static struct iovec at[2];

static void *wait_for(void *arg)
{
	long result;

	if (!strcmp(arg, "readv"))
		result = readv(pair[0], at, 2);
	else if (!strcmp(arg, "recvmsg"))
		result = recvmsg(pair[0], &both[0].msg_hdr, 0);
	else
		result = recvmmsg(pair[0], both, 2, 0, NULL);
	return (void *)result;
}

/* What is waited for comes when the vectors have become others. */
static void changed(const char *name, int round)
{
	pthread_t thread;
	void *result;

	fill(round);
	at[0] = (struct iovec){arena, 100};
	at[1] = (struct iovec){arena + 10000, 200};
	both[0] = (struct mmsghdr){
	    {.msg_iov = at, .msg_iovlen = 2, .msg_control = arena + 20000, .msg_controllen = 100},
	    0};
	both[1] = both[0];
	if (pthread_create(&thread, NULL, wait_for, (void *)name))
		die("pthread_create");
	usleep(20000);
	at[0] = (struct iovec){arena + 30000, 50};
	at[1] = (struct iovec){arena + 40000, 200};
	both[0].msg_hdr.msg_iovlen = 1;
	both[0].msg_hdr.msg_control = arena + 21000;
	both[1].msg_hdr.msg_control = arena + 22000;
	send_one(sent, 260);
	if (!strcmp(name, "recvmmsg")) {
		usleep(20000);
		send_one(sent + 300, 240);
	}
	pthread_join(thread, &result);
	tell(name, 19, (long)result);
}

/* There is room for more when the second message comes. */
static void longer(int round)
{
	pthread_t thread;
	void *result;

	fill(round);
	for (int i = 0; i < 2; i++) {
		at[i] = (struct iovec){arena + i * 1000, 400};
		both[i] = (struct mmsghdr){{.msg_iov = &at[i], .msg_iovlen = 1}, 0};
	}
	both[1].msg_hdr.msg_name = arena + 40000;
	both[1].msg_hdr.msg_control = arena + 41000;
	if (pthread_create(&thread, NULL, wait_for, "recvmmsg"))
		die("pthread_create");
	usleep(20000);
	both[1].msg_hdr.msg_namelen = 110;
	both[1].msg_hdr.msg_controllen = 100;
	send_one(sent, 260);
	usleep(20000);
	send_one(sent + 300, 240);
	pthread_join(thread, &result);
	tell("recvmmsg, longer", 19, (long)result);
}

int main(int argc, char **argv)
{
	arena = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *what = argc > 1 ? argv[1] : "";

	named_pair();
	static const struct {
		const char *name;
		void (*run)(int round);
	} all[] = {{"pipe", by_pipe},        {"file", by_file},      {"process", of_process},
	           {"message", by_message},  {"bad", bad_message},   {"messages", messages},
	           {"addresses", addresses}, {"requests", requests}, {"attributes", attributes},
	           {"numbers", numbers},     {"lengths", lengths},   {"second", bad_second},
	           {"short", short_address}, {"late", late_fault}};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (int round = 0; !strcmp(all[i].name, what) && round < ROUNDS; round++)
			all[i].run(round);
	if (!strcmp(what, "waiting"))
		for (int round = 0; round < 3; round++) {
			changed("readv", round);
			changed("recvmsg", round);
			changed("recvmmsg", round);
			longer(round);
		}
	return 0;
}
