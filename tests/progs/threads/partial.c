/* Calls that wait in the middle of their output while another thread computes: a read half of which is on the disk
 * only, recv() with MSG_WAITALL, recvmmsg(). */
#include "check.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 1 << 20, PIECE = 1000, PIECES = 8 };

static int pair[2];
static volatile int reading;
static unsigned long work;

static void compute(int n)
{
	for (int i = 0; i < n; i++)
		work += i % 7 == 3 ? (unsigned long)i : 1;
}

static char *fresh(void)
{
	char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	for (int i = 0; i < SIZE; i += 4096)
		p[i] = (char)(i >> 12);
	return p;
}

static int make_file(void)
{
	char path[] = "/var/tmp/lizard-partial-XXXXXX", *p = fresh();
	int fd = mkstemp(path);

	CHECK(fd >= 0 && unlink(path) == 0);
	memset(p, 'f', SIZE);
	CHECK(write(fd, p, SIZE) == SIZE && fsync(fd) == 0);
	munmap(p, SIZE);
	return fd;
}

static void *read_halves(void *arg)
{
	int fd = *(int *)arg;

	for (int i = 0; i < 20; i++) {
		char *p = fresh();

		posix_fadvise(fd, SIZE / 2, 0, POSIX_FADV_DONTNEED);
		CHECK(pread(fd, p, SIZE, 0) == SIZE);
		for (int k = 0; k < SIZE; k += 512)
			CHECK(p[k] == 'f');
		munmap(p, SIZE);
	}
	reading = 0;
	return NULL;
}

static void *receive_all(void *arg)
{
	static char buf[PIECE * PIECES];

	(void)arg;
	CHECK(recv(pair[0], buf, sizeof(buf), MSG_WAITALL) == (ssize_t)sizeof(buf));
	for (int i = 0; i < PIECE * PIECES; i++)
		CHECK(buf[i] == 'a' + i / PIECE);
	return NULL;
}

static void *receive_many(void *arg)
{
	static char buf[PIECES][PIECE];
	struct iovec iov[PIECES];
	struct mmsghdr msg[PIECES] = {0};

	(void)arg;
	for (int i = 0; i < PIECES; i++) {
		iov[i] = (struct iovec){buf[i], PIECE};
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	CHECK(recvmmsg(pair[0], msg, PIECES, 0, NULL) == PIECES);
	for (int i = 0; i < PIECES; i++)
		CHECK(msg[i].msg_len == PIECE && buf[i][PIECE - 1] == 'a' + i);
	return NULL;
}

static void send_pieces(int type, void *(*receiver)(void *))
{
	char buf[PIECE];

	CHECK(socketpair(AF_UNIX, type, 0, pair) == 0);
	pthread_t th = start(receiver, NULL);
	for (int i = 0; i < PIECES; i++) {
		memset(buf, 'a' + i, sizeof(buf));
		CHECK(send(pair[1], buf, sizeof(buf), 0) == (ssize_t)sizeof(buf));
		usleep(1000);
		compute(20000);
	}
	join(th);
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	int fd = make_file();

	reading = 1;
	pthread_t th = start(read_halves, &fd);
	while (reading)
		compute(1000);
	join(th);
	send_pieces(SOCK_STREAM, receive_all);
	send_pieces(SOCK_DGRAM, receive_many);
	DONE();
}
