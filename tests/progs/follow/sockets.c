/* Sockets between processes: stream, datagram and seqpacket in the file system and in the abstract name space, TCP and UDP on
 * the loopback interface; a descriptor and credentials sent along; a message in pieces; the other end gone. */
#include "check.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

static struct sockaddr_in inet_name;
static struct sockaddr_un unix_name;
static socklen_t unix_len;

static int tcp_client(void *arg)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	char got[32] = "";

	CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0);
	CHECK(connect(fd, (struct sockaddr *)&inet_name, sizeof(inet_name)) == 0);
	for (int i = 0; i < 20; i++) {
		CHECK(send(fd, "question", 9, 0) == 9);
		CHECK(recv(fd, got, 7, MSG_WAITALL) == 7 && strcmp(got, "answer") == 0);
	}
	CHECK(shutdown(fd, SHUT_WR) == 0 && recv(fd, got, 1, 0) == 0);
	return 31;
}

static void tcp(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), conn;
	struct sockaddr_in peer;
	socklen_t len = sizeof(inet_name), peer_len = sizeof(peer);
	char got[32];

	inet_name = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	CHECK(bind(fd, (struct sockaddr *)&inet_name, len) == 0 && listen(fd, 3) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&inet_name, &len) == 0);
	pid_t pid = child(tcp_client, NULL);
	CHECK((conn = accept4(fd, (struct sockaddr *)&peer, &peer_len, SOCK_CLOEXEC)) >= 0);
	CHECK(peer.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
	while (recv(conn, got, 9, MSG_WAITALL) == 9)
		CHECK(strcmp(got, "question") == 0 && send(conn, "answer", 7, MSG_NOSIGNAL) == 7);
	CHECK(close(conn) == 0 && close(fd) == 0);
	ends_with(pid, 31);
}

static int udp_client(void *arg)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct iovec v[2] = {{"da", 2}, {"ta", 2}};
	struct msghdr m = {.msg_name = &inet_name, .msg_namelen = sizeof(inet_name), .msg_iov = v, .msg_iovlen = 2};
	char got[8];

	CHECK(sendmsg(fd, &m, 0) == 4);
	return recv(fd, got, sizeof(got), 0) == 3 ? 32 : 1;
}

static void udp(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in peer;
	socklen_t len = sizeof(inet_name), peer_len = sizeof(peer);
	char got[8];

	inet_name = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	CHECK(bind(fd, (struct sockaddr *)&inet_name, len) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&inet_name, &len) == 0);
	pid_t pid = child(udp_client, NULL);
	CHECK(recvfrom(fd, got, sizeof(got), 0, (struct sockaddr *)&peer, &peer_len) == 4 && !memcmp(got, "data", 4));
	CHECK(sendto(fd, "yes", 3, 0, (struct sockaddr *)&peer, peer_len) == 3);
	ends_with(pid, 32);
}

/* Sends a pipe's end and who it is, and says something through the pipe. */
static int sends_fd(void *arg)
{
	int fds[2], fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	char control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec v = {"with it", 7};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	CHECK(pipe(fds) == 0 && connect(fd, (struct sockaddr *)&unix_name, unix_len) == 0);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fds[0], sizeof(int));
	CHECK(sendmsg(fd, &m, 0) == 7 && close(fds[0]) == 0);
	return write(fds[1], "through", 7) == 7 ? 33 : 1;
}

static void control_data(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), one = 1, passed = -1, conn;
	char control[256], got[16] = "";
	struct iovec v[2] = {{got, 4}, {got + 8, 8}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2, .msg_control = control, .msg_controllen = sizeof(control)};
	struct ucred cred = {0};

	unix_name = (struct sockaddr_un){.sun_family = AF_UNIX};
	unix_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
	                       (size_t)sprintf(unix_name.sun_path + 1, "lizard-sockets-%d", getpid()));
	CHECK(bind(fd, (struct sockaddr *)&unix_name, unix_len) == 0 && listen(fd, 1) == 0);
	CHECK(setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) == 0);
	pid_t pid = child(sends_fd, NULL);
	CHECK((conn = accept(fd, NULL, NULL)) >= 0 && recvmsg(conn, &m, 0) == 7);
	CHECK(!memcmp(got, "with", 4) && !memcmp(got + 8, " it", 3));
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_type == SCM_RIGHTS)
			memcpy(&passed, CMSG_DATA(c), sizeof(passed));
		if (c->cmsg_type == SCM_CREDENTIALS)
			memcpy(&cred, CMSG_DATA(c), sizeof(cred));
	}
	CHECK(cred.pid == pid && cred.uid == getuid());
	CHECK(read(passed, got, 7) == 7 && !memcmp(got, "through", 7) && read(passed, got, 1) == 0);
	CHECK(recv(conn, got, 1, 0) == 0);
	socklen_t len = sizeof(cred);
	CHECK(getsockopt(conn, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 && cred.pid == pid);
	ends_with(pid, 33);
	close(conn);
	close(fd);
}

static int pair[2];

static int many(void *arg)
{
	struct mmsghdr m[3] = {0};
	struct iovec v[3] = {{"a", 1}, {"bb", 2}, {"ccc", 3}};

	close(pair[0]);
	for (int i = 0; i < 3; i++)
		m[i].msg_hdr = (struct msghdr){.msg_iov = &v[i], .msg_iovlen = 1};
	return sendmmsg(pair[1], m, 3, 0) == 3 ? 34 : 1;
}

static void datagrams(void)
{
	struct mmsghdr m[3] = {0};
	char b[3][8];
	struct iovec v[3] = {{b[0], 8}, {b[1], 8}, {b[2], 8}};

	CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
	for (int i = 0; i < 3; i++)
		m[i].msg_hdr = (struct msghdr){.msg_iov = &v[i], .msg_iovlen = 1};
	pid_t pid = child(many, NULL);
	ends_with(pid, 34);
	CHECK(recvmmsg(pair[0], m, 3, 0, NULL) == 3 && m[2].msg_len == 3 && !memcmp(b[2], "ccc", 3));
	close(pair[1]);
	CHECK(send(pair[0], "x", 1, MSG_NOSIGNAL) == -1 && (errno == EPIPE || errno == ECONNREFUSED));
}

int main(void)
{
	tcp();
	udp();
	control_data();
	datagrams();
	DONE();
}
