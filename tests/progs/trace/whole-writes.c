/* Each kind writes more than there is room for at once, to a child that reads slowly, and ends well if all that was written has
 * come, as a single write where no signal came. */
#include "kinds.h"
#include "caught.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 60, LONG = 100000, PART = 30000 };

static unsigned char bytes[LONG];
static int to, from;
static unsigned char byte_at(size_t at)
{
	return (unsigned char)(at * 7 + at / 251);
}

/* Reads all that comes, slowly. As its exit status: 0 if that is so many bytes, and the right ones. */
static void read_slowly(size_t expected)
{
	static unsigned char b[20000];
	size_t at = 0;
	ssize_t n;

	close(to);
	while ((n = read(from, b, sizeof(b))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			if (b[i] != byte_at((at + (size_t)i) % LONG))
				_exit(2);
		at += (size_t)n;
		usleep(100);
	}
	_exit(at == expected ? 0 : 3);
}

static void begin(size_t expected)
{
	for (size_t i = 0; i < LONG; i++)
		bytes[i] = byte_at(i);
	if (!fork())
		read_slowly(expected);
	close(from);
}

static void end(void)
{
	int status;

	close(to);
	SEE(wait(&status) > 0 && status == 0);
}

static void by_pipe(void)
{
	int p[2];

	SEE(pipe(p) == 0);
	from = p[0], to = p[1];
}

static void by_socket(void)
{
	int p[2];

	SEE(socketpair(AF_UNIX, SOCK_STREAM, 0, p) == 0);
	from = p[0], to = p[1];
}

static void by_tcp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int listening = socket(AF_INET, SOCK_STREAM, 0), little = 20000;
	socklen_t len = sizeof(a);

	SEE(setsockopt(listening, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little)) == 0);
	SEE(bind(listening, (struct sockaddr *)&a, len) == 0 && listen(listening, 1) == 0 &&
	    getsockname(listening, (struct sockaddr *)&a, &len) == 0);
	to = socket(AF_INET, SOCK_STREAM, 0);
	SEE(setsockopt(to, SOL_SOCKET, SO_SNDBUF, &little, sizeof(little)) == 0 &&
	    connect(to, (struct sockaddr *)&a, len) == 0 &&
	    (from = accept(listening, NULL, NULL)) >= 0);
	close(listening);
}

/* All of it by one call, of whichever kind comes next. */
static ssize_t write_once(int round, const unsigned char *at, size_t n)
{
	struct iovec io[2] = {{(void *)at, n / 3}, {(void *)(at + n / 3), n - n / 3}};
	struct msghdr m = {.msg_iov = io, .msg_iovlen = 2};
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);
	const bool socket = getsockname(to, (struct sockaddr *)&name, &len) == 0;

	switch (round % (socket ? 4 : 2)) {
	case 0: return write(to, at, n);
	case 1: return writev(to, io, 2);
	case 2: return send(to, at, n, 0);
	default: return sendmsg(to, &m, MSG_NOSIGNAL);
	}
}

static void whole(void)
{
	begin((size_t)ROUNDS * LONG);
	for (int i = 0; i < ROUNDS; i++)
		SEE(write_once(i, bytes, LONG) == LONG);
	end();
}

static void pipes(void)
{
	by_pipe();
	whole();
}

static void sockets(void)
{
	by_socket();
	whole();
}

static void connections(void)
{
	by_tcp();
	whole();
}

/* A part is the answer when a signal has come, or nothing. */
static void in_parts(int flags)
{
	const struct itimerval often = {{0, 700}, {0, 700}}, never = {{0}};
	int parts = 0, n_interrupted = 0;

	handle(SIGALRM, flags);
	begin((size_t)ROUNDS * LONG);
	SEE(setitimer(ITIMER_REAL, &often, NULL) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		for (size_t done = 0; done < LONG;) {
			const int before = caught;
			ssize_t n = write_once(i, bytes + done, LONG - done);

			SEE(n > 0 || (n < 0 && errno == EINTR && !(flags & SA_RESTART)));
			n_interrupted += n < 0;
			/* the handler has run before the call is over */
			SEE(n == (ssize_t)(LONG - done) || caught > before);
			parts += n > 0 && (size_t)n < LONG - done;
			done += n > 0 ? (size_t)n : 0;
		}
	}
	SEE(setitimer(ITIMER_REAL, &never, NULL) == 0);
	SEE(caught > 5 && parts > 0);
	end();
}

static void interrupted(void)
{
	by_pipe();
	in_parts(0);
}

static void restarted(void)
{
	by_tcp();
	in_parts(SA_RESTART);
}

