/* Bytes that the kernel moves between processes: splice, tee and vmsplice through pipes, sendfile to a socket,
 * copy_file_range, process_vm_readv and writev; a memfd as a file. */
#include "check.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { LEN = 200000 };

static char data[LEN];
static int in[2], out[2], sock[2];

/* From one pipe to the next, and half of it twice. */
static int splices(void *arg)
{
	int copy[2];
	ssize_t n, all = 0;
	char b[4096];

	close(in[1]);
	close(out[0]);
	CHECK(pipe(copy) == 0);
	while ((n = tee(in[0], copy[1], 4096, 0)) > 0) {
		for (ssize_t done = 0, some; done < n; done += some)
			CHECK((some = splice(in[0], NULL, out[1], NULL, (size_t)(n - done), SPLICE_F_MOVE)) > 0);
		CHECK(read(copy[0], b, sizeof(b)) == n && !memcmp(b, data + all, (size_t)n));
		all += n;
	}
	return n == 0 && all == LEN ? 121 : 1;
}

static int collects(void *arg)
{
	char b[5000];
	ssize_t n, all = 0;

	close(out[1]);
	close(in[0]);
	close(in[1]);
	while ((n = read(out[0], b, sizeof(b))) > 0) {
		CHECK(!memcmp(b, data + all, (size_t)n));
		all += n;
	}
	return all == LEN ? 122 : 1;
}

static void pipes(void)
{
	size_t at = 0;

	CHECK(pipe(in) == 0 && pipe(out) == 0);
	pid_t first = child(splices, NULL), second = child(collects, NULL);
	close(in[0]);
	close(out[0]);
	close(out[1]);
	while (at < LEN) {
		struct iovec v = {data + at, LEN - at};
		ssize_t n = vmsplice(in[1], &v, 1, 0);
		CHECK(n > 0);
		at += (size_t)n;
	}
	close(in[1]);
	ends_with(first, 121);
	ends_with(second, 122);
}

static int receives(void *arg)
{
	char b[3000];
	ssize_t n, all = 0;

	close(sock[0]);
	while ((n = recv(sock[1], b, sizeof(b), 0)) > 0) {
		CHECK(!memcmp(b, data + all, (size_t)n));
		all += n;
	}
	return all == LEN ? 123 : 1;
}

static void files(void)
{
	int fd = memfd_create("from", 0), to = memfd_create("to", 0);
	off_t at = 0;
	loff_t from = 100, where = 7;
	char b[64];

	CHECK(write(fd, data, LEN) == LEN && socketpair(AF_UNIX, SOCK_STREAM, 0, sock) == 0);
	pid_t pid = child(receives, NULL);
	close(sock[1]);
	while (at < LEN)
		CHECK(sendfile(sock[0], fd, &at, LEN - (size_t)at) > 0);
	close(sock[0]);
	ends_with(pid, 123);
	CHECK(copy_file_range(fd, &from, to, &where, 50, 0) == 50 && from == 150 && where == 57);
	CHECK(pread(to, b, 57, 0) == 57 && !memcmp(b + 7, data + 100, 50) && b[0] == 0);
}

static int sleeps(void *arg)
{
	char b;

	CHECK(read(in[0], &b, 1) == 1);
	return memcmp(data, "written from outside", 20) == 0 ? 124 : 1;
}

static void memory(void)
{
	char b[1000];
	struct iovec mine = {b, sizeof(b)}, its = {data + 500, sizeof(b)};

	CHECK(pipe(in) == 0);
	pid_t pid = child(sleeps, NULL);
	CHECK(process_vm_readv(pid, &mine, 1, &its, 1, 0) == sizeof(b) && !memcmp(b, data + 500, sizeof(b)));
	CHECK(write(in[1], "x", 1) == 1);
	/* too late for that */
	memcpy(data, "written from outside", 20);
	int status = status_of(pid);
	CHECK(WIFEXITED(status));
	CHECK(kill(pid, 0) == -1 && errno == ESRCH);
}

int main(void)
{
	for (int i = 0; i < LEN; i++)
		data[i] = (char)(i * 13 + i / 251);
	pipes();
	files();
	memory();
	DONE();
}
