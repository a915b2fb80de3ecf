/* What blocked calls write: reads from pipes, poll, select, epoll_wait, recv of a piece at a time, accept, waitpid, each in a
 * thread of its own, while the first one works on the same pages. */
#include "check.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	char in_read[100];
	struct pollfd poll[2];
	fd_set set;
	struct timeval left;
	struct epoll_event event[3];
	char in_recv[3000];
	struct sockaddr_un peer;
	socklen_t peer_len;
	int status;
	volatile unsigned long work;
} page;
static int fd[4][2], pair[2], epoll, listener;
static char path[64];

static void *in_read(void *arg)
{
	CHECK(read(fd[0][0], page.in_read, sizeof(page.in_read)) == 5);
	CHECK(memcmp(page.in_read, "hello", 5) == 0);
	return NULL;
}

static void *in_poll(void *arg)
{
	page.poll[0] = (struct pollfd){.fd = fd[1][0], .events = POLLIN};
	page.poll[1] = (struct pollfd){.fd = fd[3][0], .events = POLLIN};
	CHECK(poll(page.poll, 2, -1) == 1 && page.poll[0].revents == POLLIN && !page.poll[1].revents);
	return NULL;
}

static void *in_select(void *arg)
{
	FD_ZERO(&page.set);
	FD_SET(fd[2][0], &page.set);
	FD_SET(fd[3][0], &page.set);
	page.left.tv_sec = 100;
	CHECK(select(fd[3][0] + 1, &page.set, NULL, NULL, &page.left) == 1);
	CHECK(FD_ISSET(fd[2][0], &page.set) && !FD_ISSET(fd[3][0], &page.set));
	return NULL;
}

static void *in_epoll(void *arg)
{
	CHECK(epoll_wait(epoll, page.event, 3, -1) == 1 && page.event[0].data.u32 == 77);
	return NULL;
}

static void *in_recv(void *arg)
{
	CHECK(recv(pair[0], page.in_recv, sizeof(page.in_recv), MSG_WAITALL) == 3000);
	for (int i = 0; i < 3000; i++)
		CHECK(page.in_recv[i] == (char)(i / 1000));
	return NULL;
}

static void *in_accept(void *arg)
{
	page.peer_len = sizeof(page.peer);
	int got = accept(listener, (struct sockaddr *)&page.peer, &page.peer_len);
	CHECK(got >= 0 && page.peer.sun_family == AF_UNIX);
	return NULL;
}

static void *in_wait(void *arg)
{
	pid_t pid = fork();

	if (pid == 0) {
		usleep(20000);
		_exit(3);
	}
	CHECK(waitpid(pid, &page.status, 0) == pid && WEXITSTATUS(page.status) == 3);
	return NULL;
}

static void work(int ms)
{
	for (int i = 0; i < ms * 100; i++) {
		for (int k = 0; k < 300; k++)
			page.work = page.work * 31 + 7;
		if (i % 100 == 0)
			usleep(100);
	}
}

static void wake_all(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	char bytes[1000];

	CHECK(write(fd[0][1], "hello", 5) == 5);
	for (int i = 0; i < 3; i++) {
		memset(bytes, i, sizeof(bytes));
		CHECK(send(pair[1], bytes, sizeof(bytes), 0) == sizeof(bytes));
		work(3);
	}
	CHECK(write(fd[1][1], "x", 1) == 1);
	CHECK(write(fd[2][1], "x", 1) == 1);
	strcpy(to.sun_path + 1, path);
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(s >= 0 && connect(s, (struct sockaddr *)&to, sizeof(to)) == 0);
	work(10);
}

int main(void)
{
	void *(*const run[])(void *) = {in_read, in_poll, in_select, in_epoll, in_recv, in_accept, in_wait};
	enum { N = sizeof(run) / sizeof(run[0]) };
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = 77};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	pthread_t th[N];

	for (int i = 0; i < 4; i++)
		CHECK(pipe(fd[i]) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	CHECK((epoll = epoll_create1(0)) >= 0);
	CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd[1][0], &e) == 0);
	snprintf(path, sizeof(path), "lizard-threads-blocked-%d", (int)getpid());
	strcpy(at.sun_path + 1, path);
	CHECK((listener = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0);
	CHECK(bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(listener, 1) == 0);
	for (int i = 0; i < N; i++)
		th[i] = start(run[i], NULL);
	work(5);
	wake_all();
	for (int i = 0; i < N; i++)
		join(th[i]);
	DONE();
}