/* The reader goes when a part has been written. */
static void left(void)
{
	static unsigned char b[PART];
	int status;

	handle(SIGPIPE, 0);
	for (int i = 0; i < ROUNDS; i++) {
		i % 2 ? by_socket() : by_pipe();
		if (!fork()) {
			close(to);
			usleep(1000);
			for (size_t n = 0; n < PART;)
				n += (size_t)read(from, b, PART - n);
			_exit(usleep(500) != 0);
		}
		close(from);
		for (int k = 0; k < 3; k++) {
			const int before = caught;
			const ssize_t n = write(to, bytes, LONG);

			SEE(n >= PART || (n < 0 && errno == EPIPE));
			SEE(n == LONG || caught > before || i % 2);
			if (n < LONG)
				break;
		}
		SEE(wait(&status) > 0 && status == 0);
		const int before = caught;
		SEE(write(to, bytes, LONG) == -1 && (errno == EPIPE || errno == ECONNRESET));
		SEE(caught == before + 1 || i % 2);
		close(to);
	}
	SEE(caught >= ROUNDS / 2);
}

/* A socket whose reader goes while a write waits raises SIGPIPE only if nothing of it was written. */
static void gone(void)
{
	const int little = 10000;
	int status;

	handle(SIGPIPE, 0);
	for (int i = 0; i < 3 * ROUNDS; i++) {
		by_socket();
		setsockopt(to, SOL_SOCKET, SO_SNDBUF, &little, sizeof(little));
		if (!fork()) {
			close(to);
			for (volatile int wait = 0; wait < i * 1500; wait++)
				;
			_exit(i % 2 ? read(from, bytes, PART) < 0 : shutdown(from, SHUT_RD) < 0);
		}
		close(from);
		for (int k = 0; k < 4; k++)
			SEE(write(to, bytes, 1) == 1 || errno == EPIPE);
		const int before = caught;
		const ssize_t n = write(to, bytes, LONG);
		SEE(n < 0 || caught == before);
		close(to);
		SEE(wait(&status) > 0 && status == 0);
	}
}

/* Who reads is another thread of the same process. */
static void *reader(void *arg)
{
	size_t at = 0;

	while (at < (size_t)ROUNDS * LONG) {
		unsigned char b[5000];
		const ssize_t n = read(from, b, sizeof(b));

		SEE(n > 0);
		for (ssize_t i = 0; i < n; i++)
			SEE(b[i] == byte_at((at + (size_t)i) % LONG));
		at += (size_t)n;
	}
	return arg;
}

static void threads(void)
{
	pthread_t thread;

	by_pipe();
	for (size_t i = 0; i < LONG; i++)
		bytes[i] = byte_at(i);
	SEE(pthread_create(&thread, NULL, reader, NULL) == 0);
	for (int i = 0; i < ROUNDS; i++)
		SEE(write_once(i, bytes, LONG) == LONG);
	SEE(pthread_join(thread, NULL) == 0);
}

/* It does not wait for ever. */
static void timed(void)
{
	struct timeval soon = {0, 3000};

	by_tcp();
	begin((size_t)ROUNDS * LONG);
	SEE(setsockopt(to, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon)) == 0);
	for (int i = 0; i < ROUNDS; i++)
		for (size_t done = 0; done < LONG;) {
			ssize_t n = write_once(i, bytes + done, LONG - done);

			SEE(n > 0 || (n < 0 && errno == EAGAIN));
			done += n > 0 ? (size_t)n : 0;
		}
	end();
}

/* There is room for it, which nobody knows before. */
static void fitting(void)
{
	unsigned char b[100];

	by_tcp();
	for (int i = 0; i < 10 * ROUNDS; i++) {
		const unsigned char *at = bytes + i;

		SEE((i % 2 ? write(to, at, sizeof(b)) : send(to, at, sizeof(b), 0)) == sizeof(b));
		SEE(recv(from, b, sizeof(b), MSG_WAITALL) == sizeof(b) &&
		    !memcmp(b, at, sizeof(b)));
	}
}

static void forever(void)
{
	by_pipe();
	begin(0);
	for (;;)
		SEE(write(to, bytes, LONG) == LONG);
}

static void *idle(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* argv[2]: another thread is there, which does nothing. */
int main(int argc, char **argv)
{
	static const struct kind all[] = {{"pipes", pipes},
	                                  {"sockets", sockets},
	                                  {"connections", connections},
	                                  {"interrupted", interrupted},
	                                  {"restarted", restarted},
	                                  {"left", left},
	                                  {"gone", gone},
	                                  {"threads", threads},
	                                  {"timed", timed},
	                                  {"fitting", fitting},
	                                  {"forever", forever}};

	pthread_t thread;
	sigset_t all_signals, none;

	sigfillset(&all_signals);
	if (argc > 2) {
		pthread_sigmask(SIG_BLOCK, &all_signals, &none);
		SEE(pthread_create(&thread, NULL, idle, NULL) == 0);
		pthread_sigmask(SIG_SETMASK, &none, NULL);
	}
	return run_kind(all, sizeof(all) / sizeof(*all), argv[1]);
}
