/* A pipeline of three: more data than the pipes hold, so that all wait for each other; the end of data goes through; then
 * one whose reader has gone, and one that does not wait. */
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>

enum { LEN = 300000 };

static int stage[3][2];

static int makes(void *arg)
{
	static unsigned char b[4321];
	unsigned n = 0;

	close(stage[1][1]);
	while (n < LEN) {
		size_t len = LEN - n < sizeof(b) ? LEN - n : sizeof(b);
		for (size_t i = 0; i < len; i++)
			b[i] = (unsigned char)((n + i) * 7);
		CHECK(write(stage[0][1], b, len) == (ssize_t)len);
		n += (unsigned)len;
	}
	return 21;
}

static int turns(void *arg)
{
	static unsigned char b[1000];
	ssize_t n;

	close(stage[0][1]);
	while ((n = read(stage[0][0], b, sizeof(b))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			b[i] = (unsigned char)~b[i];
		CHECK(write(stage[1][1], b, (size_t)n) == n);
	}
	return n == 0 ? 22 : 1;
}

static int into_nothing(void *arg)
{
	close(stage[2][0]);
	if (arg) {
		signal(SIGPIPE, SIG_IGN);
		CHECK(write(stage[2][1], "x", 1) == -1 && errno == EPIPE);
		return 23;
	}
	CHECK(write(stage[2][1], "x", 1) == 0);
	return 1;
}

int main(void)
{
	static unsigned char b[7000];
	unsigned at = 0;
	ssize_t n;

	CHECK(pipe(stage[0]) == 0 && pipe2(stage[1], O_CLOEXEC) == 0 && pipe(stage[2]) == 0);
	CHECK(fcntl(stage[1][1], F_SETPIPE_SZ, 8192) == 8192);
	pid_t first = child(makes, NULL), second = child(turns, NULL);
	close(stage[0][1]);
	close(stage[1][1]);
	while ((n = read(stage[1][0], b, sizeof(b))) > 0)
		for (ssize_t i = 0; i < n; i++, at++)
			CHECK(b[i] == (unsigned char)~(at * 7));
	CHECK(n == 0 && at == LEN);
	ends_with(first, 21);
	ends_with(second, 22);

	close(stage[2][0]);
	CHECK(WTERMSIG(status_of(child(into_nothing, NULL))) == SIGPIPE);
	ends_with(child(into_nothing, b), 23);

	int fds[2], waiting = 0;
	CHECK(pipe2(fds, O_NONBLOCK) == 0 && read(fds[0], b, 1) == -1 && errno == EAGAIN);
	while (write(fds[1], b, sizeof(b)) > 0)
		;
	CHECK(errno == EAGAIN && ioctl(fds[0], FIONREAD, &waiting) == 0 && waiting > 8000);
	struct pollfd p = {fds[1], POLLOUT, 0};
	CHECK(poll(&p, 1, 0) == 0);
	DONE();
}
