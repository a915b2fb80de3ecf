/* Memory between processes: without a name, a file's, a memfd that is sent, a System V segment, a POSIX object. Turns are
 * taken through pipes, so each sees what the other has stored. */
#include "check.h"
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>

enum { WORDS = 3000, LEN = WORDS * sizeof(unsigned), ROUNDS = 5 };

static int to[2], back[2];



static void pass(int fd)
{
	CHECK(write(fd, "t", 1) == 1);
}

static void get(int fd)
{
	char b;

	CHECK(read(fd, &b, 1) == 1 && b == 't');
}

static int other(void *arg)
{
	volatile unsigned *w = arg;

	for (unsigned r = 0; r < ROUNDS; r++) {
		get(to[0]);
		for (unsigned i = 0; i < WORDS; i += 97) {
			CHECK(w[i] == i * r);
			w[i] = i * r + 1;
		}
		pass(back[1]);
	}
	return 70;
}

static void one(volatile unsigned *w, pid_t pid)
{
	for (unsigned r = 0; r < ROUNDS; r++) {
		for (unsigned i = 0; i < WORDS; i++)
			w[i] = i * r;
		pass(to[1]);
		get(back[0]);
		for (unsigned i = 0; i < WORDS; i++)
			CHECK(w[i] == i * r + (i % 97 == 0));
	}
	ends_with(pid, 70);
}

static void *map_fd(int fd)
{
	void *p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static int via_name(void *arg)
{
	int fd = shm_open(arg, O_RDWR, 0);

	CHECK(fd >= 0);
	return other(map_fd(fd));
}

static int via_key(void *arg)
{
	void *p = shmat(*(int *)arg, NULL, 0);

	CHECK(p != (void *)-1);
	return other(p);
}

static int via_socket(void *arg)
{
	char control[CMSG_SPACE(sizeof(int))], b;
	struct iovec v = {&b, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	int fd;

	CHECK(recvmsg(*(int *)arg, &m, 0) == 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	CHECK(fcntl(fd, F_GET_SEALS) == F_SEAL_SHRINK);
	return other(map_fd(fd));
}

static void send_fd(int sock, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec v = {"f", 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	CHECK(sendmsg(sock, &m, 0) == 1);
}

int main(void)
{
	char name[] = "/tmp/lizard-memory-XXXXXX", shm[64];
	int fd, pair[2];
	void *p;

	CHECK(pipe(to) == 0 && pipe(back) == 0);
	p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	one(p, child(other, p));

	CHECK((fd = mkstemp(name)) >= 0 && unlink(name) == 0 && ftruncate(fd, LEN) == 0);
	p = map_fd(fd);
	one(p, child(other, p));

	fd = memfd_create("lizard-memory", MFD_ALLOW_SEALING);
	CHECK(fd >= 0 && ftruncate(fd, LEN) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	pid_t pid = child(via_socket, &pair[1]);
	send_fd(pair[0], fd);
	one(map_fd(fd), pid);

	int id = shmget(IPC_PRIVATE, LEN, IPC_CREAT | 0600);
	struct shmid_ds ds;
	CHECK(id >= 0 && (p = shmat(id, NULL, 0)) != (void *)-1);
	one(p, child(via_key, &id));
	CHECK(shmctl(id, IPC_STAT, &ds) == 0 && ds.shm_nattch == 1 && ds.shm_segsz == LEN);
	CHECK(shmctl(id, IPC_RMID, NULL) == 0);

	snprintf(shm, sizeof(shm), "/lizard-memory-%d", getpid());
	fd = shm_open(shm, O_CREAT | O_EXCL | O_RDWR, 0600);
	CHECK(fd >= 0 && ftruncate(fd, LEN) == 0);
	pid = child(via_name, shm);
	one(map_fd(fd), pid);
	CHECK(shm_unlink(shm) == 0);
	DONE();
}
